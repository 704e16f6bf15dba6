package views_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// surf is a browser that goes where it is sent, and on to where it is sent from there.
func surf(ctx context.Context, url string) error {
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := web.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}

// withLogin makes sessions that can log in.
func withLogin(s *authtest.Server) func(*session.Options) {
	return func(o *session.Options) {
		patient(o)
		o.HealthInterval = -1
		o.Auth = &auth.Options{HTTP: s.HTTP}
		o.Transport.Via = s.HTTP
	}
}

// protected opens the tools of a server that wants a login.
func protected(t *testing.T, s *authtest.Server, deps views.Deps, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	app := tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(deps)...), tuitest.Target(s.Config()), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.Deadline(time.Minute),
		tuitest.Beside(), tuitest.SessionOptions(withLogin(s)),
	}, opts...)...)
	state(app, session.NeedsLogin)
	t.Cleanup(func() {
		for _, secret := range s.Issuer.Secrets() {
			assert.NotContains(t, string(app.Output()), secret)
		}
	})
	return app
}

// shownURL is the URL that the login screen shows, put together again from its rows; "" while there is none.
func shownURL(app *tuitest.App) string {
	r, ok := app.State().Panes["detail"]
	if !ok || app.State().View != "login" {
		return ""
	}
	rows := strings.Split(app.Screen(), "\n")
	var url strings.Builder
	for _, row := range rows[r.Y : r.Y+r.H] {
		row = strings.TrimSpace(ansi.Cut(row, r.X, r.X+r.W))
		switch {
		case strings.HasPrefix(row, "http"), url.Len() > 0 && row != "" && !strings.Contains(row, " "):
			url.WriteString(row)
		case url.Len() > 0:
			return url.String()
		}
	}
	return url.String()
}

// awaitURL waits for the URL that somebody has to open.
func awaitURL(t *testing.T, app *tuitest.App) *url.URL {
	t.Helper()
	var u *url.URL
	app.Eventually(func() string {
		var err error
		if u, err = url.Parse(shownURL(app)); err != nil || u.Query().Get("redirect_uri") == "" || u.Query().Get("resource") == "" {
			return fmt.Sprintf("the screen does not show the whole URL, but %q", shownURL(app))
		}
		return ""
	})
	return u
}

// TestLogIn goes from a refused connection to the tools with one key, through the browser of this machine.
func TestLogIn(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{JWT: true})
	var app *tuitest.App
	opened := make(chan string, 1)
	browse := func(ctx context.Context, url string) error {
		for end := time.Now().Add(time.Minute); shownURL(app) != url && time.Now().Before(end); { // it waits for the browser meanwhile
			time.Sleep(10 * time.Millisecond)
		}
		if shownURL(app) != url {
			opened <- "the browser was opened at a URL that the screen does not show:\n" + url + "\n" + app.Screen()
		}
		return surf(ctx, url)
	}
	app = protected(t, s, views.Deps{Browse: browse, AutoBrowse: true})
	shows(app, "list", "◆ protected wants a login.", "r log in")
	app.Status().Has("◆ Needs login").HasNot("✗")
	app.Hints().Has("r log in")
	app.Press("1").View("servers").Pane("list").Has("◆ protected  Needs login")
	shows(app, "detail", "◆ Needs login", "◆ protected wants a login.", "enter log in")
	app.Press("2").View("tools").Press("r").Toast("logged in at protected").View("tools").Pane("list").Has("echo")
	state(app, session.Connected)
	app.Hints().HasNot("log in")
	select {
	case why := <-opened:
		t.Error(why)
	default:
	}
	app.Press(":").Type("login").Press("enter").View("login").Pane("list").Has("● logged in · expires in", "✓ discover resource", "✓ discover server", "✓ register", "✓ authorize", "✓ token")
	shows(app, "detail", "issuer", s.Issuer.URL, "(registered by mcphud)", "Claims of the access token (signature not verified)")
	app.Press("G").Pane("list").Selected("✓ retry")
	app.Press("g", "down").Pane("list").Has("GET http://")
	shows(app, "detail", "Found", "WWW-Authenticate names")
	app.Press("enter").View("traffic").Pane("frame").Has("← http protected", "200 OK")
}

