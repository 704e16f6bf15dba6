// Package mock is a server made of a journal: it answers as the recorded server did, in either era whatever it was recorded
// in, over the agent's transport. The journal is indexed by method, target and arguments; bodies are read when they are
// asked for.
//
// Definitions come byte for byte, with the pages of a list joined, and with those recorded capabilities that the recording can serve. Equal calls
// get their answers in the recorded order, then the last one again; each session starts over, which in the modern era server/discover
// begins. Progress, log messages and changes come at the recorded time. What the recorded server asked its client is asked at the same place, as a
// request or as a round; the recorded answer follows, whatever the client says. What the client cancelled is not answered until it cancels again.
package mock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Options configures a Mock. Journal and Server are required.
type Options struct {
	Journal *journal.Journal                     // read to its end, and open as long as the mock serves; the caller closes it
	Server  string                               // whose answers are given, one of Servers
	Keep    func(e *journal.Entry) bool          // which requests count, beside those that every client makes; nil for all
	Speed   float64                              // how many times as fast as it was recorded; 0 is 1, +Inf leaves the pauses out
	Strict  bool                                 // refuse what is not recorded, instead of answering with what is nearest
	Version string                               // the one protocol version that is spoken; "" for all
	Wrap    func(next http.Handler) http.Handler // put in front of the MCP endpoint over HTTP; nil for nothing
	Logger  *slog.Logger                         // hears of answers that are not what was recorded; nil discards
}

// Mock is one recorded server. It is made by New, served by Handler or ServeStdio, and must be closed.
type Mock struct {
	o     Options
	log   *slog.Logger
	rec   *recording
	front *front.Server

	mu     sync.Mutex
	states map[*front.Session]*state
	shared *state // of callers without a session

	life  context.Context
	end   context.CancelFunc
	tails sync.WaitGroup
}

// maxLine is the longest line of a client over stdio: arguments can be large.
const maxLine = 16 << 20

// Servers are the servers that a journal has requests to, sorted.
func Servers(j *journal.Journal, keep func(*journal.Entry) bool) []string {
	seen := map[string]bool{}
	var names []string
	j.Each(0, func(e *journal.Entry) bool {
		if asks(e) && !seen[e.Server] && (keep == nil || keep(e)) {
			seen[e.Server] = true
			names = append(names, e.Server)
		}
		return true
	})
	slices.Sort(names)
	return names
}

// New reads the journal. It serves nothing yet.
func New(o Options) (*Mock, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Speed < 0 || math.IsNaN(o.Speed) {
		return nil, fmt.Errorf("mock: the speed is %v, and must be more than 0", o.Speed)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	rec := record(o.Journal, o.Server, o.Keep)
	if len(rec.calls) == 0 {
		return nil, fmt.Errorf("mock: no request to %q is recorded", text.Clip(o.Server, 80))
	}
	m := &Mock{o: o, log: o.Logger, rec: rec, states: map[*front.Session]*state{}, shared: newState()}
	m.life, m.end = context.WithCancel(context.Background())
	engine := server.NewMCPServer(o.Server, "", append(front.EngineOptions(),
		server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true),
		server.WithLogging(), server.WithCompletions())...)
	m.front = front.New(front.Options{Engine: engine, Use: []front.Middleware{m.middleware}, Wrap: o.Wrap, Logger: o.Logger, MaxLine: maxLine})
	return m, nil
}

// Summary is what the mock serves, in a line: "everything: 13 tools, 42 calls recorded".
func (m *Mock) Summary() string {
	tools := m.rec.countListed(string(mcp.MethodToolsList))
	return fmt.Sprintf("%s: %s, %s recorded", text.Clip(m.o.Server, 80), text.Count(tools, "tool"), text.Count(m.rec.answers, "call"))
}

// Handler is the mock's whole HTTP surface.
func (m *Mock) Handler() http.Handler { return m.front.Handler() }

// ServeStdio answers the lines of in on out until in ends or ctx is done.
func (m *Mock) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := m.front.ServeStdio(ctx, in, out); err != nil {
		return fmt.Errorf("mock: stdio: %w", err)
	}
	return nil
}

// Close ends what is being answered. The journal stays open.
func (m *Mock) Close(ctx context.Context) error {
	m.end()
	err := m.front.Close(ctx)
	m.tails.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // an answer that was still due
	}
	return err
}

// prefix is before the name of a server in its path, as at the router.
const prefix = "/mcps/"

// PathOf is the path of one of several servers.
func PathOf(name string) string { return prefix + url.PathEscape(name) + front.Path }

// Several serves each mock at its PathOf.
func Several(mocks []*Mock) http.Handler {
	by := map[string]http.Handler{}
	var names []string
	for _, m := range mocks {
		by[m.o.Server] = m.Handler()
		names = append(names, PathOf(m.o.Server))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, below, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), prefix), "/")
		name, err := url.PathUnescape(name)
		h := by[name]
		if h == nil || err != nil || !strings.HasPrefix(r.URL.Path, prefix) {
			kit.WritePage(w, http.StatusNotFound, map[string]string{"error": "not_found", "detail": "MCP is served at " + strings.Join(names, ", ")})
			return
		}
		to := r.Clone(r.Context())
		to.URL.Path, to.URL.RawPath = "/"+below, ""
		h.ServeHTTP(w, to)
	})
}
