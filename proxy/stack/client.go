package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcphud/mcphud/session/wire/certs"
)

// newClient returns a client for health checks of a process of ours on this machine. cert is the file of its certificate, ""
// for HTTP; that one is trusted whoever signed it and for whatever names. An unusable file is reported by the process itself.
func newClient(cert string) *http.Client {
	// HTTP proxies of the environment must not come between a process and its supervisor.
	t := &http.Transport{MaxIdleConnsPerHost: 2}
	if trust, err := certs.Open(cert); err == nil {
		t.TLSClientConfig = trust.Client(loopback)
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// loopback is where agents and the router of a stack listen.
const loopback = "127.0.0.1"

// get requests a page of the server whose endpoint is at the URL at, with the bearer token that it requires, "" for none. Every
// status except 200 is an error.
func get(ctx context.Context, c *http.Client, at, path, token string) (status int, body []byte, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String(), nil)
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxPage)) // also so that the connection is reused
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s returned %s", path, resp.Status)
	}
	return resp.StatusCode, body, err
}
