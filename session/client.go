package session

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
)

// Client is what a session says of itself to its server. What is left out is mcphud's own. It must not be changed once a session has it.
type Client struct {
	Info         json.RawMessage // clientInfo, an object; nil for mcphud's
	Capabilities json.RawMessage // an object; nil for what can be answered here. What is advertised beyond that is refused when it is asked for
	Protocol     string          // the version to speak, as a server's configuration has it; "" for that of the configuration
}

// Present makes later connections present themselves as c; nil as Options say. The one that there is stays as it was: Reconnect for another.
func (s *Session) Present(c *Client) {
	s.client.Store(c)
	s.notifyChange()
}

// Presented is what Present chose, or else Options; nil for mcphud itself.
func (s *Session) Presented() *Client { return cmp.Or(s.client.Load(), s.opts.Client) }

// nextClient is the client that the next connection presents.
func (s *Session) nextClient() Client {
	if c := s.Presented(); c != nil {
		return *c
	}
	return Client{}
}

// As connects to the server once more, presented as c, for as long as f runs: a stdio server is started a second time. What the
// server asks over it is refused, but for ping and for roots, where it has any. It is not reconnected, and not in the manager's list;
// what is said over it is in the journal, under numbers of connections that are multiples of 1<<20 and what follows them.
func (s *Session) As(ctx context.Context, c *Client, f func(context.Context, *Session) error) error {
	const apart = 1 << 20 // connections of the journal are told apart by their numbers
	opts := *s.opts
	opts.Pending, opts.Serve, opts.Pages, opts.HealthInterval = nil, nil, nil, -1
	cfg, title := s.Config(), s.Title()
	cfg.NoReconnect, cfg.Unnamed = true, false
	second := newSession(cfg, &opts, func() {}, func(*Session, string) {})
	second.title.Store(&title)
	second.role = "second connection, as " + text.Clip(c.Name(), 60) + ": "
	number, era, ok := s.link.startSecond(apart)
	if !ok {
		return &failure.Error{Kind: failure.ServerNotConnected, Server: title, Stage: "connecting", Message: "the server was removed from the list"}
	}
	defer s.wg.Done()
	second.link.conns, second.link.era = number, era
	second.meta.Store(s.meta.Load())
	second.roots.Store(s.roots.Load())
	second.client.Store(c)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	err := second.Connect(ctx)
	if err == nil {
		err = f(ctx, second)
	}
	return cmp.Or(err, second.close())
}

// Name is what the client calls itself, "mcphud" if it says nothing else.
func (c *Client) Name() string {
	if c == nil || c.Info == nil {
		return "mcphud"
	}
	return cmp.Or(jsonrpc.GetString(c.Info, "title"), jsonrpc.GetString(c.Info, "name"))
}

// protocol is the version to speak, "" or "auto" for whichever the server has: the presented client's, or else the configuration's.
func (s *Session) protocol() string { return cmp.Or(s.nextClient().Protocol, s.cfg.Protocol) }

// clientInfo is what the next connection introduces itself with.
func (s *Session) clientInfo() []byte {
	if i := s.nextClient().Info; i != nil {
		return i
	}
	return s.opts.info
}

// capabilities are what we advertise: only what somebody can answer, unless another client's were chosen.
func (s *Session) capabilities() []byte {
	if c := s.nextClient().Capabilities; c != nil {
		return c
	}
	if s.opts.Capabilities != nil {
		return s.opts.Capabilities
	}
	var all []jsonrpc.Change
	if s.opts.Pending.Answers(pending.Form) || s.opts.Pending.Answers(pending.URL) {
		all = append(all, jsonrpc.Set([]byte(`{"form":{},"url":{}}`), "elicitation"))
	}
	if s.opts.Pending.Answers(pending.Sampling) {
		all = append(all, jsonrpc.Set([]byte(`{"tools":{}}`), "sampling"))
	}
	switch {
	case s.opts.Pending.Attended():
		all = append(all, jsonrpc.Set([]byte(`{"listChanged":true}`), "roots"))
	case len(s.Roots()) > 0:
		all = append(all, jsonrpc.Set([]byte("{}"), "roots"))
	}
	out, err := jsonrpc.Update(nil, all...)
	if err != nil || len(all) == 0 { // constants make an object
		return []byte("{}")
	}
	return out
}

// Roots are the directories and URIs that the server is told when it asks for roots.
func (s *Session) Roots() []string {
	if chosen := s.roots.Load(); chosen != nil {
		return slices.Clone(*chosen)
	}
	return slices.Clone(s.cfg.Roots)
}

// SetRoots changes Roots, and tells a server of the legacy era that is connected, if it was told of listChanged. The modern one asks when it needs
// them. The error is that of telling; the roots are changed all the same.
func (s *Session) SetRoots(ctx context.Context, roots []string) error {
	roots = slices.Clone(roots)
	s.roots.Store(&roots) // before the look at the connection: one that is made meanwhile is asked for them after
	s.notifyChange()
	c := s.current()
	if c == nil || c.era == Modern || jsonrpc.Get(c.caps, "roots", "listChanged") == nil {
		return nil
	}
	const changed = "notifications/roots/list_changed"
	return failure.Wrap(c.Notify(ctx, changed, nil, nil), s.Title(), changed)
}

// listRoots is the result of roots/list: directories as file URIs, made absolute here, and what has a scheme as it is.
func (s *Session) listRoots() []byte {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name,omitempty"`
	}
	list := []root{}
	for _, r := range s.Roots() {
		one := root{URI: r}
		if !strings.Contains(r, "://") {
			if abs, err := filepath.Abs(r); err == nil {
				r = abs
			}
			path := filepath.ToSlash(r)
			if !strings.HasPrefix(path, "/") {
				path = "/" + path // a Windows drive
			}
			one = root{URI: (&url.URL{Scheme: "file", Path: path}).String(), Name: filepath.Base(r)}
		}
		list = append(list, one)
	}
	out, err := json.Marshal(map[string]any{"roots": list})
	if err != nil { // strings always marshal
		return []byte(`{"roots":[]}`)
	}
	return out
}
