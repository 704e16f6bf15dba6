package stack

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

// newClient makes the client that asks a process of ours how it is. With a file of a certificate it trusts exactly the one that
// is in there now, whoever signed it and for whatever names: the process is our own child, on this machine.
func newClient(cert string) *http.Client {
	// No proxy from the environment comes between a process and its supervisor.
	t := &http.Transport{MaxIdleConnsPerHost: 2, ResponseHeaderTimeout: lookTime}
	if leaf := leafOf(cert); leaf != nil {
		t.TLSClientConfig = &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, // VerifyConnection is stricter
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, leaf) {
					return errors.New("it has another certificate than the one in " + cert)
				}
				return nil
			},
		}
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// leafOf is the first certificate of a file, in DER; nil if there is none, which the process itself complains of.
func leafOf(file string) []byte {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil || block.Type == "CERTIFICATE" {
			if block == nil {
				return nil
			}
			return block.Bytes
		}
	}
}

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
