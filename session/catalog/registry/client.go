package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Official is the registry that is asked unless another one is named.
const Official = "https://registry.modelcontextprotocol.io"

// Bounds of what a registry may send.
const (
	maxPage      = 16 << 20 // bytes of one answer
	maxPages     = 1000
	maxEntries   = 60_000
	maxList      = 96 << 20 // bytes of all pages
	pageSize     = 100
	maxRedirects = 5
	timeout      = 30 * time.Second // of one request
	maxCursor    = 4 << 10          // bytes
)

// Client asks a registry that speaks version 0.1 of the API. Safe for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
}

// Open is a client of the registry at a base URL, which may have a path, reached as a server there would be: through its proxy,
// with its certificates. Requests go through via; nil is the network. Nothing is sent yet.
func Open(at config.Server, via http.RoundTripper) (*Client, error) {
	base := at.URL
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("%q is not the http URL of a registry", mask.URL(text.Clip(base, 200)))}
	}
	if u.Scheme == "http" && listen.ReachOf(u) == listen.Anywhere {
		return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("%q is not encrypted: what a registry says decides what runs", mask.URL(u.String())), Next: "give its https URL"}
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/v0.1"), "/")
	limit := listen.ReachOf(u)
	if via == nil {
		if via, err = reach(at); err != nil {
			return nil, err
		}
	}
	c := &Client{base: u, http: &http.Client{Transport: via, Timeout: timeout}}
	c.http.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("more than %d redirects", maxRedirects)
		case req.URL.Scheme != "https" && (req.URL.Scheme != "http" || u.Scheme == "https"):
			return fmt.Errorf("it redirects to %q, which is not encrypted", text.Clip(req.URL.Host, 100))
		case req.URL.User != nil || listen.ReachOf(req.URL) < limit:
			return fmt.Errorf("it redirects to %s, a program of this machine or its network", text.Clip(req.URL.Host, 100))
		}
		return nil
	}
	return c, nil
}

// network keeps connections to the registry; whoever it redirects to must be as far away as itself, whatever the name stands for.
type network struct {
	*http.Transport
	own    *url.URL
	others http.RoundTripper
}

func reach(at config.Server) (http.RoundTripper, error) {
	n, err := transport.NewNetwork(at)
	if err != nil {
		return nil, err
	}
	t := n.Transport(n.URL(), (&net.Dialer{Timeout: timeout}).DialContext)
	t.TLSHandshakeTimeout, t.MaxResponseHeaderBytes, t.MaxIdleConnsPerHost, t.IdleConnTimeout, t.ForceAttemptHTTP2 = timeout, 256<<10, 2, timeout, true
	return network{t, n.URL(), n.Documents().Transport}, nil
}

func (n network) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == n.own.Scheme && strings.EqualFold(req.URL.Host, n.own.Host) {
		return n.Transport.RoundTrip(req)
	}
	return n.others.RoundTrip(req)
}

// Close ends connections that are kept for the next request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Base is the URL of the registry.
func (c *Client) Base() string { return mask.URL(c.base.String()) }

// Scope is what the secrets of a server are kept under: its name in this registry, since anybody may call something by that name
// elsewhere.
func (c *Client) Scope(name string) string { return "registry:" + c.Base() + "#" + name }

// FileScope is what the secrets of a server are kept under that a file describes, by any name: this very file.
func FileScope(b []byte) string { return fmt.Sprintf("server.json:%x", sha256.Sum256(b)) }

// Entry is a version of a server as a registry lists it.
type Entry struct {
	*Document
	Status    string    // active, deprecated or deleted
	Message   string    // why it has that status
	Published time.Time // zero if it is not said
	Updated   time.Time
	Latest    bool
	Raw       json.RawMessage // as it was sent: {server, _meta}
}

// official is what a registry adds to a description.
type official struct {
	Status    string    `json:"status"`
	Message   string    `json:"statusMessage"`
	Published time.Time `json:"publishedAt"`
	Updated   time.Time `json:"updatedAt"`
	Latest    bool      `json:"isLatest"`
}

// ParseEntry reads one element of a list.
func ParseEntry(raw json.RawMessage) (Entry, error) {
	e := Entry{Raw: raw}
	var err error
	if e.Document, err = Parse(raw); err != nil {
		return e, err
	}
	var wrapped struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	o := official{}
	if json.Unmarshal(raw, &wrapped) == nil {
		_ = json.Unmarshal(wrapped.Meta["io.modelcontextprotocol.registry/official"], &o) // whatever is not as it should be says nothing
	}
	e.Status, e.Message, e.Published, e.Updated, e.Latest = o.Status, o.Message, o.Published, o.Updated, o.Latest
	if e.Status == "" {
		e.Status = e.Document.Status
	}
	if e.Updated.IsZero() {
		e.Updated = e.Published
	}
	return e, nil
}

// Query is what to list.
type Query struct {
	Search       string
	Version      string // "latest" for the latest of each server, "" for all
	UpdatedSince time.Time
	Deleted      bool // deleted servers too
	// Most is how many entries are looked at, whatever else the registry has; 0 for as many as a whole list may have.
	Most int
}

