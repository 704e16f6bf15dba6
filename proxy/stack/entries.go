package stack

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
)

// pathFlags are settings of an agent that name files or folders.
var pathFlags = map[string]bool{
	kbKey: true, "root": true, storeKey: true, "jwks": true, "routerCa": true,
	"queueCreds": true, "queueCa": true, "queueCert": true, "queueKey": true, "registerCreds": true, "registerCa": true,
	"modelCa": true, "modelClientCert": true, "modelClientKey": true,
}

const (
	kbKey    = "kb" // may be a list, with folders of tenants
	storeKey = "store"
	storeEnv = "AGENT_STORE"
	queueEnv = "AGENT_QUEUE"
)

// ignoredKeys are settings of an agent that the stack decides, with what to write instead.
var ignoredKeys = map[string]string{
	"host":  "agents of a stack listen on 127.0.0.1; other machines reach them through the router",
	"name":  "",
	"tools": "agents of a stack start no programs; write a server with a command instead",
	"token": `files must not hold tokens; write env: {AGENT_TOKEN: "${NAME}"} with a variable that holds it`,
}

// secretKeys are settings of an agent that may hold a secret, with the variables that agents read them from: every user of
// the machine can see the arguments of a process.
var secretKeys = map[string]string{
	"modelUrl": "AGENT_MODEL_URL", "modelProxy": "AGENT_MODEL_PROXY", "embeddingsUrl": "AGENT_EMBEDDINGS_URL", storeKey: storeEnv, "queue": queueEnv, "register": "AGENT_REGISTER",
}

func (r *reader) agent(name string, n config.Node) {
	what := "agents." + name
	a := AgentEntry{Name: name, Of: name, Line: n.Line}
	named, hidden, replicas := false, map[string]string{}, 1
	r.members(n, what, func(m config.Member) {
		switch m.Key {
		case "port":
			a.Port = r.port(m.Value, what+".port")
			return
		case "replicas":
			replicas = r.count(m.Value, what+".replicas")
			return
		case "env":
			a.Env = r.ownEnv(m.Value, what+".env")
			return
		case "route":
			a.Route = r.route(name, m.Value, map[string]any{"hostPort": 1})
			return
		}
		if why := ignoredKeys[m.Key]; why != "" {
			r.warn(m.Line, m.Col, "%s.%s is ignored: %s", what, m.Key, why)
			return
		}
		if m.Value.Shape == config.Null {
			return
		}
		if _, unknown, _ := r.Agent(m.Key, ""); unknown != "" { // of any shape
			r.warn(m.Line, m.Col, "%s: %s", what, unknown)
			return
		}
		values := []config.Node{m.Value}
		if m.Key == kbKey && m.Value.Shape == config.List {
			values = m.Value.Items
		}
		for _, n := range values {
			value := r.text(n, what+"."+m.Key)
			if pathFlags[m.Key] {
				value = r.pathOf(m.Key, value)
			}
			flag, _, err := r.Agent(m.Key, value)
			if err != nil {
				r.fail(n, "%s.%s is %.80q: %v", what, m.Key, value, err)
			}
			named = named || m.Key == "name"
			if v := secretKeys[m.Key]; v != "" && strings.Contains(value, "://") {
				hidden[v] = value
				return
			}
			a.Flags = append(a.Flags, [2]string{flag, value})
		}
	})
	if a.Env == nil {
		a.Env = hidden
	}
	maps.Copy(a.Env, hidden) // they go before what env says, as flags would
	if !named {
		a.Flags = append(a.Flags, [2]string{"name", name})
	}
	if replicas > 1 {
		r.replicas(n, a, replicas)
		return
	}
	r.f.Agents = append(r.f.Agents, a)
}

// maxReplicas is how many processes of one agent a stack may have.
const maxReplicas = 64

func (r *reader) count(n config.Node, what string) int {
	s := r.text(n, what)
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > maxReplicas {
		r.fail(n, "%s is %.80q; it must be a number of processes, from 1 to %d", what, s, maxReplicas)
	}
	return v
}

// replicas adds several processes of one agent. A database in a file is for one process.
func (r *reader) replicas(at config.Node, a AgentEntry, n int) {
	for _, f := range a.Flags {
		if f[0] == storeKey && !strings.Contains(f[1], "://") {
			r.fail(at, "agents.%s.store is a file, which only one process can have; give the URL of a PostgreSQL database, or leave it out", a.Of)
		}
	}
	if a.Port+n-1 > 65535 {
		r.fail(at, "agents.%s has no room for %d ports from %d on; choose a lower port", a.Of, n, a.Port)
	}
	first := a.Port
	for i := range n {
		a.Name = fmt.Sprintf("%s-%d", a.Of, i+1)
		if first != 0 {
			a.Port = first + i
		}
		switch {
		case !config.ValidName(a.Name):
			r.fail(at, "%.80q is not a valid name of a process: %s", a.Name, config.NameRule)
		case r.hasName(a.Name):
			r.fail(at, "the replica %q has the name of an agent or server; choose another", a.Name)
		}
		r.f.expanded[a.Name] = r.f.expanded[a.Of]
		r.f.Agents = append(r.f.Agents, a)
	}
}

