package browser

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var authorize = &url.URL{Scheme: "https", Host: "login.example.com", Path: "/authorize", RawQuery: "state=mine"}

func mine(u *url.URL) bool { return u.Query().Get("state") == "mine" }

// trip is a browser that was sent away.
type trip struct {
	t     *testing.T
	visit auth.Visit
	shown chan Page
	back  chan *url.URL
	err   chan error
	stop  context.CancelFunc
}

// away sends a browser away with the visit that p expects.
func away(t *testing.T, p *Person, redirect string) *trip {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	x := &trip{t, nil, make(chan Page, 1), make(chan *url.URL, 1), make(chan error, 1), stop}
	show := p.Show
	p.Show = func(page Page) {
		if show != nil {
			show(page)
		}
		x.shown <- page
	}
	var err error
	if x.visit, err = p.Expect(ctx, redirect); err != nil {
		t.Fatal(err)
	}
	go func() {
		u, err := x.visit.Go(ctx, authorize, mine)
		x.back <- u
		x.err <- err
	}()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, x.visit.Close())
	})
	return x
}

// closed wants that nothing listens any more.
func (x *trip) closed() {
	x.t.Helper()
	for _, l := range x.visit.(*visit).listeners {
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			x.t.Errorf("something listens at %s: %v", l.Addr(), err)
		}
	}
}

// get makes one request to the place of the callback.
func get(t *testing.T, method, target, host string, header http.Header) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	require.NoError(t, err)
	req.Host = host
	for name, values := range header {
		req.Header[name] = values
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body), resp.Header
}

func TestTheBrowserComesBackOnLoopback(t *testing.T) {
	x := away(t, &Person{}, "")
	page := <-x.shown
	at, err := url.Parse(page.Redirect)
	if err != nil || page.URL != authorize.String() || page.Redirect != x.visit.Redirect() || !page.Listens || at.Hostname() != "127.0.0.1" || at.Path != "/callback" {
		t.Fatalf("%+v, %v", page, err)
	}
	for name, c := range map[string]struct {
		method, url, host string
		want              int
	}{
		"foreign state": {"GET", page.Redirect + "?code=c0de&state=theirs", "", 400},
		"no state":      {"GET", page.Redirect, "", 400},
		"foreign host":  {"GET", page.Redirect + "?code=c0de&state=mine", "evil.example:" + at.Port(), 403},
		"foreign port":  {"GET", page.Redirect + "?code=c0de&state=mine", "127.0.0.1:1", 403},
		"other path":    {"GET", "http://" + at.Host + "/favicon.ico?state=mine", "", 404},
		"by POST":       {"POST", page.Redirect + "?code=c0de&state=mine", "", 405},
		"by HEAD":       {"HEAD", page.Redirect + "?code=c0de&state=mine", "", 405},
	} {
		status, body, header := get(t, c.method, c.url, c.host, nil)
		if status != c.want || strings.Contains(body, "c0de") || strings.Contains(body, "state") {
			t.Errorf("%s: %d %s", name, status, body)
		}
		safeHeaders(t, header)
	}
	select {
	case u := <-x.back:
		t.Fatalf("the waiting ended with %v, %v", u, <-x.err)
	default:
	}
	status, body, header := get(t, "GET", page.Redirect+"?code=c0de&state=mine", "localhost:"+at.Port(), http.Header{"Origin": {"null"}})
	if u := <-x.back; u == nil || u.String() != page.Redirect+"?code=c0de&state=mine" || <-x.err != nil {
		t.Fatalf("it came back with %v", u)
	}
	if status != 200 || !strings.Contains(body, "You can close this page") || strings.Contains(body, "c0de") {
		t.Errorf("%d %s", status, body)
	}
	safeHeaders(t, header)
	x.closed()
}

func safeHeaders(t *testing.T, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		assert.Equalf(t, h.Get(name), want, "%s", name)
	}
	assert.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'")
}

func TestARefusalIsShownHarmlessly(t *testing.T) {
	x := away(t, &Person{}, "")
	page := <-x.shown
	q := url.Values{"state": {"mine"}, "error": {"access_denied"}, "error_description": {"<script>alert(1)</script>\x1b[2J\u202eno " + strings.Repeat("x", 5000)}}
	status, body, _ := get(t, "GET", page.Redirect+"?"+q.Encode(), "", nil)
	if u := <-x.back; u == nil || u.Query().Get("error") != "access_denied" {
		t.Fatal(u, <-x.err)
	}
	if status != 200 || !strings.Contains(body, "access_denied") || strings.Contains(body, "<script") || strings.ContainsAny(body, "\x1b\u202e") || len(body) > 2000 {
		t.Errorf("%d %s", status, body)
	}
}

// The first of two that come back at once is taken, and the others end as well.
func TestOnlyOneComesBack(t *testing.T) {
	x := away(t, &Person{}, "")
	page := <-x.shown
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, page.Redirect+"?state=mine", nil)
			c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if resp, err := c.Do(req); err == nil { // nothing listens any more for who is late
				if resp.StatusCode != 200 && resp.StatusCode != 409 {
					t.Errorf("%d", resp.StatusCode)
				}
				_ = resp.Body.Close()
			}
		})
	}
	if u := <-x.back; u == nil {
		t.Error(<-x.err)
	}
	wg.Wait()
}

