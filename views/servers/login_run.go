package servers

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// begin is start for whoever pressed the key on another screen: a login that goes on is shown.
func (v *login) begin(c *tui.Ctx, aim loginAim) tea.Cmd {
	if r := v.run(); r != nil {
		r.loginAim = aim
		return nil
	}
	if why := v.cannotStart(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	return v.start(c, aim, auth.LoginOptions{})
}

// loggedIn is the outcome of a login.
type loggedIn struct {
	server string
	run    *loginRun
	left   error // why the server is still not connected
}

// start logs in, and connects the server or asks again for the lists that it refused.
func (v *login) start(c *tui.Ctx, aim loginAim, o auth.LoginOptions) tea.Cmd {
	s, pool := c.Server, v.pool
	a, refused := s.Authorizer(), tui.WantsLogin(s)
	run := &loginRun{visitor: newVisitor(), loginAim: aim}
	open := v.browse
	if !v.auto {
		open = nil
	}
	cmd, op := c.Replace("login", "login\x00"+s.Name(), "log in at "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
		defer close(run.over)
		out := loggedIn{server: s.Name(), run: run}
		if err := a.Login(ctx, run.person(ctx, open), o); err != nil {
			return out, err
		}
		out.left = resume(ctx, s, pool, refused)
		return out, nil
	})
	run.op = op
	clear(v.exchanges)
	v.runs[s.Name()] = run
	v.follows = true
	return tea.Batch(cmd, run.next, c.FocusPane("list"))
}

