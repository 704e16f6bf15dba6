package stack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
)

// FileName is the name of the stack file that is used by default.
const FileName = "mcphud.stack.yaml"

// File is a stack file, validated, with variables expanded.
//
//	version: 1
//	agents:                  # processes of mcphud agent, by the name of their route
//	  docs:
//	    port: 7000           # default: 7000, 7001 … or a free one
//	    replicas: 2          # docs-1 and docs-2, at ports from 7000 on, behind one route; default: one process, named docs
//	    profile: demo        # and all other settings of agent.yaml, such as kb, root, concurrency, rateLimit
//	    env: {AGENT_TOKEN: "${DOCS_TOKEN}"}
//	    route: {timeout: 60s, tools: [search_knowledge_base]}
//	servers:                 # anything else that the router serves
//	  files:                 # a stdio server, which the router starts for each session
//	    command: npx
//	    args: [-y, "@modelcontextprotocol/server-filesystem", .]
//	    session: shared      # and other members of a route in routing.json
//	  web:                   # an HTTP server that is started and supervised
//	    command: ./web
//	    url: http://127.0.0.1:9000/mcp
//	    cwd: ../web
//	  elsewhere: {url: "https://mcp.example/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
//	auth: off                # agents need no token; without it the stack makes one for each, which the router has
//	router: {port: 8088, tokens: tokens.json, audit: audit.jsonl, tlsCert: cert.pem, tlsKey: key.pem}   # router: false for none
//
// Paths are relative to the file. ${NAME} and ${NAME:-default} in a value stand for variables of the environment.
type File struct {
	Path     string // absolute, "" for the built-in stack
	Digest   string // of the text, for trust
	Agents   []AgentEntry
	Servers  []ServerEntry
	Router   *RouterEntry // nil for none
	Open     bool         // auth: off, agents take calls of everybody on this machine
	Warnings []config.Warning

	expanded map[string]*config.Variables // by the name of a process, server or route, and routerName
}

// AgentEntry is an agent of a File.
type AgentEntry struct {
	Name  string // of the process
	Of    string // of its route, which replicas share
	Line  int
	Port  int         // 0 if the file has none
	Flags [][2]string // name without dashes, and value, of `mcphud agent`
	Env   map[string]string
	Route map[string]any // members of its route in routing.json, without the address
}

// ServerEntry is a server of a File. With a command and without a URL, the router starts it.
type ServerEntry struct {
	Name    string
	Line    int
	Command string
	Args    []string
	Env     map[string]string
	Dir     string // absolute, "" for the file's own folder
	Sandbox *confine.Rules
	URL     string
	Route   map[string]any

	port int // the file gives instead of a URL, 0 if it does not
}

// listens is where a server listens that the stack starts: one that the router does not serve, and that has a port only, has no path there.
func (e *ServerEntry) listens() string {
	if e.port != 0 && !e.Routed() {
		return fmt.Sprintf("tcp://127.0.0.1:%d", e.port)
	}
	return e.URL
}

// stackStarts reports whether the stack starts the server; the router starts or contacts the others.
func (e *ServerEntry) stackStarts() bool { return e.Command != "" && e.URL != "" }

// Routed reports whether the router serves it. One that is disabled there is only started, such as a database.
func (e *ServerEntry) Routed() bool { return valueText(e.Route["disabled"]) != "true" }

// routerStarts reports whether the router starts it, on the first request that it is for.
func (e *ServerEntry) routerStarts() bool { return e.Command != "" && e.URL == "" && e.Routed() }

// Started names the servers that the router starts.
func (f *File) Started() (names []string) {
	for _, e := range f.Servers {
		if e.routerStarts() {
			names = append(names, e.Name)
		}
	}
	return names
}

// RouterEntry is the router of a File.
type RouterEntry struct {
	Port   int // 0 if the file has none
	Tokens string
	Flags  [][2]string
	Env    map[string]string
	Routes map[string]any // further routes, as routing.json has them
}

// Scheme is the scheme of the router's URL, http or https.
func (e *RouterEntry) Scheme() string {
	if e.cert() != "" {
		return "https"
	}
	return "http"
}

