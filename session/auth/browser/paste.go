package browser

import (
	"errors"
	"net/url"
	"strings"

	"github.com/mcphud/mcphud/session/base/listen"
)

// What may be wrong with a text that was pasted.
var (
	errForeign = errors.New("this belongs to another login: paste the URL that this one ended at")
	errToOpen  = errors.New("this is not where the login ends: open it in a browser, and paste its last URL")
	errNoState = errors.New("this has no state: paste the whole URL that the browser ended at")
)

// parsePasted makes the callback of what a user copied: the whole URL, the same without its scheme as browsers show it, its query, or
// code and state as some pages show them, CODE#STATE.
func parsePasted(text string, redirect *url.URL) (*url.URL, error) {
	text = strings.Trim(strings.TrimSpace(text), `"'<>`)
	back := *redirect
	if code, state, ok := cutAny(text, "#?"); ok && !strings.ContainsAny(text, "=/&") && code != "" && state != "" {
		back.RawQuery = url.Values{"code": {code}, "state": {state}}.Encode()
		return &back, nil
	}
	query := text
	if before, after, ok := strings.Cut(text, "?"); ok {
		if before != "" && !samePlace(before, redirect) {
			return nil, errToOpen
		}
		query = after
	} else if strings.Contains(text, "://") {
		return nil, errToOpen
	}
	query, _, _ = strings.Cut(query, "#")
	q, err := url.ParseQuery(query)
	if err != nil || q.Get("state") == "" {
		return nil, errNoState
	}
	back.RawQuery = query
	return &back, nil
}

func cutAny(s, chars string) (before, after string, ok bool) {
	i := strings.IndexAny(s, chars)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// samePlace reports whether a URL, or what a browser shows of it, is where the browser has to come back to.
func samePlace(shown string, redirect *url.URL) bool {
	if !strings.Contains(shown, "://") {
		shown = redirect.Scheme + "://" + shown
	}
	u, err := url.Parse(shown)
	if err != nil {
		return false
	}
	host := strings.EqualFold(u.Hostname(), redirect.Hostname()) || listen.Loopback(u.Hostname()) && listen.Loopback(redirect.Hostname())
	return host && u.Scheme == redirect.Scheme && u.Port() == redirect.Port() && strings.Trim(u.Path, "/") == strings.Trim(redirect.Path, "/")
}
