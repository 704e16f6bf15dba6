// Package registrytest is an MCP registry on loopback for tests: version 0.1 of the API over descriptions that it is given.
package registrytest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// Registry serves what was put into it.
type Registry struct {
	URL string

	mu       sync.Mutex
	before   func(http.ResponseWriter, *http.Request) bool
	all      []item
	requests []string
}

type item struct {
	name, version, text string
	status, message     string
	at                  time.Time
	latest              bool
	server              json.RawMessage
}

// Start is an empty registry that ends with the test.
func Start(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	r.URL = srv.URL
	return r
}

// Put publishes a server.json: as the latest version of its server.
func (r *Registry) Put(t testing.TB, server string) {
	t.Helper()
	var d struct {
		Name, Version, Description string
		Detail                     struct{ Version string } `json:"version_detail"`
	}
	require.NoError(t, json.Unmarshal([]byte(server), &d))
	if d.Version == "" {
		d.Version = d.Detail.Version
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(i item) bool { return i.name == d.Name && i.version == d.Version })
	for i := range r.all {
		if r.all[i].name == d.Name {
			r.all[i].latest = false
		}
	}
	r.all = append(r.all, item{
		name: d.Name, version: d.Version, text: strings.ToLower(d.Name + " " + d.Description), status: "active", at: time.Now().UTC(), latest: true, server: json.RawMessage(server),
	})
}

// Status gives all versions of a server a status.
func (r *Registry) Status(name, status, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.all {
		if r.all[i].name == name {
			r.all[i].status, r.all[i].message, r.all[i].at = status, message, time.Now().UTC()
		}
	}
}

// Requests are the paths and queries that were asked for so far.
func (r *Registry) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Before makes f see each request first; true says that it was answered. Nil takes it away.
func (r *Registry) Before(f func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = f
}

// ServeHTTP answers as version 0.1 of the API does.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.requests = append(r.requests, req.URL.RequestURI())
	all, before := slices.Clone(r.all), r.before
	r.mu.Unlock()
	if before != nil && before(w, req) {
		return
	}
	path, ok := strings.CutPrefix(req.URL.EscapedPath(), "/v0.1/servers")
	if !ok {
		http.NotFound(w, req)
		return
	}
	q := req.URL.Query()
	if path == "" {
		list(w, q, all)
		return
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name, _ = url.PathUnescape(name)
	of := slices.DeleteFunc(all, func(i item) bool { return i.name != name })
	slices.Reverse(of) // the newest first
	version, one := strings.CutPrefix(rest, "versions/")
	version, _ = url.PathUnescape(version)
	switch {
	case len(of) == 0 || rest != "versions" && !one:
		fail(w)
	case !one:
		answer(w, of, "")
	default:
		for _, i := range of {
			if i.version == version || version == "latest" && i.latest {
				_ = json.NewEncoder(w).Encode(i.wrapped()) // the client may be gone
				return
			}
		}
		fail(w)
	}
}

func list(w http.ResponseWriter, q url.Values, all []item) {
	since, _ := time.Parse(time.RFC3339, q.Get("updated_since"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	if limit <= 0 {
		limit = 30
	}
	all = slices.DeleteFunc(all, func(i item) bool {
		return q.Get("version") == "latest" && !i.latest || i.at.Before(since) || !strings.Contains(i.text, strings.ToLower(q.Get("search"))) ||
			i.status == "deleted" && q.Get("include_deleted") != "true" && since.IsZero()
	})
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("cursor"), "after:"))
	from = min(from, len(all))
	next := ""
	if from+limit < len(all) {
		next = "after:" + strconv.Itoa(from+limit)
	}
	answer(w, all[from:min(from+limit, len(all))], next)
}

func answer(w http.ResponseWriter, items []item, next string) {
	servers := make([]any, len(items))
	for n, i := range items {
		servers[n] = i.wrapped()
	}
	metadata := map[string]any{"count": len(items)}
	if next != "" {
		metadata["nextCursor"] = next
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"servers": servers, "metadata": metadata}) // the client may be gone
}

func (i item) wrapped() any {
	return map[string]any{"server": i.server, "_meta": map[string]any{"io.modelcontextprotocol.registry/official": map[string]any{
		"status": i.status, "statusMessage": i.message, "publishedAt": i.at, "updatedAt": i.at, "isLatest": i.latest,
	}}}
}

func fail(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte(`{"title":"Not Found","status":404,"detail":"Server not found"}`))
}