// cert is the file with the router's TLS certificate, "" for HTTP.
func (e *RouterEntry) cert() string { return e.flag(routerFiles[certKey]) }

// flag is the value of a flag, "" if it is not set.
func (e *RouterEntry) flag(name string) string { return valueOf(e.Flags, name) }

func (a *AgentEntry) flag(name string) string { return valueOf(a.Flags, name) }

func valueOf(flags [][2]string, name string) string {
	for _, f := range flags {
		if f[0] == name {
			return f[1]
		}
	}
	return ""
}

// Checker validates a setting of an agent: it returns the flag for a key of agent.yaml, or what is wrong with an unknown key,
// or an error for an invalid value.
type Checker func(key, value string) (flag, unknown string, err error)

// Source reads stack files.
type Source struct {
	Lookup func(string) (string, bool) // of variables, such as os.LookupEnv
	Agent  Checker
}

// Load reads a stack file. Unknown keys become warnings. An invalid file is a config.Warning as an error, with its position.
func (s Source) Load(path string) (*File, error) {
	tree, err := config.ReadTree(path)
	if err != nil {
		var w config.Warning
		if errors.As(err, &w) {
			return nil, err
		}
		if pe := new(fs.PathError); errors.As(err, &pe) {
			err = pe.Err // the message below has the path
		}
		return nil, fmt.Errorf("cannot read the stack file %s: %w", path, err)
	}
	return s.parse(tree)
}

