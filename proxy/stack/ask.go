package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcphud/mcphud/session/certs"
)

// newClient makes the client that asks a process of ours, which is on this machine, how it is. With a file of a certificate it
// trusts the one that is in there, whoever signed it and for whatever names. What is wrong with the file the process itself
// complains of.
func newClient(cert string) *http.Client {
	// No proxy from the environment comes between a process and its supervisor.
	t := &http.Transport{MaxIdleConnsPerHost: 2, ResponseHeaderTimeout: lookTime}
	if trust, err := certs.Open(cert); err == nil {
		t.TLSClientConfig = trust.Client(loopback)
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// loopback is where agents and the router of a stack listen.
const loopback = "127.0.0.1"

// page is the URL of a page of the server whose endpoint is at.
func page(at, path string) (string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String(), nil
}

// get asks for a page; every status but 200 is an error.
func get(ctx context.Context, c *http.Client, at, path string) (status int, err error) {
	resp, err := ask(ctx, c, at, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxFigures)) // so that the connection is used again
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, fmt.Errorf("%s answers %s", path, resp.Status)
	}
	return resp.StatusCode, nil
}

// read is a page's body, nil if there is none.
func read(ctx context.Context, c *http.Client, at, path string) []byte {
	resp, err := ask(ctx, c, at, path)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFigures))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return body
}

func ask(ctx context.Context, c *http.Client, at, path string) (*http.Response, error) {
	to, err := page(at, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}
