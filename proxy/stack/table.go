package stack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"sync"

	"github.com/mcphud/mcphud/session/base/files"
)

// table writes the routing.json of a stack, which holds secrets.
type table struct {
	file   *File
	path   string
	tokens tokens

	mu      sync.Mutex
	ports   map[string]int
	written bool // whether the file has the current ports
}

func newTable(f *File, dir string) *table {
	return &table{file: f, path: filepath.Join(dir, "routing.json"), tokens: makeTokens(f), ports: map[string]int{}}
}

// listening records the port of a process, and rewrites the file if it has another one.
func (t *table) listening(name string, port int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ports[name] != port {
		t.ports[name], t.written = port, false
	}
	if t.written || t.file.Router == nil {
		return nil
	}
	return t.write()
}

// port is where a process listens, 0 if that is not known.
func (t *table) port(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ports[name]
}

// waitReady is how long the router waits for an agent that is starting, by default.
const waitReady = "5s"

// routes returns all routes with the current ports.
func (t *table) routes() map[string]any {
	out := map[string]any{}
	if t.file.Router != nil {
		maps.Copy(out, t.file.Router.Routes)
	}
	for _, a := range t.file.Agents {
		if r, ok := out[a.Of].(map[string]any); ok && a.Of != a.Name {
			r["urls"] = append(r["urls"].([]string), t.replica(a))
			continue
		}
		r := map[string]any{"waitReady": waitReady}
		maps.Copy(r, a.Route)
		if a.Of == a.Name {
			r["hostPort"] = t.ports[a.Name]
		} else {
			r["urls"] = []string{t.replica(a)}
		}
		if token := t.token(a); token != "" && !ownCredentials(a.Route) {
			headers := map[string]any{"Authorization": "Bearer " + token}
			given, _ := r["headers"].(map[string]any)
			maps.Copy(headers, given)
			r["headers"] = headers
		}
		out[a.Of] = r
	}
	for _, s := range t.file.Servers {
		r := map[string]any{}
		maps.Copy(r, s.Route)
		if s.URL != "" {
			r["url"] = s.URL
			if s.Command != "" && r["waitReady"] == nil {
				r["waitReady"] = waitReady
			}
			out[s.Name] = r
			continue
		}
		r["command"], r["cwd"] = s.Command, t.file.folder()
		if s.Dir != "" {
			r["cwd"] = s.Dir
		}
		if len(s.Args) > 0 {
			r["args"] = s.Args
		}
		if len(s.Env) > 0 {
			r["env"] = s.Env
		}
		if s.Sandbox != nil {
			r["sandbox"] = s.Sandbox
		}
		out[s.Name] = r
	}
	return out
}

// token is what an agent requires of its callers, "" if it does not: the one of the file, or the one that was made.
func (t *table) token(a AgentEntry) string { return cmp.Or(a.Env[tokenEnv], t.tokens[a.Of]) }

// replica is where one of several processes of an agent listens.
func (t *table) replica(a AgentEntry) string {
	return fmt.Sprintf("http://%s:%d/mcp", loopback, t.ports[a.Name])
}

// write replaces the file. The caller holds t.mu, or nobody else uses t yet.
func (t *table) write() error {
	all := map[string]any{"routes": t.routes()}
	if t.file.Router != nil && t.file.Router.Tokens != "" {
		all["tokens"] = t.file.Router.Tokens
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the routes: %w", err)
	}
	if err := files.Write(t.path, append(text, '\n')); err != nil {
		return fmt.Errorf("cannot write the routes: %w", err)
	}
	t.written = true
	return nil
}
