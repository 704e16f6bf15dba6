// Package offer holds what a server offers, as it was sent and as it was understood: tools, resources, templates, prompts and skills, their
// pages and hints, results and their contents.
//
// Nothing here talks to a server. Package session fetches a list page by page and publishes a [Listing], a snapshot that is replaced and never
// changed; [Compare] says what a refresh changed. An [Item] keeps the bytes that came (Raw): what is shown or printed of it are these bytes, and the
// parsed fields only drive behaviour. An item that breaks the specification is kept and says what is wrong with it.
package offer

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Kind says which list of a server. Its value is an index, for arrays of NumKinds.
type Kind uint8

// The lists.
const (
	Tools Kind = iota
	Resources
	Templates
	Prompts
	Skills // of the extension
	NumKinds
)

var listMethods = [NumKinds]string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "skills/list"}

var listMembers = [NumKinds]string{"tools", "resources", "resourceTemplates", "prompts", "skills"}

// Method is the request that loads the list, for example "tools/list".
func (k Kind) Method() string { return listMethods[k] }

// String is the member of the result that holds the items, for example "tools".
func (k Kind) String() string { return listMembers[k] }

// MaxItems is how many items of one list are kept. A million tiny ones fit into one page, and would take gigabytes.
const MaxItems = 100_000

// Listing is a snapshot of one list. Its items must not be modified.
type Listing struct {
	Kind    Kind
	Items   []Item
	Loaded  bool      // all pages came, at least once; Items may be older than the last attempt
	Loading bool      // pages are being fetched right now
	Err     error     // why the last attempt failed; Items is what came before that
	Rev     uint64    // grows whenever Items are replaced, also by equal ones; not for Loading, Err and Marks
	At      time.Time // when the last attempt ended
	Pages   []*page   // as they came, shared between sessions: see [Pages]
	Hints   Hints     // of the page that may be used for the shortest time
	Expires time.Time // by Hints, by this machine's clock; zero for never

	Marks     map[string]Mark // what became of items that nobody saw since, by [Kind.Key]; not to be modified
	Changes   Changes         // of the last refresh that found any
	ChangeRev uint64          // Rev of that; 0 for none yet
}

// Fresh reports whether the list may be used without asking the server again, by what the server said of it.
func (l Listing) Fresh(now time.Time) bool { return l.Expires.IsZero() || now.Before(l.Expires) }

// Hints are what a result of 2026-07-28 says of how long and for whom it may be kept (server/utilities/caching).
type Hints struct {
	TTL   *time.Duration // nil if the server does not say
	Scope string         // "public" or "private", "" if the server does not say; its own word otherwise
}

// String is for example "ttl 1m0s, private"; "" where there are none.
func (h Hints) String() string {
	var out []string
	if h.TTL != nil {
		out = append(out, "ttl "+text.Duration(*h.TTL))
	}
	if h.Scope != "" {
		out = append(out, text.Clip(h.Scope, 20))
	}
	return strings.Join(out, ", ")
}

// ReadHints reads the hints of a result.
func ReadHints(result []byte) Hints {
	h := Hints{TTL: ttl(jsonrpc.Get(result, "ttlMs"))}
	h.Scope = jsonrpc.GetString(result, "cacheScope")
	return h
}

// ttl reads ttlMs; nil if it is not a number. A negative one counts as 0.
func ttl(raw []byte) *time.Duration {
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || ms != ms {
		return nil
	}
	d := time.Duration(min(max(ms, 0), 1e12)) * time.Millisecond
	return &d
}

// JSON is the list as the server sent it: the first page's object with its array extended by those of the further pages,
// in the order received, and nextCursor removed when there were any. A list of one page is its result, byte for byte.
// nil before the first page came.
func (l Listing) JSON() []byte {
	if len(l.Pages) == 0 {
		return nil
	}
	first := l.Pages[0].raw
	if len(l.Pages) == 1 {
		return first
	}
	var array, cursor jsonrpc.Span
	last := -1 // where the member before nextCursor ends
	// Pages were walked when they came.
	_ = jsonrpc.Spans(first, func(s jsonrpc.Span) bool {
		switch s.Key {
		case l.Kind.String():
			array = s
		case "nextCursor":
			cursor = s
		}
		if cursor.End == 0 {
			last = s.End
		}
		return true
	})
	size := 0
	for _, p := range l.Pages {
		size += len(p.raw)
	}
	// Cut out nextCursor with the comma before it, or the one after it where it comes first.
	from, to := cursor.At, cursor.End
	if cursor.End > 0 {
		if last >= 0 {
			from = last
		} else if i := bytes.IndexByte(first[to:], ','); i >= 0 {
			to += i + 1
			to += len(first[to:]) - len(bytes.TrimLeft(first[to:], " \t\r\n"))
		}
	}
	out := make([]byte, 0, size)
	keep := func(a, b int) { // first[a:b] without what is cut out
		if to > a && from < b {
			out = append(append(out, first[a:max(a, from)]...), first[min(b, to):b]...)
			return
		}
		out = append(out, first[a:b]...)
	}
	end := array.End - 1 // before the closing bracket
	keep(0, end)
	some := len(bytes.TrimSpace(first[array.Start+1:end])) > 0
	for _, page := range l.Pages[1:] {
		items := jsonrpc.Get(page.raw, l.Kind.String())
		if len(items) < 2 {
			continue
		}
		items = bytes.TrimSpace(items[1 : len(items)-1])
		if len(items) == 0 {
			continue
		}
		if some {
			out = append(out, ',')
		}
		out = append(out, items...)
		some = true
	}
	keep(end, len(first))
	return out
}

// page is what one result of a list holds. It is shared, and never changed once it was read.
type page struct {
	raw    []byte // the result, of which Items are parts
	Items  []Item
	More   bool    // there are items beyond MaxItems
	Cursor *string // nil on the last page
	Hints  Hints
}

// readPage reads one result in one pass.
func readPage(result []byte, kind Kind) (page, error) {
	var p page
	var bad error
	found := false
	w := jsonrpc.Walk(result)
	_, ok := w.Object(func(key string) {
		switch key {
		case kind.String():
			_, found = w.Array(func() {
				if len(p.Items) == MaxItems {
					p.More = true
					w.Raw()
					return
				}
				p.Items = append(p.Items, readItem(w, kind))
			})
			if !found {
				bad = errors.New(key + " is not an array")
			}
		case "nextCursor":
			if w.Peek() == 'n' {
				return // null: no more pages
			}
			s, ok := w.Str()
			if !ok {
				bad = errors.New("nextCursor is not a string")
				return
			}
			p.Cursor = &s
		case "ttlMs":
			p.Hints.TTL = ttl(w.Raw())
		case "cacheScope":
			p.Hints.Scope, _ = w.Str()
		}
	})
	switch {
	case w.Err() != nil:
		bad = w.Err()
	case !ok:
		bad = errors.New("the result is not an object")
	case bad == nil && !found:
		bad = errors.New("the result has no " + kind.String())
	}
	return p, bad
}
