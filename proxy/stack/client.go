package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcphud/mcphud/session/certs"
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

// pageURL is the URL of a page of the server whose endpoint is at the URL at.
func pageURL(at, path string) (string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String(), nil
}

// checkPage requests a page; every status except 200 is an error.
func checkPage(ctx context.Context, c *http.Client, at, path string) (status int, err error) {
	resp, err := request(ctx, c, at, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxPage)) // so that the connection is reused
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, fmt.Errorf("%s returned %s", path, resp.Status)
	}
	return resp.StatusCode, nil
}

// readPage returns the body of a page, nil if it cannot be read.
func readPage(ctx context.Context, c *http.Client, at, path string) []byte {
	resp, err := request(ctx, c, at, path)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return body
}

func request(ctx context.Context, c *http.Client, at, path string) (*http.Response, error) {
	to, err := pageURL(at, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}
