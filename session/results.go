package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// maxResults bounds what is kept of one server's results, in bytes. One that is larger than a quarter of it is not kept.
const maxResults = 16 << 20

// results are answers of tools that may be given again. The zero value keeps nothing until put is called.
type results struct {
	mu    sync.Mutex
	known map[string]result
	order []string // keys, oldest first
	size  int
}

type result struct {
	reply rpc.Reply // with Cached
	size  int
}

// get is what was kept under key at most ttl ago.
func (r *results) get(key string, ttl time.Duration) (rpc.Reply, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.known[key]
	return e.reply, ok && time.Since(e.reply.Cached) < ttl
}

// put keeps a reply, and drops the oldest ones where it needs the room.
func (r *results) put(key string, reply rpc.Reply) {
	size := len(key) + len(reply.Frame)
	if size > maxResults/4 {
		return
	}
	reply.Cached = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(key)
	for r.size+size > maxResults {
		r.drop(r.order[0])
	}
	if r.known == nil {
		r.known = map[string]result{}
	}
	r.known[key] = result{reply, size}
	r.order = append(r.order, key)
	r.size += size
}

func (r *results) drop(key string) {
	if e, ok := r.known[key]; ok {
		r.size -= e.size
		delete(r.known, key)
		r.order = slices.DeleteFunc(r.order, func(k string) bool { return k == key })
	}
}

func (r *results) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.order, r.size = nil, nil, 0
}

// recall is what an equal call got before, by their resultKey.
func (s *Session) recall(key string) (rpc.Reply, bool) {
	if key == "" {
		return rpc.Reply{}, false
	}
	return s.results.get(key, s.opts.ResultTTL)
}

// remember keeps a result, unless it is none to be given again, or the key would be another one now.
func (s *Session) remember(key, name string, args json.RawMessage, o CallOptions, r rpc.Reply) {
	if key == "" || offer.IsError(r.Result) || jsonrpc.Get(r.Result, "task") != nil {
		return
	}
	if kind := jsonrpc.GetString(r.Result, "resultType"); kind != "" && kind != "complete" {
		return
	}
	if s.resultKey(name, args, o) == key {
		s.results.put(key, r)
	}
}

// resultKey is what calls have in common that get the same result, where the options allow that it is given again and the tool says that it
// changes nothing and gives the same for the same: with equal arguments and metadata, over the same connection, by the list of tools as it
// is. "" where that is not to be relied on.
func (s *Session) resultKey(name string, args json.RawMessage, o CallOptions) string {
	if s.opts.ResultTTL <= 0 || o.Relay.ParamHeaders || len(o.Relay.Header) > 0 {
		return ""
	}
	meta := s.Meta() // before the lists: SetMeta makes them stale once it is set
	it, conn, rev, ok := s.lists.tool(name)
	if !ok || !it.ReadOnly() || !it.Idempotent() {
		return ""
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %d %q", conn, rev, name)
	for _, part := range []json.RawMessage{args, meta, o.Meta} {
		v, err := jsonrpc.Canonical(part)
		if err != nil {
			return "" // two members of one name, say: what a server makes of that is its own affair
		}
		fmt.Fprintf(&b, "\n%s", v)
	}
	return b.String()
}
