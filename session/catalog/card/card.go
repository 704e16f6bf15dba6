// Package card reads what a server's host publishes about it before anybody connects: server cards (SEP-2127), catalogs of them, and
// the older documents of .well-known; and compares them with what the server says itself.
//
// None of it is to be trusted: the documents are bounded, they lead nowhere that the server could not be asked to lead to, and whoever
// shows a text sanitises it first.
package card

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxBody    = 512 << 10
	maxHops    = 3
	maxEntries = 8 // of a catalog, that are read
	fetchTime  = 10 * time.Second
)

// mediaType is that of server cards.
const mediaType = "application/mcp-server-card+json"

// Document is one place where something can be published, and what is there.
type Document struct {
	URL    string // masked
	Kind   string // "server card", "catalog", "well-known", "card of the catalog"
	Status int    // of HTTP; 0 for no answer
	Found  bool
	Err    error // why nothing could be read, nil where there is nothing
	Claims
	Problems []string // what of it is against the specification
	Entries  int      // of a catalog: cards that it names
}

// String is the document in a line.
func (d Document) String() string {
	what := strings.TrimSpace(d.Kind + " " + d.Name + " " + d.Version)
	switch {
	case d.Err != nil:
		what = mask.Text(d.Err.Error())
	case !d.Found:
		what = "nothing"
	case d.Kind == "catalog":
		what = fmt.Sprintf("a catalog, server cards: %d", d.Entries)
	}
	return d.URL + ": " + what
}

// client is an http.Client that goes to no place nearer than the server.
type client struct {
	*http.Client
	server *url.URL
	card   string // where the server's own card is
}

// Fetch asks all places for documents about the server at a URL, and reads them. Without credentials: what is published is for
// everybody. via reaches the server, such as transport.Network.Documents; documents are in the order of the places, cards that a catalog
// names behind it.
func Fetch(ctx context.Context, via *http.Client, server *url.URL) []Document {
	c := &client{server: server}
	own := *via
	own.Jar = nil
	own.CheckRedirect = c.redirect
	c.Client = &own
	card := *server
	card.Path, card.RawPath, card.RawQuery, card.User = strings.TrimRight(server.Path, "/")+"/server-card", "", "", nil
	c.card = card.String()
	places := []struct{ kind, url string }{
		{"server card", c.card},
		{"well-known", c.at("/.well-known/mcp/server-card.json")},
		{"well-known", c.at("/.well-known/mcp.json")},
		{"catalog", c.at("/.well-known/ai-catalog.json")},
	}
	found := make([][]Document, len(places))
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() { found[i] = c.fetch(ctx, p.kind, p.url) })
	}
	wg.Wait()
	var all []Document
	for _, list := range found {
		all = append(all, list...)
	}
	return all
}

// at is a path of the server's host.
func (c *client) at(path string) string {
	return (&url.URL{Scheme: c.server.Scheme, Host: c.server.Host, Path: path}).String()
}

func (c *client) fetch(ctx context.Context, kind, at string) []Document {
	d := Document{URL: mask.URL(at), Kind: kind}
	body, status, problems, err := c.get(ctx, at)
	d.Status = status
	if err != nil || body == nil {
		d.Err = err
		return []Document{d}
	}
	if kind != "catalog" {
		d.Claims, d.Err = read(body)
		if d.Found = d.Err == nil; d.Found && (kind == "server card" || kind == OfCatalog) {
			d.Problems = append(problems, d.strict()...)
		}
		return []Document{d}
	}
	entries, err := catalog(body)
	d.Entries, d.Err, d.Found = len(entries), err, err == nil
	out := []Document{d}
	for i, e := range entries[:min(len(entries), maxEntries)] {
		switch {
		case e.Data != nil:
			x := Document{URL: fmt.Sprintf("%s#%d", mask.URL(at), i+1), Kind: OfCatalog}
			x.Claims, x.Err = read(e.Data)
			if x.Found = x.Err == nil; x.Found {
				x.Problems = x.strict()
			}
			out = append(out, x)
		default:
			to, err := c.server.Parse(e.URL)
			if err == nil && to.String() == c.card {
				continue // asked for already
			}
			if err == nil {
				err = c.checkURL(to)
			}
			if err != nil {
				out = append(out, Document{URL: text.Clip(mask.URL(e.URL), 200), Kind: OfCatalog, Err: err})
				continue
			}
			out = append(out, c.fetch(ctx, OfCatalog, to.String())...)
		}
	}
	return out
}

// OfCatalog is the Kind of a card that a catalog names, which may be about any server of the domain.
const OfCatalog = "card of the catalog"

// get fetches a document; the body is nil where there is none.
func (c *client) get(ctx context.Context, at string) (body []byte, status int, problems []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, 0, nil, errors.New("is not a URL")
	}
	req.Header.Set("Accept", mediaType+", application/json;q=0.9")
	req.Header.Set("User-Agent", "mcphud")
	resp, err := c.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", text.Duration(fetchTime))
		}
		var ue *url.Error
		for errors.As(err, &ue) { // its text repeats the URL
			err, ue = ue.Err, nil
		}
		return nil, 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return nil, resp.StatusCode, nil, errors.New("is not public: the server wants a login for it")
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone, resp.StatusCode == http.StatusMethodNotAllowed:
		return nil, resp.StatusCode, nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, resp.StatusCode, nil, fmt.Errorf("was answered with %d", resp.StatusCode)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/html" || kind == "text/event-stream" {
		return nil, resp.StatusCode, nil, nil // what a web site, or an MCP endpoint, answers to everything
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, resp.StatusCode, nil, fmt.Errorf("ended early: %w", err)
	case len(body) > maxBody:
		return nil, resp.StatusCode, nil, fmt.Errorf("has more than %s", text.Bytes(maxBody))
	case len(body) == 0:
		return nil, resp.StatusCode, nil, errors.New("is empty")
	}
	if kind != mediaType {
		problems = append(problems, fmt.Sprintf("it is sent as %q and not as %s", text.Clip(kind, 60), mediaType))
	}
	if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		problems = append(problems, "web pages cannot read it: Access-Control-Allow-Origin is not *")
	}
	return body, resp.StatusCode, problems, nil
}

func (c *client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxHops {
		return fmt.Errorf("redirects more than %d times", maxHops)
	}
	req.Header.Del("Referer")
	return c.checkURL(req.URL)
}

// checkURL refuses what a host has no business to send us to: programs of this machine or its network that are nearer than itself.
func (c *client) checkURL(to *url.URL) error {
	switch {
	case to.Scheme != "https" && to.Scheme != "http" || to.Host == "" || to.User != nil:
		return fmt.Errorf("leads to %q, which is not a plain http URL", text.Clip(mask.URL(to.String()), 200))
	case c.server.Scheme == "https" && to.Scheme != "https" && listen.ReachOf(to) == listen.Anywhere:
		return fmt.Errorf("leads from https to %s, which is not encrypted", text.Clip(to.Host, 200))
	case listen.ReachOf(to) < listen.ReachOf(c.server):
		return fmt.Errorf("leads to %s, a program of this machine or its network", text.Clip(to.Host, 200))
	}
	return nil
}