// pathOf is a path relative to the file; in kb a tenant may stand before it, as TENANT=DIR, and a store may be at a URL.
func (r *reader) pathOf(key, value string) string {
	if key == storeKey && strings.Contains(value, "://") {
		return value
	}
	if tenant, dir, ok := strings.Cut(value, "="); ok && key == kbKey && !strings.ContainsAny(tenant, `/\`) {
		return tenant + "=" + r.beside(dir)
	}
	return r.beside(value)
}

// routeKeys are members of a route other than the address of its server.
var routeKeys = map[string]bool{
	"disabled": true, "headers": true, "timeout": true, "stream": true, "methods": true, "tools": true, "waitReady": true, "rateLimit": true, "fault": true, "oauth": true,
}

func (r *reader) server(name string, n config.Node) {
	what := "servers." + name
	s := ServerEntry{Name: name, Line: n.Line}
	ca := ""
	rest := config.Node{Shape: config.Object, Line: n.Line, Col: n.Col}
	r.members(n, what, func(m config.Member) {
		switch m.Key {
		case "command":
			s.Command = r.text(m.Value, what+".command")
		case "args":
			s.Args = r.texts(m.Value, what+".args")
		case "env":
			s.Env = r.env(m.Value, what+".env")
		case "cwd":
			s.Dir = r.path(m.Value, what+".cwd")
		case "sandbox":
			s.Sandbox = r.sandbox(name, m.Value)
		case "url":
			s.URL, s.port = r.text(m.Value, what+".url"), 0
		case "ca":
			ca = r.path(m.Value, what+".ca")
		case "port":
			s.port = r.port(m.Value, what+".port")
			s.URL = fmt.Sprintf("http://127.0.0.1:%d/mcp", s.port)
		default:
			rest.Members = append(rest.Members, m)
		}
	})
	reach := map[string]any{"url": s.URL}
	switch {
	case s.Command == "" && s.URL == "":
		r.fail(n, "%s has neither command nor url; give one of them, or both for a server that is to be started", what)
	case s.Command != "" && (strings.HasPrefix(s.URL, "unix://") || strings.HasPrefix(s.URL, "http+unix://")):
		r.fail(n, "%s.url is a socket, which a server that is started cannot be watched at; give an http or https URL", what)
	case s.Sandbox != nil && s.Command == "":
		r.fail(n, "%s.sandbox applies only to a server that is started by its command", what)
	case s.Sandbox != nil && s.URL != "" && !s.Sandbox.Network:
		r.fail(n, "%s.sandbox has no network, and the server is to listen at %s; write network: true", what, s.URL)
	case s.URL == "":
		reach = map[string]any{"command": s.Command}
	}
	if ca != "" {
		reach["ca"] = ca
	}
	if s.Command != "" && s.URL != "" {
		for _, m := range rest.Members {
			if m.Key == "session" {
				r.warn(m.Line, m.Col, "%s.session is ignored: it is for servers on stdin and stdout, which have no url", what)
			}
		}
	}
	if s.Route = r.route(name, rest, reach); ca != "" {
		s.Route["ca"] = ca
	}
	r.f.Servers = append(r.f.Servers, s)
}

// route reads members of a route and checks them with the parser of routing.json.
func (r *reader) route(name string, n config.Node, reach map[string]any) map[string]any {
	out := map[string]any{}
	r.members(n, name+".route", func(m config.Member) {
		if !routeKeys[m.Key] && (m.Key != "session" || reach["command"] == nil) {
			if m.Key != "session" {
				r.warn(m.Line, m.Col, "unknown key %.80q of %s is ignored", m.Key, name)
			}
			return
		}
		out[m.Key] = r.value(m.Value, name+"."+m.Key)
		one := map[string]any{m.Key: out[m.Key]}
		for k, v := range reach {
			one[k] = v
		}
		if err := checkRoutes(map[string]any{name: one}); err != nil {
			r.fail(m.Value, "%v", err)
		}
	})
	if r.err == nil {
		if err := checkRoutes(map[string]any{name: reach}); err != nil {
			r.fail(n, "%v", err)
		}
	}
	r.absolutePaths(out)
	return out
}

// sandbox reads what a server may do, as routing.json has it.
func (r *reader) sandbox(name string, n config.Node) *confine.Rules {
	value := r.value(n, name+".sandbox")
	if err := checkRoutes(map[string]any{name: map[string]any{"command": "x", "sandbox": value}}); err != nil {
		r.fail(n, "%v", err)
		return nil
	}
	box := sandboxOf(value)
	if box != nil {
		home, _ := os.UserHomeDir() // without one, ~ is a name
		box.Resolve(filepath.Dir(r.f.Path), home)
	}
	return box
}

// checkRoutes checks routes with the parser of routing.json.
func checkRoutes(table map[string]any) error {
	text, err := json.Marshal(map[string]any{"routes": table})
	if err != nil {
		return err
	}
	_, err = routes.Parse(text)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ") // the position is in our own text
		return fmt.Errorf("%s", strings.TrimPrefix(why, "routes."))
	}
	return nil
}

// absolutePaths resolves the paths of a route, since routing.json is written elsewhere.
func (r *reader) absolutePaths(route any) any {
	if m, ok := route.(map[string]any); ok {
		for _, key := range []string{"ca", "cwd"} {
			if s, ok := m[key].(string); ok {
				m[key] = r.beside(s)
			}
		}
		box, _ := m["sandbox"].(map[string]any)
		for _, key := range []string{confine.Read, confine.Write} {
			list, _ := box[key].([]any)
			for i, v := range list {
				if s, ok := v.(string); ok {
					list[i] = r.beside(s)
				}
			}
		}
		login, _ := m["oauth"].(map[string]any)
		for key, v := range login {
			if s, ok := v.(string); ok && strings.HasSuffix(key, "_file") {
				login[key] = r.beside(s)
			}
		}
	}
	return route
}

// value returns a node as a value for JSON, with variables expanded in its strings.
func (r *reader) value(n config.Node, what string) any {
	switch n.Shape {
	case config.Object:
		out := map[string]any{}
		for _, m := range n.Members {
			out[m.Key] = r.value(m.Value, what+"."+m.Key)
		}
		return out
	case config.List:
		out := []any{}
		for _, e := range n.Items {
			out = append(out, r.value(e, what))
		}
		return out
	case config.Scalar:
		if json.Valid([]byte(n.Text)) {
			return json.RawMessage(n.Text)
		}
		return n.Text
	case config.Text:
		return r.text(n, what)
	}
	return nil
}

// routerFlags maps settings of the router to its flags; routerFiles does so for those that name files.
var (
	routerFlags = map[string]string{"drainTimeout": "drain-timeout", "logLevel": "log-level", "websocket": "websocket", "sse": "sse"}
	routerFiles = map[string]string{"audit": "audit", certKey: "tls-cert", privateKey: "tls-key", "clusterCreds": "cluster-creds", "clusterCa": "cluster-ca"}
)

// certKey and privateKey must be given together.
const (
	certKey    = "tlsCert"
	privateKey = "tlsKey"
)

func (r *reader) router(n config.Node) {
	if n.Shape == config.Scalar && n.Text == "false" {
		r.f.Router = nil
		return
	}
	e, cluster := r.f.Router, ""
	known := map[string]func(config.Node){
		"cluster": func(n config.Node) { cluster = r.text(n, "router.cluster") },
		"port":    func(n config.Node) { e.Port = r.port(n, "router.port") },
		"tokens":  func(n config.Node) { e.Tokens = r.path(n, "router.tokens") },
		"env":     func(n config.Node) { e.Env = r.ownEnv(n, "router.env") },
		"routes": func(n config.Node) {
			e.Routes = map[string]any{}
			r.members(n, "router.routes", func(m config.Member) {
				r.within(m.Key, func() { e.Routes[m.Key] = r.absolutePaths(r.value(m.Value, "router.routes."+m.Key)) })
				if err := checkRoutes(map[string]any{m.Key: e.Routes[m.Key]}); err != nil {
					r.fail(m.Value, "router.routes.%v", err)
				}
			})
		},
	}
	for key, flag := range routerFlags {
		known[key] = func(n config.Node) {
			e.Flags = append(e.Flags, [2]string{flag, r.text(n, "router."+key)})
		}
	}
	for key, flag := range routerFiles {
		known[key] = func(n config.Node) {
			file := r.path(n, "router."+key)
			if file == "" {
				r.fail(n, "router.%s is empty; give the path of a file", key)
			}
			e.Flags = append(e.Flags, [2]string{flag, file})
		}
	}
	r.object(n, "router", known)
	if cluster != "" { // it may hold a password
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env["ROUTER_CLUSTER"] = cluster
	}
	for _, pair := range [][2]string{{certKey, privateKey}, {privateKey, certKey}} {
		if e.flag(routerFiles[pair[0]]) != "" && e.flag(routerFiles[pair[1]]) == "" {
			r.fail(n, "router.%s needs router.%s; give both, or none to serve HTTP", pair[0], pair[1])
		}
	}
}
