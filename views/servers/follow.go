package servers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// Secrets keeps secrets that servers ask for, by what they belong to.
type Secrets interface {
	Recall(ctx context.Context, scope string) (map[string]string, error)
	Keep(ctx context.Context, scope string, in []setup.Input, given map[string]string) error
	Forget(ctx context.Context, scope string) (names []string, err error)
}

// news are what became of configuration files that changed while the program runs.
type news struct {
	mu    sync.Mutex
	notes []liveNote
}

type liveNote struct {
	bad  bool
	text string
}

// Changed takes in what became of files that changed. It may be called by any goroutine; the list of servers says it.
func (f *Configs) Changed(done session.Changes, problems []config.Warning, err error) {
	f.news.mu.Lock()
	defer f.news.mu.Unlock()
	if len(problems) > 0 {
		f.news.notes = append(f.news.notes, liveNote{true, problems[0].String()})
	}
	if err != nil {
		f.news.notes = append(f.news.notes, liveNote{true, err.Error()})
	}
	var said []string
	for _, c := range []struct {
		names []string
		what  string
	}{{done.Added, "added"}, {done.Changed, "changed"}, {done.Removed, "removed"}, {done.Outdated, "in use and left as it is"}} {
		switch n := len(c.names); {
		case n == 1:
			said = append(said, safe.Line(c.names[0], 40)+" "+c.what)
		case n > 1:
			said = append(said, fmt.Sprintf("%d %s", n, c.what))
		}
	}
	if said != nil {
		f.news.notes = append(f.news.notes, liveNote{false, "configs changed: " + strings.Join(said, ", ")})
	}
}

// announce says what became of files that changed, once.
func (v *servers) announce(c *tui.Ctx) tea.Cmd {
	if v.configs == nil {
		return nil
	}
	v.configs.news.mu.Lock()
	notes := v.configs.news.notes
	v.configs.news.notes = nil
	v.configs.news.mu.Unlock()
	var cmds []tea.Cmd
	for _, n := range notes {
		kind := tui.Note
		if n.bad {
			kind = tui.Failure
		}
		cmds = append(cmds, c.Toast(kind, n.text))
	}
	return tea.Batch(cmds...)
}

// current is the configuration that connecting to a server uses now: what its file says, where that changed while it was in use.
func current(s *session.Session) config.Server {
	if o := s.Outdated(); o != nil && !o.Removed {
		return o.Config
	}
	return s.Config()
}

// wantedInputs is what the keychain has of what a server asks for.
type wantedInputs struct {
	srv   config.Server
	given map[string]string
}

// ask finds out what a server has to be told before it starts: from the keychain, then from the user.
func (v *servers) ask(c *tui.Ctx, srv config.Server) tea.Cmd {
	chosen := c.SelectServer(srv.Name)
	if v.secrets == nil {
		return tea.Batch(chosen, v.askUser(c, wantedInputs{srv, nil}))
	}
	cmd, _ := c.Replace("servers", "ask\x00"+srv.Name, "look for what "+safe.Line(srv.Name, 80)+" asks for", func(ctx context.Context) (any, error) {
		given, err := v.secrets.Recall(ctx, srv.InputScope())
		return wantedInputs{srv, given}, err
	})
	return tea.Batch(chosen, cmd)
}

// askUser shows the form of what a server asks for, unless all of it is known.
func (v *servers) askUser(c *tui.Ctx, a wantedInputs) tea.Cmd {
	unknown := func(in setup.Input) bool { return a.given[in.Name] == "" }
	if !slices.ContainsFunc(a.srv.Inputs, unknown) {
		if values, err := setup.Read(a.srv.Inputs, a.given); err == nil {
			return v.fill(c, a.srv, values, false)
		}
	}
	return c.Navigate("setup", setupRequest{
		Title: safe.Line(a.srv.Name, 60), Inputs: a.srv.Inputs, Given: a.given,
		Done: func(c *tui.Ctx, values setup.Values, remember bool) tea.Cmd {
			return v.fill(c, a.srv, values, remember)
		},
	})
}

// fill connects to a server that was told what it asks for.
func (v *servers) fill(c *tui.Ctx, srv config.Server, values setup.Values, remember bool) tea.Cmd {
	filled := srv.Fill(values)
	if filled.Problem != nil {
		delete(v.opening, srv.Name)
		return c.Toast(tui.Failure, filled.Problem.Error())
	}
	m := c.Sessions
	cmd, _ := c.Replace("servers", "connect\x00"+srv.Name, "connect "+safe.Line(srv.Name, 80), func(ctx context.Context) (any, error) {
		out := connected{name: srv.Name}
		if remember && v.secrets != nil {
			given := map[string]string{}
			for _, in := range srv.Inputs {
				given[in.Name] = values.First(in.Name)
			}
			if err := v.secrets.Keep(ctx, srv.InputScope(), srv.Inputs, given); err != nil {
				out.note = err.Error() // it can be connected to all the same
			}
		}
		s, err := m.Replace(filled)
		if s == nil {
			return out, err
		}
		return out, pane.ConnectFrom(ctx, v.pool, s)
	})
	return tea.Batch(c.SelectServer(srv.Name), cmd)
}

// outdated says on a server's row that its file changed, "" if it did not.
func outdated(s *session.Session) string {
	switch o := s.Outdated(); {
	case o == nil:
		return ""
	case o.Removed:
		return "gone from its file, stays until it is disconnected"
	}
	return "changed in its file, " + cmp.Or(pane.ConnectWord(s), "reconnect") + " to use that"
}
