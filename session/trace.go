package session

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Tracing is which requests carry a trace context: params._meta.traceparent (SEP-414), and over HTTP the header of that name.
// What the caller or the metadata of all requests say of it themselves is never replaced.
type Tracing uint8

// The choices. TraceRouted is the default: other servers get nothing that they did not get without.
const (
	TraceRouted Tracing = iota // requests to a router of mcphud's
	TraceAll
	TraceNone
)

// isTraced is whether a request on c is traced.
func (t Tracing) isTraced(c *conn) bool {
	switch t {
	case TraceAll:
		return true
	case TraceNone:
		return false
	}
	name := jsonrpc.GetString(c.serverInfo, "name")
	return name == "mcphud-router" || strings.Contains(name, "-proxy:")
}

// newTraces makes what the ids of traces of one manager begin with, by which it knows them again.
func newTraces() string { return fmt.Sprintf("%016x", rand.Uint64()|1) }

// BeganTrace reports whether a trace, 32 hex digits, was begun by a request of this manager's sessions.
func (m *Manager) BeganTrace(id string) bool { return strings.HasPrefix(id, m.opts.traces) }

// traceparent begins a trace (https://www.w3.org/TR/trace-context/#traceparent-header): all that is sent for one call of the user is
// the span with which it begins. One bit of each id is always set, since an id of zeros is not
// valid.
func (o *Options) traceparent() string {
	var b [8 + 8]byte
	binary.BigEndian.PutUint64(b[:8], rand.Uint64())
	binary.BigEndian.PutUint64(b[8:], rand.Uint64()|1)
	return "00-" + o.traces + hex.EncodeToString(b[:8]) + "-" + hex.EncodeToString(b[8:]) + "-01"
}

// trace gives a request its trace context.
func (c *conn) trace(s *rpc.Request, traceparent string) {
	s.SetMeta("traceparent", jsonrpc.Quote(traceparent))
	if c.traits.HTTP == nil || s.Header["Traceparent"] != nil {
		return
	}
	// The header is believed first: it must say what the body says.
	if said, ok := jsonrpc.String(s.MetaValue("traceparent")); ok {
		header := s.Header.Clone()
		if header == nil {
			header = map[string][]string{}
		}
		header["Traceparent"] = []string{said}
		s.Header = header
	}
}