func (s Source) parse(tree config.Tree) (*File, error) {
	sum := sha256.Sum256(tree.Raw)
	r := &reader{Source: s, f: &File{
		Path: tree.File, Digest: hex.EncodeToString(sum[:]), Warnings: tree.Warnings, Router: &RouterEntry{}, expanded: map[string]*config.Variables{},
	}}
	if tree.Root.Shape == config.Null {
		r.fail(tree.Root, "is empty; write for example agents: {one: {}}")
	}
	r.object(tree.Root, "the file", map[string]func(config.Node){
		"$schema": func(config.Node) {}, // for editors
		"version": func(n config.Node) {
			if n.Text != "1" {
				r.fail(n, "version is %s; this mcphud reads version 1", n.Text)
			}
		},
		"agents":  func(n config.Node) { r.readNamed(n, "agents", r.agent) },
		"servers": func(n config.Node) { r.readNamed(n, "servers", r.server) },
		"router":  func(n config.Node) { r.within(routerName, func() { r.router(n) }) },
		"auth":    r.auth,
	})
	if r.err == nil && len(r.f.Agents)+len(r.f.Servers) == 0 && (r.f.Router == nil || len(r.f.Router.Routes) == 0) {
		r.fail(tree.Root, "names neither agents nor servers; write for example agents: {one: {}}")
	}
	if r.f.Router != nil {
		for name := range r.f.Router.Routes {
			if r.hasName(name) {
				r.fail(tree.Root, "router.routes.%s has the name of an agent or server; choose another", name)
			}
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.f, nil
}

// reader builds a File until the first error.
type reader struct {
	Source
	f     *File
	entry string // being read; "" outside of agents, servers and the router
	err   error
}

// within calls f to read an entry.
func (r *reader) within(entry string, f func()) {
	before := r.entry
	r.entry = entry
	f()
	r.entry = before
}

func (r *reader) fail(at config.Node, format string, args ...any) {
	if r.err == nil {
		r.err = config.Warning{File: r.f.Path, Line: at.Line, Col: at.Col, Message: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) warn(line, col int, format string, args ...any) {
	const most = 50
	if len(r.f.Warnings) < most {
		r.f.Warnings = append(r.f.Warnings, config.Warning{File: r.f.Path, Line: line, Col: col, Message: fmt.Sprintf(format, args...)})
	}
}

// object reads an object with known members.
func (r *reader) object(n config.Node, what string, known map[string]func(config.Node)) {
	r.members(n, what, func(m config.Member) {
		if set, ok := known[m.Key]; ok {
			set(m.Value)
			return
		}
		r.warn(m.Line, m.Col, "unknown key %.80q of %s is ignored", m.Key, what)
	})
}

func (r *reader) members(n config.Node, what string, f func(config.Member)) {
	if n.Shape != config.Object && n.Shape != config.Null {
		r.fail(n, "%s is %s; it must be an object", what, n.Shape)
	}
	for _, m := range n.Members {
		if r.err != nil {
			return
		}
		if m.Value.Line == 0 { // null has no place of its own
			m.Value.Line, m.Value.Col = m.Line, m.Col
		}
		f(m)
	}
}

// readNamed reads the entries of agents or servers, whose names are names of routes.
func (r *reader) readNamed(n config.Node, what string, f func(string, config.Node)) {
	r.members(n, what, func(m config.Member) {
		at := config.Node{Line: m.Line, Col: m.Col}
		switch {
		case !config.ValidName(m.Key):
			r.fail(at, "%.80q is not a valid name: %s", m.Key, config.NameRule)
		case m.Key == routerName:
			r.fail(at, "%q is the router's own name; choose another", m.Key)
		case r.hasName(m.Key):
			r.fail(at, "%q is the name of an agent and of a server; choose another", m.Key)
		default:
			m.Value.Line = max(m.Value.Line, m.Line)
			r.within(m.Key, func() { f(m.Key, m.Value) })
		}
	})
}

// auth reads whether agents need tokens.
func (r *reader) auth(n config.Node) {
	switch s := r.text(n, "auth"); s {
	case "on", "true":
	case "off", "false":
		r.f.Open = true
	default:
		r.fail(n, "auth is %.80q; write off for agents that need no token, or leave it out", s)
	}
}

// routerName is the name of the router among the processes.
const routerName = "router"

func (r *reader) hasName(name string) bool {
	for _, a := range r.f.Agents {
		if a.Name == name || a.Of == name {
			return true
		}
	}
	for _, s := range r.f.Servers {
		if s.Name == name {
			return true
		}
	}
	return false
}

// text is a string or scalar with its variables expanded.
func (r *reader) text(n config.Node, what string) string {
	if n.Shape != config.Text && n.Shape != config.Scalar {
		r.fail(n, "%s is %s; it must be a string", what, n.Shape)
		return ""
	}
	v := r.f.expanded[r.entry]
	if v == nil {
		v = &config.Variables{Lookup: r.Lookup}
		r.f.expanded[r.entry] = v
	}
	s, err := v.Expand(n.Text)
	if err != nil {
		r.fail(n, "%s: %v", what, err)
	}
	if strings.ContainsRune(s, 0) {
		r.fail(n, "%s contains a NUL character", what)
	}
	return s
}

func (r *reader) texts(n config.Node, what string) (out []string) {
	if n.Shape != config.List && n.Shape != config.Null {
		r.fail(n, "%s is %s; it must be a list of strings", what, n.Shape)
	}
	for _, e := range n.Items {
		out = append(out, r.text(e, what))
	}
	return out
}

func (r *reader) env(n config.Node, what string) map[string]string {
	out := map[string]string{}
	r.members(n, what, func(m config.Member) {
		if m.Key == "" || strings.ContainsAny(m.Key, "=\x00") {
			r.fail(config.Node{Line: m.Line, Col: m.Col}, "%.80q is not a valid name of a variable", m.Key)
		}
		out[m.Key] = r.text(m.Value, what+"."+m.Key)
	})
	return out
}

// ownEnv reads the variables of a process of this program.
func (r *reader) ownEnv(n config.Node, what string) map[string]string {
	env := r.env(n, what)
	for name := range env {
		if upper := strings.ToUpper(name); strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "DYLD_") {
			r.fail(n, "%s.%.80s is refused: it would load foreign code into mcphud", what, name)
		}
	}
	return env
}

func (r *reader) port(n config.Node, what string) int {
	s := r.text(n, what)
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > 65535 {
		r.fail(n, "%s is %.80q; it must be a port from 1 to 65535, or left out for a free one", what, s)
	}
	return v
}

// path reads a path that may be relative to the file.
func (r *reader) path(n config.Node, what string) string {
	return r.beside(r.text(n, what))
}

func (r *reader) beside(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.f.Path), path)
}
