// Package browser is what web pages get from the router: MCPBrowserClient.js, a client for agents without dependencies, and
// a page at / that lists the agents, calls their tools with it, and talks with those that can be asked.
package browser

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"
)

//go:embed files
var files embed.FS

// policy is the Content-Security-Policy of everything: nothing comes from elsewhere, no page may frame this one, and text
// never becomes markup. Results may have pictures and sounds, which are part of the page then.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; media-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Agent is one that the page offers; the client's baseUrl is /mcps/ and its Name.
type Agent struct {
	Name  string `json:"name"`
	State string `json:"state,omitempty"` // shown as it is, such as "ok"
}

// Options configures the page.
type Options struct {
	// Agents are those that the sender of the request may see, in the order of the page.
	Agents func(*http.Request) []Agent
}

// Routes are the handlers by path, for GET and HEAD. They do not check Host and Origin; listen.Guard does.
func Routes(o Options) map[string]http.Handler {
	// The client is cached for five minutes because pages elsewhere in a stack load it with each view; the page's own
	// files must fit each other, so that they are asked for each time and mostly not sent.
	const client, own = "public, max-age=300", "no-cache"
	return map[string]http.Handler{
		"/":                    file("page.html", "text/html; charset=utf-8", own),
		"/browser/page.js":     file("page.js", "application/javascript", own),
		"/browser/chat.js":     file("chat.js", "application/javascript", own),
		"/browser/form.js":     file("form.js", "application/javascript", own),
		"/browser/page.css":    file("page.css", "text/css; charset=utf-8", own),
		"/MCPBrowserClient.js": file("MCPBrowserClient.js", "application/javascript", client),
		"/agents.json":         protect(agents(o.Agents)),
	}
}

// file serves one of the embedded files.
func file(name, kind, cache string) http.Handler {
	content, err := files.ReadFile(path.Join("files", name))
	if err != nil {
		panic(fmt.Sprintf("browser: %s is not in the binary: %v", name, err)) // decided when the program was built
	}
	tag := fmt.Sprintf(`"%.16x"`, sha256.Sum256(content))
	return protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", cache)
		h.Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
}

// agents answers {"agents":[{"name", "state"}]}.
func agents(list func(*http.Request) []Agent) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := list(r)
		if all == nil {
			all = []Agent{}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(map[string][]Agent{"agents": all}) // a client that is gone needs no answer
	})
}

// protect refuses other methods, and sets the headers that keep the page to itself.
func protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			h.Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusMethodNotAllowed)
			_, _ = io.WriteString(w, `{"error":"method_not_allowed"}`) // a client that is gone needs no answer
			return
		}
		next.ServeHTTP(w, r)
	})
}