// TestLogInStepsUp: a call that needs more rights says so with the key, which logs in and sends the call again.
func TestLogInStepsUp(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{Scopes: map[string]string{"add": "mcp:write"}})
	app := protected(t, s, views.Deps{Browse: surf, AutoBrowse: true})
	app.Press("r").View("tools").Pane("list").Has("add")
	fillIn(app, "add").Type("40").Press("down").Type("2").Press("ctrl+g")
	shows(app, "result", "the login does not cover this: the server asks for mcp:write", "r log in and do it again")
	app.Pane("result").Focused()
	app.Hints().Has("r log in")
	state(app, session.Connected)
	app.Press("r").Toast("logged in at protected").View("call").Pane("result").Has("42")
	app.Pane("result").HasNot("does not cover")
	leave(app).Resize(120, 40).Press("1").View("servers")
	shows(app, "detail", "logged in · mcp:read mcp:write")
}

// TestLogInForAList: a list that the server refuses meanwhile says the key, and is there after the login.
func TestLogInForAList(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	app := protected(t, s, views.Deps{Browse: surf, AutoBrowse: true})
	app.Press("r").View("tools").Pane("list").Has("echo")
	app.Press("3").View("resources").Pane("list").Has("fake://blob")
	s.Issuer.Expire()
	s.Issuer.ExpireRefresh()
	app.Press("r")
	app.Hints().Has("r log in")
	state(app, session.Connected)
	conn := only(app).Status().Conn
	app.Press("r").Toast("logged in at protected").View("resources").Eventually(func() string {
		if l := only(app).Listing(offer.Resources); l.Err != nil || !l.Loaded {
			return fmt.Sprintf("the list is %+v", l)
		}
		return ""
	})
	if got := only(app).Status().Conn; got != conn {
		t.Errorf("connection %d, want %d: there was nothing to connect", got, conn)
	}
	app.Hints().HasNot("log in")
}

// TestBackToAList: a list that could not be asked for yet is fetched when its screen comes back, however long after the connection.
func TestBackToAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := authtest.Memory(t, authtest.Knobs{})
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Target(s.Config()), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.SessionOptions(withLogin(s)))
		app.Send(tui.Navigate{View: "login"}).View("login")
		require.NoError(t, only(app).Authorizer().Login(t.Context(), &authtest.Person{HTTP: s.HTTP}, auth.LoginOptions{}))
		require.NoError(t, only(app).Connect(t.Context()))
		app.Sleep(time.Minute).Pane("list").Has("● logged in")
		app.Press("q").View("tools").Pane("list").Has("echo")
	})
}

// TestLogInRefused: who says no in the browser sees that here, and can say yes with the same key.
func TestLogInRefused(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{Refuse: map[string]string{"/authorize": "access_denied"}})
	app := protected(t, s, views.Deps{Browse: surf, AutoBrowse: true})
	app.Press("r").View("login").Pane("list").Selected("✗ authorize")
	shows(app, "detail", "the authorization server refused: access_denied")
	app.Hints().Has("r log in again")
	s.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = nil })
	app.Press("r").Toast("logged in at protected").View("tools").Pane("list").Has("echo")
}

// TestLogInAtTheWrongIssuer: the screen names the rule, and who broke it.
func TestLogInAtTheWrongIssuer(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{Back: func(q url.Values) { q.Set("iss", "https://evil.example.com") }})
	app := protected(t, s, views.Deps{Browse: surf, AutoBrowse: true})
	app.Press("r").View("login").Pane("list").Selected("✗ authorize")
	shows(app, "detail", "✗ the authorization server broke a rule: iss is \"https://evil.example.com\"", "The rule: RFC 9207 section 2.4")
	state(app, session.NeedsLogin)
	assert.Equalf(t, len(s.Issuer.Calls("/token")), 0, "token requests")
}

// TestLogInCancelled: x ends the waiting, and nothing listens any more.
func TestLogInCancelled(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	app := protected(t, s, views.Deps{})
	app.Press("r").View("login").Pane("list").Has("◆ waits for you in the browser")
	u := awaitURL(t, app)
	app.Hints().Has("y copy", "a paste callback", "x cancel").HasNot("o open")
	app.Press("x").Toast("login cancelled").View("login").Pane("list").Selected("⊘ authorize")
	back, err := url.Parse(u.Query().Get("redirect_uri"))
	require.NoError(t, err)
	app.Eventually(func() string {
		if c, err := net.Dial("tcp", back.Host); err == nil {
			_ = c.Close()
			return "something still listens at " + back.Host
		}
		return ""
	})
	state(app, session.NeedsLogin)
	app.Hints().Has("r log in again")
}

