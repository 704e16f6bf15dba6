package inspector

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
)

// defaultCallback is where browsers come back to.
const defaultCallback = "http://127.0.0.1:6276/oauth/callback"

// aboutLogins says whether the command line asks for something of the stored logins, and needs neither method nor server.
func (r *Request) aboutLogins() bool { return r.ListStoredAuth || r.PrintHandoff }

// checkLogin refuses what does not go with --relogin.
func (r *Request) checkLogin() error {
	switch {
	case !r.Relogin && r.NoRevoke:
		return fail("--no-revoke requires --relogin (it has no other effect).")
	case !r.Relogin:
		return nil
	case r.StoredAuthOnly:
		return fail("--relogin cannot be combined with --stored-auth-only")
	case r.UseStoredAuth || r.WaitForAuth > 0:
		return fail("--relogin cannot be combined with --use-stored-auth or --wait-for-auth")
	case r.aboutLogins():
		return fail("--relogin cannot be combined with --list-stored-auth or --print-handoff")
	case r.aboutServers():
		return fail("--relogin cannot be combined with a --method servers/* catalog command (no OAuth connect)")
	}
	return nil
}

// Stored says whether the stored login of --server-url is to be used; without a URL that is an error.
func (r *Request) Stored() (bool, error) {
	flag := "--use-stored-auth"
	if r.WaitForAuth > 0 {
		flag = "--wait-for-auth"
	} else if !r.UseStoredAuth {
		return false, nil
	}
	if r.ServerURL == "" {
		return false, fail(flag + " requires --server-url")
	}
	return true, nil
}

// Patience is how long to wait for a stored login.
func (r *Request) Patience() time.Duration {
	return time.Duration(min(r.WaitForAuth, math.MaxInt32) * float64(time.Second))
}

// Href is a URL as browsers write it.
func Href(at string) string {
	u, err := url.Parse(strings.TrimSpace(at))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return at
	}
	u.Host = strings.ToLower(u.Host)
	if host, port, err := net.SplitHostPort(u.Host); err == nil && port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		u.Host = host
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// Logins is the result of --list-stored-auth. where says where logins are kept.
func Logins(where string, urls []string) json.RawMessage {
	return Pairs{{"oauthStatePath", quote(where)}, {"storedServerUrls", marshal(append([]string{}, urls...))}}.JSON()
}

// Handoff is the result of --print-handoff: what the Inspector prints of its web page, which does not exist here, is null; command
// is what logs in instead.
func (r *Request) Handoff(where, command string) (json.RawMessage, error) {
	if r.ServerURL == "" {
		return nil, fail("--print-handoff requires --server-url")
	}
	null := json.RawMessage("null")
	return Pairs{
		{"serverUrl", quote(Href(r.ServerURL))},
		{"deepLink", null},
		{"portForwardCmd", null},
		{"oauthStatePath", quote(where)},
		{"apiToken", null},
		{"loginCommand", quote(command)},
		{"note", quote("Run loginCommand on this machine, and open the URL that it shows in any browser; --wait-for-auth then goes on.")},
	}.JSON(), nil
}

// NoLogin is the error of a server that no login is stored for. others are the servers with one.
func (r *Request) NoLogin(where string, others []string) error {
	e := &Error{Exit: ExitAuth, Code: "no_stored_token", URL: r.ServerURL, Message: "No stored OAuth token for " + Href(r.ServerURL) + " in " + where + ". Log in first: mcphud auth login " + Href(r.ServerURL)}
	none := ""
	if r.WaitForAuth > 0 {
		e.Code, none = "auth_wait_timeout", " No tokens stored yet."
		e.Message = fmt.Sprintf("--wait-for-auth timed out after %ss; no stored OAuth token for %s in %s.", marshal(r.WaitForAuth), Href(r.ServerURL), where)
	}
	if len(others) > 0 {
		none = " Stored keys: " + strings.Join(others, ", ") + "."
	}
	e.Message += none
	return e
}

// NoURL is the error of --relogin for a server that has no logins.
func NoURL() error {
	return fail("--relogin requires an HTTP/SSE server URL (no OAuth store entry for stdio)")
}

// Callback is the URI that browsers come back to.
func (r *Request) Callback() (string, error) {
	raw := strings.TrimSpace(r.CallbackURL)
	if raw == "" {
		raw = strings.TrimSpace(os.Getenv("MCP_OAUTH_CALLBACK_URL"))
	}
	if raw == "" {
		return defaultCallback, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		return "", fail("Invalid OAuth callback URL: Invalid URL")
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	switch {
	case u.Scheme != "http":
		return "", fail("OAuth callback URL must use http scheme")
	case host == "":
		return "", fail("Invalid OAuth callback URL: Invalid URL")
	case host != "localhost" && (ip == nil || !ip.IsLoopback()):
		return "", fail(fmt.Sprintf("OAuth callback URL must bind a loopback host (localhost / 127.0.0.1 / [::1]), not %q: whoever else reached it could read the code of the login", host))
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}