// resume makes use of a new token: it connects, or where the server only refused something asks again for that. Somebody else has to
// begin a new session.
func resume(ctx context.Context, s *session.Session, pool *toolset.Pool, refused bool) error {
	if s.Status().State != session.Connected {
		return pane.ConnectFrom(ctx, pool, s)
	}
	if !refused {
		return s.Reconnect(ctx)
	}
	for k := range offer.NumKinds {
		if failure.RemedyOf(s.Listing(k).Err) == failure.LogIn {
			if _, err := s.Refresh(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// event takes what a login asks of a person.
func (v *login) event(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	of := func(p *visitor) (*loginRun, string) {
		for name, r := range v.runs {
			if r.visitor == p {
				return r, name
			}
		}
		return nil, ""
	}
	switch m := msg.(type) {
	case loginAsked:
		r, _ := of(m.visitor)
		if r == nil {
			return m.next, true
		}
		r.asked = true
		answer := func(ok bool) func(*tui.Ctx) tea.Cmd {
			return func(*tui.Ctx) tea.Cmd {
				r.asked = false
				m.answer <- ok
				return nil
			}
		}
		return tea.Batch(m.next, c.Confirm(tui.Confirmation{
			Title: "Go on with this login?", Body: m.question, Yes: "go on", No: "stop the login", Unsolicited: true,
			OnYes: answer(true), OnNo: answer(false),
		})), true
	case loginWaits:
		cmd := tea.Cmd(m.next)
		if r, name := of(m.visitor); r != nil {
			r.page = m.page
			if c.View != "login" {
				cmd = tea.Batch(cmd, c.Toast(tui.Note, "the login at "+c.ServerTitle(name)+" waits for a browser; :login shows it"))
			}
		}
		return tea.Batch(cmd, v.sync(c)), true
	case loginNoted:
		if r, _ := of(m.visitor); r != nil {
			r.note = m.err.Error()
			var e *failure.Error
			if errors.As(m.err, &e) {
				r.note = e.Message + "; " + e.Next
			}
			v.Rev++
		}
		return m.next, true
	}
	return nil, false
}

// finished takes the outcomes of operations.
func (v *login) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	switch r := m.Value.(type) {
	case loggedIn:
		delete(v.runs, r.server)
		if delete(v.unfinished, r.server); m.Err != nil {
			v.unfinished[r.server] = r.run.loginAim
		}
		return tea.Batch(v.sync(c), v.ended(c, r, m.Err))
	case forgotten:
		cmd := v.sync(c)
		switch {
		case m.Err != nil:
			return tea.Batch(cmd, c.Toast(tui.Failure, m.Err.Error()))
		default:
			return tea.Batch(cmd, c.Toast(tui.Success, "the login at "+c.ServerTitle(r.server)+" is forgotten"))
		}
	case refreshed:
		cmd := v.sync(c)
		if m.Err != nil {
			return tea.Batch(cmd, c.Toast(tui.Failure, m.Err.Error()))
		}
		return tea.Batch(cmd, c.Toast(tui.Success, "new token from "+v.st.Issuer))
	case loginOpened:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return nil
	}
	if name, ok := strings.CutPrefix(m.Slot, "login\x00"); ok { // it panicked or was cancelled before it began
		delete(v.runs, name)
		return v.sync(c)
	}
	cmd, _ := v.Filtered(c, m)
	return cmd
}

// ended says how a login went, and goes back to where its key was pressed.
func (v *login) ended(c *tui.Ctx, r loggedIn, err error) tea.Cmd {
	title := c.ServerTitle(r.server)
	switch {
	case errors.Is(err, context.Canceled) || failure.KindOf(err) == failure.Interrupted:
		return c.Toast(tui.Note, "login cancelled: nothing waits for the browser any more")
	case err != nil && c.View == "login" && v.server == r.server && v.failed():
		v.follows = true
		return v.list(c) // the step says why
	case err != nil:
		return c.Toast(tui.Failure, err.Error())
	case r.left != nil: // the screen before says why
		toast := c.Toast(tui.Warning, "logged in at "+title+", but: "+text.FirstLine(r.left.Error()))
		if c.View != "login" || v.server != r.server {
			return toast
		}
		return tea.Sequence(toast, c.Back())
	}
	cmds := []tea.Cmd{c.Toast(tui.Success, "logged in at "+title)}
	switch {
	case c.View != "login" || v.server != r.server:
	case r.run.then != "":
		cmds = append(cmds, c.NavigateOn(r.server, r.run.then, nil))
	default:
		cmds = append(cmds, c.Back())
	}
	if again := r.run.again; again != nil && c.Server != nil && c.Server.Name() == r.server {
		cmds = append(cmds, func() tea.Msg { return loginAgain{again} })
	}
	return tea.Sequence(cmds...)
}

// loginAgain does again what was refused, once the screen that asked is back.
type loginAgain struct{ again func(*tui.Ctx) tea.Cmd }

// loginOpened is the outcome of opening a page.
type loginOpened struct{}

func (v *login) openPage(c *tui.Ctx) tea.Cmd {
	page, browse := v.run().page.URL, v.browse
	cmd, _ := c.Replace("login", "open", "open the browser", func(ctx context.Context) (any, error) { return loginOpened{}, browse(ctx, page) })
	return cmd
}

// paste takes the URL that a browser elsewhere ended at.
func (v *login) paste(c *tui.Ctx) tea.Cmd {
	return c.Ask(tui.Question{
		Label: "URL that the browser ended at",
		Check: func(text string) string {
			if strings.TrimSpace(text) == "" {
				return "copy it from the address bar; esc leaves it"
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, text string) tea.Cmd {
			r := v.run()
			if r == nil {
				return c.Toast(tui.Warning, "the login is over")
			}
			r.note = ""
			select {
			case r.pasted <- text:
			default: // one is looked at already
			}
			return nil
		},
	})
}

// refreshed is the outcome of refreshing a token.
type refreshed struct{ server string }

func (v *login) refresh(c *tui.Ctx) tea.Cmd {
	s := c.Server
	v.follows = true
	clear(v.exchanges)
	cmd, _ := c.Replace("login", "refresh\x00"+s.Name(), "refresh the token of "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
		return refreshed{s.Name()}, s.Authorizer().Refresh(ctx)
	})
	return cmd
}

// forgotten is the outcome of forgetting a login.
type forgotten struct{ server string }

// forget asks first: a token that was revoked does not come back.
func (v *login) forget(c *tui.Ctx) tea.Cmd {
	s, st := c.Server, v.st
	what := "It is kept in " + st.Where + ", and removed from there."
	if st.Revocable {
		what = "It is revoked at " + st.Issuer + ". " + what
	}
	return c.Confirm(tui.Confirmation{
		Title: "Forget the login at " + safe.Line(s.Title(), 60) + "?", Body: what + "\n\nThe server is disconnected; the next connection needs a login again.",
		Yes: "forget", No: "keep it", Danger: true,
		OnYes: func(c *tui.Ctx) tea.Cmd {
			cmd, _ := c.Replace("login", "forget\x00"+s.Name(), "forget the login at "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
				err := s.Disconnect() // first: ending a session takes the token
				return forgotten{s.Name()}, errors.Join(err, s.Authorizer().Forget(ctx))
			})
			return cmd
		},
	})
}

// waits is whether a login waits for somebody to do something.
func (v *login) waits(*tui.Ctx) bool {
	r := v.run()
	return r != nil && (r.asked || r.page.URL != "")
}
