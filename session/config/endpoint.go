package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// NoProxy is the Server.Proxy of a server that is reached without one.
const NoProxy = "none"

// socketPath is the path of requests over a Unix socket whose URL has none.
const socketPath = "/mcp"

// Endpoint is where the requests to a server's URL go: an http or https URL, also where that of the server is one of a
// WebSocket, and the Unix socket that they go into, "" for the network. The error says what is wrong with the URL, without
// repeating it.
//
// The URL of a socket is unix:///run/server.sock:/mcp, or http+unix://%2Frun%2Fserver.sock/mcp.
func Endpoint(raw string) (u *url.URL, socket string, err error) {
	rest, colon := strings.CutPrefix(raw, "unix://")
	escaped, plus := strings.CutPrefix(raw, "http+unix://")
	switch {
	case colon:
		path := ""
		if i := strings.Index(rest, ":/"); i > 0 && !drive(rest[:i]) {
			rest, path = rest[:i], rest[i+1:]
		}
		return ofSocket(strings.TrimPrefix(rest, "localhost"), path)
	case plus:
		name, path, found := strings.Cut(escaped, "/")
		if found {
			path = "/" + path
		}
		return ofSocket(name, path)
	}
	if u, err = url.Parse(raw); err != nil {
		if ue := (*url.Error)(nil); errors.As(err, &ue) {
			err = ue.Err // without the URL, which may hold a password
		}
		return nil, "", fmt.Errorf("is not a URL: %w", err)
	}
	if u.Scheme = schemes[u.Scheme].requests; u.Scheme == "" {
		return nil, "", errors.New("does not start with http:// or https://")
	}
	if u.Hostname() == "" {
		return nil, "", errors.New("has no host")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, "", nil
}

// drive reports whether a text is how a path begins on Windows.
func drive(s string) bool {
	s = strings.TrimPrefix(s, "/")
	return len(s) == 1 && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
}

func ofSocket(name, path string) (*url.URL, string, error) {
	socket, err := url.PathUnescape(name)
	if err != nil {
		return nil, "", fmt.Errorf("is not a URL: %w", err)
	}
	if len(socket) > 3 && drive(socket[:2]) && socket[2] == ':' {
		socket = socket[1:]
	}
	if !strings.HasPrefix(socket, "/") && !filepath.IsAbs(socket) || strings.ContainsRune(socket, 0) {
		return nil, "", errors.New("has no absolute path of a socket; write unix:///run/server.sock:/mcp")
	}
	if path == "" {
		path = socketPath
	}
	u, err := url.Parse("http://localhost" + path)
	if err != nil {
		return nil, "", errors.New("has a path behind the socket that is none")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, filepath.FromSlash(socket), nil
}

// URLName is what a server is called that has nothing but a URL: its host, or the file of its socket.
func URLName(raw string) string {
	u, socket, err := Endpoint(raw)
	switch {
	case err != nil:
		return ""
	case socket != "":
		return strings.TrimSuffix(filepath.Base(socket), ".sock")
	}
	return u.Host
}

// Unverified reports whether nobody vouches for the server at the URL.
func (s Server) Unverified() bool {
	u, _, err := Endpoint(s.URL)
	return s.Insecure && err == nil && u.Scheme == "https"
}

// CheckProxy says why a text cannot be Server.Proxy. The error does not repeat it: there may be a password in it.
func CheckProxy(text string) error {
	if text == NoProxy || text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return errors.New("is not the URL of a proxy; write http://host:port, https://…, socks5://… or none")
	}
	return nil
}

// checkNetwork refuses settings of the network that cannot hold together.
func (s Server) checkNetwork() error {
	switch {
	case s.Insecure && s.CA != "":
		return errors.New("ca and insecure contradict each other: with insecure no certificate is checked")
	case s.ClientKey != "" && s.ClientCert == "":
		return errors.New("client_key is of no use without client_cert")
	}
	return nil
}
