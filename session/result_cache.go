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

// resultCache has answers of tools that may be given again. The zero value is ready.
type resultCache struct {
	mu sync.Mutex
	// By resultKey, which has the connection and the revision of the list in it: what belongs to an earlier one is never found again, and
	// goes with clear, or when room is needed.
	known map[string]cachedResult
	order []string // keys, oldest first
	size  int      // bytes of all of them, at most maxResults
}

// cachedResult is an answer that may be given again. Whoever gets it shares its bytes.
type cachedResult struct {
	reply rpc.Reply // with Cached, the time from which its age counts
	size  int       // of its frame and its key
}

// get is what was kept under key at most ttl ago.
func (r *resultCache) get(key string, ttl time.Duration) (rpc.Reply, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.known[key]
	return e.reply, ok && time.Since(e.reply.Cached) < ttl
}

// put keeps a reply, and drops the oldest ones where it needs the room.
func (r *resultCache) put(key string, reply rpc.Reply) {
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
		r.known = map[string]cachedResult{}
	}
	r.known[key] = cachedResult{reply, size}
	r.order = append(r.order, key)
	r.size += size
}

// drop removes an entry, if it is there; r.mu is held.
func (r *resultCache) drop(key string) {
	if e, ok := r.known[key]; ok {
		r.size -= e.size
		delete(r.known, key)
		r.order = slices.DeleteFunc(r.order, func(k string) bool { return k == key })
	}
}

// clear removes all entries.
func (r *resultCache) clear() {
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

// remember caches r, unless it is an error or a task, or the key changed meanwhile.
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

// resultKey is the key under which the result of a call may be given again: its tool must be read-only and idempotent, and connection, revision of
// the list, name, arguments and metadata are equal. It is "" where a result must not be kept.
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
