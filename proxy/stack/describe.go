package stack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
)

// Foreign reports whether the file can make other code run than this program's: by a command, or by a variable of an agent
// or the router that is not one of their settings.
func (f *File) Foreign() bool {
	for _, s := range f.Servers {
		if s.Command != "" {
			return true
		}
	}
	for _, a := range f.Agents {
		if foreignEnv(a.Env) {
			return true
		}
	}
	if f.Router == nil {
		return false
	}
	for _, r := range f.Router.Routes {
		if m, ok := r.(map[string]any); ok && m["command"] != nil {
			return true
		}
	}
	return foreignEnv(f.Router.Env)
}

// foreignEnv reports whether there is more in env than settings of agents, of the router and of telemetry, and the password of a store.
func foreignEnv(env map[string]string) bool {
	for name := range env {
		if !strings.HasPrefix(name, "AGENT_") && !strings.HasPrefix(name, "ROUTER_") && !strings.HasPrefix(name, "OTEL_") && name != "PGPASSWORD" {
			return true
		}
	}
	return false
}

// Describe says what running the file would start and contact, a line for each, without secrets and in full: see
// [config.Describe]. Whatever is in them comes from the file, and has to be made safe where it is shown.
func (f *File) Describe() (lines []string) {
	own := func(name, command string, flags [][2]string, env map[string]string) string {
		return f.line(config.Server{Name: name, Command: "mcphud", Args: append([]string{command}, arguments(flags)...), Env: env})
	}
	for _, a := range f.Agents {
		lines = append(lines, own(a.Name, "agent", a.Flags, a.Env))
	}
	for _, s := range f.Servers {
		d := config.Server{Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Dir, Sandbox: s.Sandbox, Headers: texts(s.Route["headers"])}
		d.Launch = s.stackStarts()
		if s.Command == "" {
			d.URL = s.URL
		}
		describeReach(&d, s.Route)
		lines = append(lines, f.line(d))
	}
	if f.Open {
		lines = append(lines, "auth: off, so that every program and user of this machine may call the agents")
	}
	if f.Router == nil {
		return lines
	}
	for _, name := range slices.Sorted(maps.Keys(f.Router.Routes)) {
		r, _ := f.Router.Routes[name].(map[string]any)
		d := config.Server{Name: name, Env: texts(r["env"]), Headers: texts(r["headers"])}
		d.Command, _ = r["command"].(string)
		d.URL, _ = r["url"].(string)
		d.Cwd, _ = r["cwd"].(string)
		d.Sandbox = sandboxOf(r["sandbox"])
		list, _ := r["args"].([]any)
		for _, a := range list {
			d.Args = append(d.Args, valueText(a))
		}
		describeReach(&d, r)
		if d.Command != "" || d.URL != "" {
			lines = append(lines, f.line(d))
		}
		urls, _ := r["urls"].([]any)
		for _, u := range urls {
			d.URL = valueText(u)
			lines = append(lines, f.line(d))
		}
	}
	return append(lines, own(routerName, "router", f.Router.Flags, f.Router.Env))
}

// describeReach fills in through whom a route reaches its agent, by what trust, and with which login.
func describeReach(d *config.Server, r map[string]any) {
	for key, to := range map[string]*string{"proxy": &d.Proxy, "ca": &d.CA, "clientCert": &d.ClientCert, "clientKey": &d.ClientKey} {
		if r[key] != nil {
			*to = valueText(r[key])
		}
	}
	d.Insecure = r["insecure"] != nil && valueText(r["insecure"]) == "true"
	if r["oauth"] == nil {
		return
	}
	d.OAuth = &config.OAuth{}
	for key, v := range texts(r["oauth"]) {
		if to := d.OAuth.Text(key); to != nil {
			*to = v
		}
	}
}

// sandboxOf is the sandbox of a route as its file has it; nil for none, and for one that will be refused.
func sandboxOf(v any) *confine.Rules {
	if v == nil {
		return nil
	}
	text, err := json.Marshal(map[string]any{"routes": map[string]any{"x": map[string]any{"command": "x", "sandbox": v}}})
	if err != nil {
		return nil
	}
	t, err := routes.Parse(text)
	if err != nil {
		return nil
	}
	return t.Routes["x"].Sandbox
}

// texts is an object of strings as routing.json has it.
func texts(v any) map[string]string {
	m, _ := v.(map[string]any)
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = valueText(v)
	}
	return out
}

// valueText is a value of a route, as its JSON where it is not a string.
func valueText(v any) string {
	if raw, ok := v.(json.RawMessage); ok {
		return string(raw)
	}
	return fmt.Sprint(v)
}

// line is what is known of a server, in one line: what it runs, and with what.
func (f *File) line(s config.Server) string {
	out := s.Name + ":"
	last := ""
	for _, field := range f.expanded[s.Name].Describe(s) {
		words := map[string]string{
			"runs": " ", "in": "; in ", "sandbox": "; in a sandbox: ", "connects to": " contact ", "env": "; with ", "header": "; with header ", "is given": "; given ",
			"through": "; through ", "trusts": "; trusting ", "reads": "; reading ", "signs in at": "; login at ", "gets token": "; token in ", "tokens from": "; tokens from ", "metadata at": "; login by ",
			"identity at": "; identity of ",
		}[field.Label]
		if words == "" {
			continue
		}
		if field.Label == last {
			words = ", "
		}
		last = field.Label
		out += words + field.Value
	}
	return out
}