// remote is a server whose login comes back to another machine.
func remote(s *authtest.Server) config.Server {
	cfg := s.Config()
	cfg.OAuth = &config.OAuth{RedirectURI: "https://laptop.example.com/callback"}
	return cfg
}

// TestLogInPasted: without a browser here the URL is copied, opened elsewhere, and what that ends at is pasted; what is wrong is said.
func TestLogInPasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := authtest.Memory(t, authtest.Knobs{})
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Target(remote(s)), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.SessionOptions(withLogin(s)))
		app.Pane("list").Has("◆ protected wants a login")
		app.Press("r").View("login")
		u := awaitURL(t, app)
		shows(app, "detail", "It ends at https://laptop.example.com/callback, which is not here")
		app.Press("y", "v").Toast("copied value")
		app.Press(":qr").Overlay("The URL of the login").Has("The QR code needs a terminal of")
		app.Press("esc", "a").Prompt("URL that the browser ended at: ").Answer(u.String())
		shows(app, "detail", "! this is not where the login ends")
		back, err := authtest.Visit(t.Context(), s.HTTP, u)
		require.NoError(t, err)
		app.Press("a").Paste(back.String()).Press("enter").Toast("logged in at protected").View("tools").Pane("list").Has("echo")
	})
}

// TestLogInAsks: what only the user can judge is a question that no key before it answers, and no is a broken rule.
func TestLogInAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := authtest.Memory(t, authtest.Knobs{Resource: func(doc map[string]any) { doc["authorization_servers"] = []string{"https://10.0.0.1"} }})
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Target(remote(s)), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.SessionOptions(withLogin(s)))
		app.Press("r", "enter").Overlay("Go on with this login?").Has("10.0.0.1")
		app.Press("y").Overlay("Go on with this login?") // typed before it was read
		app.Sleep(2 * time.Second).Press("n").NoOverlay().Pane("list").Selected("✗ discover server")
		shows(app, "detail", "the MCP server broke a rule: it sends to 10.0.0.1", "RFC 9728 section 7.7")
	})
}

// TestForgetALogin: the token is revoked after a question, and the next connection wants a login.
func TestForgetALogin(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	app := protected(t, s, views.Deps{Browse: surf, AutoBrowse: true})
	app.Press("r").View("tools").Pane("list").Has("echo")
	app.Press(":login").View("login").Press("r").Toast("new token from").Pane("list").Has("✓ refresh")
	app.Press(":logout").Overlay("Forget the login at protected?").Has("It is revoked at " + s.Issuer.URL)
	app.Press("y").Toast("the login at protected is forgotten").Pane("list").Has("○ not logged in", "✓ revoke")
	state(app, session.Disconnected)
	if n := len(s.Issuer.Calls("/revoke")); n == 0 {
		t.Error("nothing was revoked")
	}
	app.Press("1").View("servers").Press("enter")
	state(app, session.NeedsLogin)
	app.Press("enter").View("tools").Pane("list").Has("echo") // enter opens it: through the login
}

// TestLogInLinear logs in with lines that are typed.
func TestLogInLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := authtest.Memory(t, authtest.Knobs{})
		var o session.Options
		withLogin(s)(&o)
		inLinearOn(t, o, remote(s), func(c *console) {
			assert.Contains(t, c.enter(""), "protected wants a login")
			out := c.enter("login")
			var to *url.URL
			for line := range strings.Lines(out) {
				if u, err := url.Parse(strings.TrimSpace(line)); err == nil && u.Query().Get("redirect_uri") != "" {
					to = u
				}
			}
			if to == nil {
				t.Fatalf("there is no URL in\n%s", out)
			}
			back, err := authtest.Visit(t.Context(), s.HTTP, to)
			require.NoError(t, err)
			assert.Contains(t, c.enter(number(t, out, "paste callback")), "URL that the browser ended at")
			assert.Contains(t, c.enter(back.String()), "logged in at protected", "echo")
		})
	})
}
