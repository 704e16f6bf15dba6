package mock

import (
	"bytes"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A listing is one walk through the pages of a list: the answers, or an error.
type listing struct {
	pages []uint64
	more  bool // the recording ends before the last page
}

// pager finds the pages that belong together.
type pager struct {
	method string
	open   map[string]*listing // by the cursor of the page to come
}

// page takes in an answer to a list request.
func (s *scanner) page(e *journal.Entry) {
	p := s.pages[e.Method]
	if p == nil {
		p = &pager{e.Method, map[string]*listing{}}
		s.pages[e.Method] = p
	}
	l := &listing{}
	if asked := jsonrpc.Get(s.envelope(e.Peer).Params, "cursor"); len(asked) > 0 && asked[0] == '"' {
		if l = p.open[string(asked)]; l == nil {
			return // a page whose beginning is not in the journal
		}
		delete(p.open, string(asked))
	}
	l.pages = append(l.pages, e.Seq)
	next := jsonrpc.Get(s.envelope(e.Seq).Result, "nextCursor")
	if len(next) == 0 || next[0] != '"' || len(l.pages) >= maxPages {
		s.lists[e.Method] = append(s.lists[e.Method], *l)
		return
	}
	p.open[string(next)] = l
}

// maxPages bounds a walk through pages that never ends.
const maxPages = 10_000

// end adds what was begun and not finished where nothing else is known.
func (p *pager) end(r *recording) {
	if len(r.lists[p.method]) > 0 {
		return
	}
	var longest *listing
	for _, l := range p.open {
		if longest == nil || len(l.pages) > len(longest.pages) {
			longest = l
		}
	}
	if longest != nil {
		r.lists[p.method] = []listing{{longest.pages, true}}
	}
}

// joinPages is a listing as one page: the first one, with the items of all.
func (r *recording) joinPages(method string, l listing) []byte {
	first := r.envelope(l.pages[0]).Result
	if len(l.pages) == 1 && !l.more {
		return first
	}
	member := lists[method]
	var items bytes.Buffer
	items.WriteByte('[')
	for _, seq := range l.pages {
		_ = jsonrpc.Elements(jsonrpc.Get(r.envelope(seq).Result, member), func(v []byte) bool { // scanned with the frame
			if items.Len() > 1 {
				items.WriteByte(',')
			}
			items.Write(v)
			return true
		})
	}
	items.WriteByte(']')
	out, err := jsonrpc.Update(first, jsonrpc.Set(items.Bytes(), member), jsonrpc.Delete("nextCursor"))
	if err != nil {
		return first
	}
	return out
}

// countListed is how many items the last listing has.
func (r *recording) countListed(method string) (n int) {
	result := r.listingOfCalls(method)
	if all := r.lists[method]; len(all) > 0 {
		result = r.joinPages(method, all[len(all)-1])
	}
	_ = jsonrpc.Elements(jsonrpc.Get(result, lists[method]), func([]byte) bool { n++; return true })
	return n
}

// listingOfCalls makes the listing of a recording that has none from what was called; nil if nothing was.
func (r *recording) listingOfCalls(method string) []byte {
	of, key, rest := "", "name", ""
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsList:
		of, rest = string(mcp.MethodToolsCall), `,"inputSchema":{"type":"object"}`
	case mcp.MethodPromptsList:
		of = string(mcp.MethodPromptsGet)
	case mcp.MethodResourcesList:
		of, key = string(mcp.MethodResourcesRead), "uri"
	}
	names := r.targets(of)
	if of == "" || len(names) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`{"` + lists[method] + `":[`)
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"` + key + `":`)
		b.Write(jsonrpc.Quote(name))
		if key == "uri" {
			b.WriteString(`,"name":`)
			b.Write(jsonrpc.Quote(name))
		}
		b.WriteString(rest + `}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// targets are the tools, prompts or resources that requests of a method were about, sorted.
func (r *recording) targets(method string) (names []string) {
	for g := range r.groups {
		if g.method == method && g.target != "" {
			names = append(names, g.target)
		}
	}
	slices.Sort(names)
	return names
}

// item is one definition of the last listing, nil if it is not there.
func (r *recording) item(method, key, name string) (found []byte) {
	all := r.lists[method]
	if len(all) == 0 {
		return nil
	}
	for _, seq := range all[len(all)-1].pages {
		_ = jsonrpc.Elements(jsonrpc.Get(r.envelope(seq).Result, lists[method]), func(v []byte) bool {
			if jsonrpc.GetString(v, key) == name {
				found = v
			}
			return found == nil
		})
	}
	return found
}
