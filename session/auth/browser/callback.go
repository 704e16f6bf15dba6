package browser

import (
	_ "embed"
	"html"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// page has TITLE and TEXT in the places of what it says.
//
//go:embed page.html
var page string

// answer is what a browser is shown.
type answer struct {
	status      int
	title, text string
}

// serve answers browsers at the listeners, until stop is called.
func (v *visit) serve(wg *sync.WaitGroup) (stop func()) {
	if len(v.listeners) == 0 {
		return func() {}
	}
	s := &http.Server{Handler: http.HandlerFunc(v.callback), WriteTimeout: 10 * time.Second}
	listen.Harden(s, 5*time.Second)
	s.SetKeepAlivesEnabled(false)
	for _, l := range v.listeners {
		wg.Go(func() { _ = s.Serve(l) }) // ends when it is closed
	}
	return func() { _ = s.Close() } // what is left are connections that nobody needs
}

// callback answers one request. Whatever web pages make a browser send here, only the answer to this login ends the waiting.
func (v *visit) callback(w http.ResponseWriter, r *http.Request) {
	u := *v.redirect
	u.RawQuery = r.URL.RawQuery
	q := u.Query()
	a := answer{http.StatusOK, "Back to mcphud", "The login goes on in mcphud, which says how it ended. You can close this page."}
	take := false
	switch {
	case !v.isOwnHost(r.Host):
		a = answer{http.StatusForbidden, "Not here", "This address is not the one that mcphud waits at."}
	case strings.Trim(r.URL.Path, "/") != strings.Trim(v.redirect.Path, "/"):
		a = answer{http.StatusNotFound, "Nothing here", "mcphud waits for a login at another path."}
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		a = answer{http.StatusMethodNotAllowed, "Not by " + text.Clip(r.Method, 20), "A login comes back by GET."}
	case !v.mine(&u):
		a = answer{http.StatusBadRequest, "Another login", "This does not belong to the login that mcphud waits for. Go on in the page that mcphud showed you."}
	case !v.taken.CompareAndSwap(false, true):
		a = answer{http.StatusConflict, "Already back", "mcphud has the answer to this login already. You can close this page."}
	case q.Get("error") != "":
		take = true
		a.title, a.text = "Login refused", "The authorization server refused the login: "+plain(q.Get("error"))
		if more := q.Get("error_description"); more != "" {
			a.text += ": " + plain(more)
		}
		a.text += ". You can close this page."
	default:
		take = true
	}
	a.write(w)
	if take {
		v.back <- &u
	}
}

// isOwnHost reports whether a Host header names this listener, not a name that somebody made point here.
func (v *visit) isOwnHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	at, ok := v.listeners[0].Addr().(*net.TCPAddr)
	return ok && listen.Loopback(name) && port == strconv.Itoa(at.Port)
}

// write sends the page, so that it has left when the program goes on.
func (a answer) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	filled := strings.NewReplacer("TITLE", html.EscapeString(a.title), "TEXT", html.EscapeString(a.text)).Replace(page)
	h.Set("Content-Length", strconv.Itoa(len(filled)))
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, filled) // a browser that is gone needs no answer
	_ = http.NewResponseController(w).Flush()
}

// plain is a text of an authorization server in one line, without what could act or hide.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text.Clip(s, 300), " "))
	return strings.TrimRight(strings.Join(strings.Fields(mask.Text(s)), " "), ".")
}
