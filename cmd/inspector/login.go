package inspector

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
)

// defaultCallback is where browsers come back to.
const defaultCallback = "http://127.0.0.1:6276/oauth/callback"

// Stored says whether the stored login of --server-url is to be used; without a URL that is an error.
func (r *Request) Stored() (bool, error) {
	if r.UseStoredAuth && r.ServerURL == "" {
		return false, fail("--use-stored-auth requires --server-url")
	}
	return r.UseStoredAuth, nil
}

// NoLogin is the error of a server that no login is stored for. where says where logins are kept.
func (r *Request) NoLogin(where string) error {
	return &Error{Exit: ExitAuth, Code: "no_stored_token", URL: r.ServerURL, Message: "No stored OAuth token for " + r.ServerURL + " in " + where + ". Log in first: mcphud auth login " + r.ServerURL}
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
