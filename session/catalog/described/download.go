package described

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/mcpb"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Host is where bundles are kept on this machine, and how they are fetched.
type Host struct {
	Bundles string // the folder that they are unpacked in
	Home    string // of the user
	Proxy   string // "" for that of the environment
}

// Machine is the host as a bundle sees it.
func (h Host) Machine() mcpb.Host { return mcpb.Host{Home: h.Home} }

const (
	maxDownload  = 1 << 30
	downloadTime = 15 * time.Minute
)

// Download keeps the bundle of a server below its digest; one that is there already is used if it still has that. got, where it is not
// nil, is told how much came, of how much (-1 where nobody said).
func (h Host) Download(ctx context.Context, server string, b *registry.Bundle, got func(n, of int64)) (path string, err error) {
	fail := func(message string, err error) (string, error) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &failure.Error{Kind: failure.Transport, Server: server, URL: mask.URL(b.URL), Message: message, Err: err, Next: "try again later, or choose another way to run it"}
	}
	dir := filepath.Join(h.Bundles, "downloads")
	if path = filepath.Join(dir, b.SHA256+".mcpb"); digestOf(path) == b.SHA256 {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	n, err := transport.NewNetwork(config.Server{URL: b.URL, Proxy: h.Proxy})
	if err != nil {
		return "", err
	}
	client := n.Documents()
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > 5 || req.URL.Scheme != "https" && n.URL().Scheme == "https" || req.URL.User != nil || !n.MayLeadTo(req.URL) {
			return fmt.Errorf("it leads to %s", text.Clip(req.URL.Host, 100))
		}
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, b.URL, nil)
	if err != nil {
		return fail("the URL of the bundle is wrong", err)
	}
	req.Header.Set("User-Agent", "mcphud")
	resp, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fail("the bundle cannot be downloaded: "+text.Clip(mask.Text(err.Error()), 300), err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fail("the bundle cannot be downloaded: "+resp.Status, nil)
	}
	tmp, err := os.CreateTemp(dir, ".download-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // which is there no more once it is renamed
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(tmp, sum, &counter{got, 0, resp.ContentLength}), io.LimitReader(resp.Body, maxDownload+1))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fail("the download ended early: "+text.Clip(err.Error(), 300), err)
	}
	if size > maxDownload {
		return fail("the bundle has more than "+text.Bytes(maxDownload), nil)
	}
	if is := hex.EncodeToString(sum.Sum(nil)); is != b.SHA256 {
		return "", &failure.Error{
			Kind: failure.Protocol, Server: server, URL: mask.URL(b.URL), Message: "the bundle is not the one that was published: its SHA-256 is " + is + ", not " + b.SHA256,
			Next: "do not use it; tell its publisher",
		}
	}
	return path, files.Rename(tmp.Name(), path)
}

// digestOf is the SHA-256 of a file, "" where it cannot be read.
func digestOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if errors.Join(err, f.Close()) != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// counter tells how much was written to it.
type counter struct {
	tell  func(n, of int64)
	n, of int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	if c.tell != nil {
		c.tell(c.n, c.of)
	}
	return len(b), nil
}
