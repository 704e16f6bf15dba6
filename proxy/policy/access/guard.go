// Package access decides who may call what: bearer tokens and the agents that each is good for, and how often.
package access

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/files"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	maxFile   = 16 << 20
	lookEvery = time.Second
)

// Guard authenticates callers by bearer tokens. It checks the token file for changes when somebody calls, at most once
// a second, and keeps the last valid tokens in force. Without a file callers on this machine need no token, and others
// are refused.
type Guard struct {
	log *slog.Logger

	state atomic.Pointer[state]
	again atomic.Int64 // when to look at the file again, in nanoseconds
	mu    sync.Mutex   // one look at a time

	streams streams
}

// state is what is in force, and about which file.
type state struct {
	path   string
	tokens *Tokens // nil where no file is named
	err    error   // why the file as it is now is not in force
	stamp  files.Stamp
	sum    [sha256.Size]byte // of the file
	read   time.Time
}

// NewGuard makes a guard that knows no file of tokens yet.
func NewGuard(log *slog.Logger) *Guard {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	g := &Guard{log: log}
	g.state.Store(&state{})
	return g
}

// Follow uses a token file from now on, "" for none. If it cannot be read, the tokens in force stay; if there are none,
// all callers are refused.
func (g *Guard) Follow(path string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state.Load()
	switch {
	case path == s.path && s.err == nil:
		return nil
	case path == "":
		g.state.Store(&state{})
		return nil
	}
	return g.load(path, s.tokens)
}

// load reads the file; g.mu is held.
func (g *Guard) load(path string, before *Tokens) error {
	n := &state{path: path, read: time.Now(), stamp: files.StampOf(path)}
	n.tokens, n.sum, n.err = loadTokens(path)
	if n.err != nil {
		n.err = fmt.Errorf("tokens: %w", n.err)
		if n.tokens = before; n.tokens == nil {
			n.tokens = &Tokens{}
		}
	}
	old := g.state.Swap(n)
	g.again.Store(n.read.Add(lookEvery).UnixNano())
	switch {
	case n.err != nil:
		if old.err == nil || old.err.Error() != n.err.Error() {
			then := "the last valid ones stay in force"
			if before == nil {
				then = "all callers are refused"
			}
			g.log.Error("cannot load tokens: "+then, "file", path, "tokens", n.tokens.Len(), "error", n.err)
		}
	case old.err != nil || old.path != path || old.sum != n.sum:
		for _, w := range n.tokens.Warnings {
			g.log.Warn("tokens", "file", path, "message", w)
		}
		if n.stamp.Mode().Perm()&0o077 != 0 {
			g.log.Warn("token file is readable by other users: run chmod 600 on it", "file", path)
		}
		g.log.Info("tokens loaded", "file", path, "tokens", n.tokens.Len())
	}
	return n.err
}

func loadTokens(path string) (t *Tokens, sum [sha256.Size]byte, err error) {
	text, err := files.Read(path, maxFile)
	if err != nil {
		return nil, sum, err
	}
	if t, err = ParseTokens(text); err != nil {
		return nil, sum, fmt.Errorf("%s: %w", path, err)
	}
	return t, sha256.Sum256(text), nil
}

// current is the state in force, after a check of the file if that is due.
func (g *Guard) current() *state {
	s := g.state.Load()
	if s.path == "" || time.Now().UnixNano() < g.again.Load() || !g.mu.TryLock() {
		return s
	}
	defer g.mu.Unlock()
	if s = g.state.Load(); s.path != "" {
		g.again.Store(time.Now().Add(lookEvery).UnixNano())
		if s.fileChanged() {
			_ = g.load(s.path, s.tokens) // is kept for Status
		}
	}
	return g.state.Load()
}

func (s *state) fileChanged() bool {
	return s.stamp.Fresh(s.read) || !s.stamp.Equal(files.StampOf(s.path))
}

// Reload reads the file now.
func (g *Guard) Reload() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state.Load()
	if s.path == "" {
		return nil
	}
	return g.load(s.path, s.tokens)
}

// Status is the state of a Guard.
type Status struct {
	Required bool   `json:"required"` // whether callers need a token
	File     string `json:"file,omitempty"`
	Tokens   int    `json:"tokens"`
	Error    string `json:"error,omitempty"` // why the file as it is now is not in force
}

// Status checks the file, if that is due, and returns the state in force.
func (g *Guard) Status() Status {
	s := g.current()
	out := Status{Required: s.tokens != nil, File: s.path}
	if s.tokens != nil {
		out.Tokens = s.tokens.Len()
	}
	if s.err != nil {
		out.Error = s.err.Error()
	}
	return out
}

// Identify authenticates a request. Its error is a *jsonrpc.RequestError with status 401.
func (g *Guard) Identify(r *http.Request) (Principal, error) {
	s := g.current()
	if name, ok := flow.InternalCaller(r.Context()); ok {
		if s.tokens == nil {
			return Principal{all: true}, nil
		}
		if p, ok := s.tokens.byName[name]; ok {
			return p, nil
		}
		return Principal{}, ingress.Unauthorized("invalid_token", "the bearer token is no longer accepted")
	}
	if s.tokens == nil {
		if !local(r.RemoteAddr) {
			return Principal{}, ingress.Unauthorized("", "callers on other machines need a token, and this router has no token file")
		}
		return Principal{all: true}, nil
	}
	token, err := ingress.Bearer(r.Header)
	if err != nil {
		return Principal{}, err
	}
	if p, ok := s.tokens.find(token); ok {
		return p, nil
	}
	return Principal{}, ingress.Unauthorized("invalid_token", "unknown bearer token")
}

// local reports whether a connection comes from this machine. One without an address never left it.
func local(addr string) bool {
	a, err := netip.ParseAddrPort(addr)
	return err == nil && a.Addr().Unmap().IsLoopback() || addr == "" || addr == "@"
}

// Middleware sets the principal of each call, and refuses callers who are not known, or not allowed to call the agent. What
// is at no agent, such as the one endpoint for all of them, is left to those who know which agents it is about.
func (g *Guard) Middleware(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		p, err := g.Identify(c.R)
		if err != nil {
			if f, ok := jsonrpc.AsRequestError(err); ok {
				c.W.Header().Set("WWW-Authenticate", ingress.Resource{}.Challenge(f))
			}
			c.Refuse(err)
			return
		}
		c.Principal = p.Name
		if c.Agent != "" && !p.May(c.Agent) {
			forbid(c)
			return
		}
		next(c)
	}
}

// forbid answers 403. The names may be made up by the caller.
func forbid(c *flow.Call) {
	detail := fmt.Sprintf("Agent '%s' is not authorized to access agent '%s'", c.Principal, clip(c.Agent))
	body := append([]byte(`{"error":"forbidden","detail":`), jsonrpc.Quote(detail)...)
	c.Failure = &jsonrpc.RequestError{Kind: jsonrpc.KindForbidden, Message: detail, Status: http.StatusForbidden}
	c.JSON(http.StatusForbidden, append(body, '}'))
}

// Page serves h to callers that are known.
func (g *Guard) Page(h func(http.ResponseWriter, *http.Request, Principal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := g.Identify(r)
		if err == nil {
			h(w, r, p)
			return
		}
		detail := "a bearer token is required"
		if f, ok := jsonrpc.AsRequestError(err); ok {
			w.Header().Set("WWW-Authenticate", ingress.Resource{}.Challenge(f))
			detail = f.Message
		}
		ingress.WriteJSON(w, http.StatusUnauthorized, append(append([]byte(`{"error":"unauthorized","detail":`), jsonrpc.Quote(detail)...), '}'))
	})
}