func (q Query) values() url.Values {
	v := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for key, s := range map[string]string{"search": q.Search, "version": q.Version} {
		if s != "" {
			v.Set(key, s)
		}
	}
	if !q.UpdatedSince.IsZero() {
		v.Set("updated_since", q.UpdatedSince.UTC().Format(time.RFC3339))
	}
	if q.Deleted {
		v.Set("include_deleted", "true")
	}
	return v
}

// List gives the entries of a query, page by page, to each until that says false. bad is how many could not be read.
func (c *Client) List(ctx context.Context, q Query, each func([]Entry) bool) (bad int, err error) {
	v := q.values()
	seen := map[string]bool{}
	total, size, most := 0, 0, min(cmp.Or(q.Most, maxEntries), maxEntries)
	for range maxPages {
		var page struct {
			Servers  []json.RawMessage `json:"servers"`
			Metadata struct {
				Next  string `json:"nextCursor"`
				Older string `json:"next_cursor"`
			} `json:"metadata"`
		}
		if err := c.get(ctx, "servers", v, &page); err != nil {
			return bad, err
		}
		entries := make([]Entry, 0, len(page.Servers))
		for _, raw := range page.Servers {
			size += len(raw)
			e, err := ParseEntry(raw)
			if err != nil {
				bad++
				continue
			}
			entries = append(entries, e)
		}
		switch total += len(page.Servers); {
		case total > most:
			return bad, c.registryError(fmt.Sprintf("it lists more than %d servers", most))
		case size > maxList:
			return bad, c.registryError("it lists more than " + text.Bytes(maxList))
		}
		if !each(entries) {
			return bad, nil
		}
		next := page.Metadata.Next
		if next == "" {
			next = page.Metadata.Older
		}
		switch {
		case next == "":
			return bad, nil
		case len(next) > maxCursor:
			return bad, c.registryError("its cursor is longer than " + text.Bytes(maxCursor))
		case seen[next]:
			return bad, c.registryError("its list never ends: a cursor comes again")
		case len(page.Servers) == 0:
			return bad, c.registryError("its list goes on after an empty page")
		}
		seen[next] = true
		v.Set("cursor", next)
	}
	return bad, c.registryError(fmt.Sprintf("its list has more than %d pages", maxPages))
}

// Version is one version of a server; "" for the latest.
func (c *Client) Version(ctx context.Context, name, version string) (Entry, error) {
	if version == "" {
		version = "latest"
	}
	var raw json.RawMessage
	if err := c.get(ctx, "servers/"+url.PathEscape(name)+"/versions/"+url.PathEscape(version), url.Values{"include_deleted": {"true"}}, &raw); err != nil {
		return Entry{}, err
	}
	e, err := ParseEntry(raw)
	if err != nil {
		return e, c.registryError(fmt.Sprintf("its description of %s %v", text.Clip(name, 100), err))
	}
	if e.Name != name || version != "latest" && e.Document.Version != version {
		return e, c.registryError(fmt.Sprintf("asked for %s %s, it describes %s %s", text.Clip(name, 100), text.Clip(version, 40), text.Clip(e.Name, 100), text.Clip(e.Document.Version, 40)))
	}
	return e, nil
}

// Versions are all versions of a server, in the order of the registry: the newest first.
func (c *Client) Versions(ctx context.Context, name string) ([]Entry, error) {
	var page struct {
		Servers []json.RawMessage `json:"servers"`
	}
	if err := c.get(ctx, "servers/"+url.PathEscape(name)+"/versions", url.Values{"include_deleted": {"true"}}, &page); err != nil {
		return nil, err
	}
	var out []Entry
	for _, raw := range page.Servers {
		if e, err := ParseEntry(raw); err == nil && e.Name == name {
			out = append(out, e)
		}
	}
	return out, nil
}

// get fetches one document.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	at := c.base.String() + "/v0.1/" + path + "?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return c.unreachableError(err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.unreachableError(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return c.unreachableError(err)
	case resp.StatusCode == http.StatusNotFound:
		return &failure.Error{Kind: failure.NotFound, Status: resp.StatusCode, Message: "the registry " + c.base.Host + " has no such server or version"}
	case resp.StatusCode != http.StatusOK:
		return &failure.Error{Kind: failure.Transport, Status: resp.StatusCode, URL: c.Base(), Message: fmt.Sprintf("the registry %s answered %s", c.base.Host, text.Clip(resp.Status, 60))}
	case len(b) > maxPage:
		return c.registryError("one answer has more than " + text.Bytes(maxPage))
	}
	if err := checkDepth(b); err != nil {
		return c.registryError("an answer " + err.Error())
	}
	if err := json.Unmarshal(b, into); err != nil {
		return c.registryError("an answer is not the JSON that it should be")
	}
	return nil
}

func (c *Client) unreachableError(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // the URL is said already
	}
	return &failure.Error{Kind: failure.Transport, URL: c.Base(), Message: "the registry " + c.base.Host + " cannot be reached: " + mask.Text(err.Error()), Err: err}
}

func (c *Client) registryError(why string) error {
	return &failure.Error{Kind: failure.Protocol, URL: c.Base(), Message: "the registry " + c.base.Host + " cannot be used: " + why}
}