func TestAConfiguredRedirect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	redirect := "http://localhost:" + port + "/oauth/callback"
	_, err = (&Person{}).Expect(t.Context(), redirect)
	var e *failure.Error
	if !errors.As(err, &e) || e.Kind != failure.OAuth || !strings.Contains(e.Message, "the port is taken") || e.Next == "" {
		t.Errorf("a taken port: %v", err)
	}
	_ = l.Close()
	x := away(t, &Person{}, redirect)
	if page := <-x.shown; page.Redirect != redirect {
		t.Errorf("%+v", page)
	}
	if status, _, _ := get(t, "GET", redirect+"?state=mine&code=c", "", nil); status != 200 {
		t.Errorf("%d", status)
	}
	if u := <-x.back; u == nil || u.Path != "/oauth/callback" {
		t.Error(u, <-x.err)
	}
}

func TestRedirectsThatNothingComesBackTo(t *testing.T) {
	for _, redirect := range []string{"javascript:alert(1)", "file:///etc/passwd", "http://", "http://localhost:0/x", "http://127.0.0.1/#x", "https://app.example.com/callback", "https://localhost:8443/callback"} {
		if v, err := (&Person{}).Expect(t.Context(), redirect); err == nil {
			t.Errorf("%s is waited for", redirect)
			_ = v.Close()
		}
	}
}

// pastes gives texts to a Person, one after the other, and then nothing for ever.
func pastes(texts ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if len(texts) == 0 {
			<-ctx.Done()
			return "", ctx.Err()
		}
		text := texts[0]
		texts = texts[1:]
		return text, nil
	}
}

func TestTheCallbackIsPastedBack(t *testing.T) {
	var notes []error
	p := &Person{
		Note: func(err error) { notes = append(notes, err) },
		Paste: pastes("", "hello", authorize.String(), "https://app.example.com/callback?code=c&state=theirs", "http://app.example.com/callback?code=c&state=mine",
			"  'https://app.example.com/callback?code=c&state=mine&iss=x'\t"),
	}
	x := away(t, p, "https://app.example.com/callback")
	if page := <-x.shown; page.Listens {
		t.Errorf("%+v", page)
	}
	if u := <-x.back; u == nil || u.String() != "https://app.example.com/callback?code=c&state=mine&iss=x" {
		t.Fatal(u, <-x.err)
	}
	if len(notes) != 4 || !errors.Is(notes[0], errNoState) || !errors.Is(notes[1], errToOpen) || !errors.Is(notes[2], errForeign) || !errors.Is(notes[3], errToOpen) {
		t.Errorf("%v", notes)
	}
}

// Where something listens the waiting outlasts the input; elsewhere nothing else can come.
func TestTheEndOfTheInput(t *testing.T) {
	eof := func(context.Context) (string, error) { return "", io.EOF }
	x := away(t, &Person{Paste: eof}, "https://app.example.com/callback")
	if u, err := <-x.back, <-x.err; u != nil || !errors.Is(err, io.EOF) || failure.KindOf(err) != failure.OAuth {
		t.Error(u, err)
	}
	x = away(t, &Person{Paste: eof}, "")
	page := <-x.shown
	if status, _, _ := get(t, "GET", page.Redirect+"?state=mine", "", nil); status != 200 || <-x.back == nil {
		t.Error(status)
	}
}

func TestTheBrowserNeverComesBack(t *testing.T) {
	opened := make(chan string, 1)
	p := &Person{Paste: pastes(), Open: func(ctx context.Context, page string) error {
		opened <- page
		<-ctx.Done()
		return nil
	}}
	shown := false
	p.Show = func(Page) { shown = len(opened) == 0 }
	x := away(t, p, "")
	if page := <-opened; page != authorize.String() || !shown {
		t.Errorf("%s was opened; shown before: %v", page, shown)
	}
	<-x.shown
	x.stop()
	if u, err := <-x.back, <-x.err; u != nil || !errors.Is(err, context.Canceled) {
		t.Error(u, err)
	}
	x.closed()
}

func TestOnlyWebPagesAreShown(t *testing.T) {
	p := &Person{Show: func(page Page) { t.Errorf("%+v", page) }}
	for _, bad := range []string{"javascript:alert(1)", "file:///etc/passwd", "--version", "https:///x"} {
		u, err := url.Parse(bad)
		require.NoError(t, err)
		v, err := p.Expect(t.Context(), "")
		require.NoError(t, err)
		if _, err := v.Go(t.Context(), u, mine); failure.KindOf(err) != failure.OAuth {
			t.Errorf("%s: %v", bad, err)
		}
		_ = v.Close()
	}
}

func TestQuestionsWithoutAnybodyAreAnsweredNo(t *testing.T) {
	if yes, err := (&Person{}).Confirm(t.Context(), "Go on?"); yes || err != nil {
		t.Error(yes, err)
	}
}
