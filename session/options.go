package session

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Options configures a Manager and its sessions. The zero value is usable.
type Options struct {
	Journal *journal.Journal // what is said is recorded there, and the caller closes it; nil: one of the manager's own
	// Unrecorded keeps no journal at all, where none is given.
	Unrecorded bool
	// Pages is shared by managers whose sessions get the same lists; nil for none.
	Pages *offer.Pages
	// MaxList is how many bytes of one list are kept; the pages from the one on that has more are left out. 0 is four frames.
	MaxList int64
	// Dial makes the transport of in-memory servers, for tests and the demo. false: mcphud's own transports.
	Dial       func(config.Server) (transport.Transport, bool)
	ClientInfo Implementation // zero: mcphud
	// Client is what all sessions present that did not choose otherwise; nil for mcphud.
	Client *Client
	// Capabilities are advertised to servers, a JSON object; nil for what Pending answers, for roots, and in the modern era for
	// tasks. Whoever advertises more answers it in Serve.
	Capabilities json.RawMessage
	// Pending holds what servers ask for until it is answered; nil if nobody answers.
	Pending *pending.Queue
	// ResultTTL is how long the result of a tool that is marked as read-only and idempotent may be given again for an equal call;
	// 0 for never. A new connection and a changed list of tools end it sooner.
	ResultTTL time.Duration
	// MaxCalls bounds the tool calls that run at once, of all servers of the manager together; further ones wait. 0 for any number.
	MaxCalls int
	// AllowTool matches the names of tools that may be called; nil for all.
	AllowTool *regexp.Regexp
	// Meta is what Session.SetMeta sets, for every server; as ParseMeta makes it.
	Meta json.RawMessage
	// Tracing is which requests carry a trace context.
	Tracing Tracing
	// Traced is called before each request that carries one. It must be quick; nil for nothing.
	Traced func()
	// Trust says which servers of project files may be started; nil for none of them.
	Trust *config.Trust
	// HealthInterval is the time between health checks: 0 for 30 s, negative for none.
	HealthInterval time.Duration
	Retry          Retry // how lost connections come back
	// Patient gives child processes as long as they live to answer the handshake, unless their configuration has a limit: for
	// surfaces on which somebody sees what they write meanwhile, and can give up.
	Patient bool
	// Transport is what all transports of the manager's servers get.
	Transport transport.Options
	// Auth is how to log in: at servers over HTTP, and for commands that are started with a token. nil for not at all.
	Auth *auth.Options
	// Serve answers requests of servers before roots and Pending do: a result, or an error; false if it does not know
	// the method. ctx ends when the server cancels or the connection ends.
	Serve func(ctx context.Context, s *Session, method string, params json.RawMessage) (json.RawMessage, *Fault, bool)
	// Record is told of each tool call, prompt get and resource read that was sent, once it is over. It is called by the goroutine
	// that made the call, which waits for it: it must return at once, and change nothing. Nil for nobody.
	Record func(CallRecord)

	// Set by defaults.
	info   []byte        // ClientInfo as JSON
	slots  chan struct{} // held by calls; nil for no limit
	traces string        // what the ids of traces that begin here begin with
}

// defaults fills in what was left out. NewManager calls it on its copy, which does not change once that
// returns: sessions share it.
func (o *Options) defaults() {
	if o.HealthInterval == 0 {
		o.HealthInterval = 30 * time.Second
	}
	if o.ClientInfo.Name == "" {
		o.ClientInfo = Implementation{Name: "mcphud", Title: "mcphud", Version: "0.1.0"}
	}
	info, err := json.Marshal(o.ClientInfo)
	if err != nil { // three strings always marshal
		info = fmt.Appendf(nil, `{"name":"mcphud","version":"0"}`)
	}
	o.info, o.traces = info, newTraces()
	if o.Traced == nil {
		o.Traced = func() {}
	}
	o.Retry.defaults()
	if o.MaxCalls > 0 {
		o.slots = make(chan struct{}, o.MaxCalls)
	}
}
