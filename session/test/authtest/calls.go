package authtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// Call is one request that a server got.
type Call struct {
	Method string
	Path   string
	Header http.Header
	Query  url.Values
	Form   url.Values     // of the body, where it is a form
	JSON   map[string]any // the body, where it is JSON
}

type recorder struct {
	mu  sync.Mutex
	all []Call
}

// around keeps each request, and looks into Knobs.Serve and Knobs.Clock first.
func (c *recorder) around(d *dial, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		call := Call{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Query: r.URL.Query()}
		if json.Unmarshal(body, &call.JSON) != nil {
			call.Form, _ = url.ParseQuery(string(body)) // a test that looks for a form says what it misses
		}
		c.mu.Lock()
		c.all = append(c.all, call)
		c.mu.Unlock()
		if serve := d.get().Serve[r.URL.Path]; serve != nil {
			serve(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (c *recorder) of(path string) (found []Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		if path == "" || one.Path == path {
			found = append(found, one)
		}
	}
	return found
}

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, doc map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // the client may be gone
}
