package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/config/rewrite"
	"github.com/mcphud/mcphud/session/config/setup"
)

// goose is the format of Goose, whose servers are extensions.
var goose = &Dialect{
	Name:    "goose",
	Title:   "Goose",
	Restart: "start a new session of Goose",
	Files:   "`~/.config/goose/config.yaml`, or `Block\\goose\\config\\config.yaml` in `%APPDATA%`",
	user: func(o Options) []string {
		if o.goos() == "windows" {
			return []string{under(o.env("APPDATA"), "Block", "goose", "config", "config.yaml")}
		}
		return []string{under(o.xdg("XDG_CONFIG_HOME", ".config"), "goose", "config.yaml")}
	},
	owns: func(path string) bool {
		return ownsNames("config.yaml")(path) && strings.Contains(strings.ToLower(path), "goose")
	},
	lists: [][]string{{"extensions"}},
	skip: func(n node) bool {
		t, _ := n.get("type")
		return slices.Contains([]string{"builtin", "platform", "frontend", "inline_python"}, t.text())
	},
	fields: map[string]string{
		"cmd": "command", "envs": "env", "uri": "url", "name": "", "description": "", "display_name": "", "bundled": "", "available_tools": "", "socket": "",
	},
	read: map[string]func(*entry, node){
		"timeout": func(e *entry, n node) { e.Timeout = e.seconds("timeout", n) },
		"env_keys": func(e *entry, n node) {
			e.keys = e.list("env_keys", n)
		},
	},
	after: func(e *entry, x *expander) {
		// What Goose has in its keychain comes from the environment here, or is asked for.
		for i, name := range e.keys {
			x.secret(index("env_keys", i), name, func(v string) {
				if e.Env == nil {
					e.Env = map[string]string{}
				}
				e.Env[name] = v
			})
		}
		if e.URL != "" {
			e.Env = nil // they were for the headers
		}
	},
	http:   HTTP,
	expand: expandGoose,
	writes: func() *style {
		return &style{
			format: "yaml", names: keep("args headers timeout", "command", "cmd", "env", "envs", "url", "uri"),
			types: map[string]string{Stdio: Stdio, HTTP: "streamable_http", SSE: SSE, Auto: "streamable_http"}, unit: time.Second, off: isOff, on: isOn, own: ownGoose,
		}
	},
}

// expandGoose replaces $NAME and ${NAME} in headers: by the entry's envs, its keys, and the environment.
func expandGoose(x *expander, field, s string) string {
	if !strings.HasPrefix(field, "headers.") {
		return s
	}
	return replace(dollarVar, s, func(m []string) string {
		name := m[1] + m[2]
		v := m[0]
		x.secret(field, name, func(found string) { v = found })
		return v
	})
}

// secret gives set the value of a variable of the entry or of the environment, or what was given for it. It is asked for until then.
func (x *expander) secret(field, name string, set func(string)) {
	const none = "\x00"
	v := x.variable(field, name, func() string {
		return x.ask(setup.Input{Name: name, Required: true, Secret: true, Description: "a key of Goose"}, none)
	})
	if v != none {
		x.used = append(x.used, v)
		set(v)
	}
}

// ownGoose writes the variables that are passed on by their names.
func ownGoose(s *Server, t *translation) (o rewrite.Object) {
	o = rewrite.Object{{Key: "name", Value: s.Name}}
	if names := s.takeInherited(t); len(names) > 0 {
		o = append(o, rewrite.Member{Key: "env_keys", Value: names})
	}
	for _, f := range [][2]string{{"command", s.Command}, {"args", strings.Join(s.Args, " ")}, {"env", strings.Join(slices.Collect(maps.Values(s.Env)), " ")}} {
		if t.from != literalText && references[t.from]().MatchString(f[1]) {
			t.noteLost(f[0], "Goose takes it as it is written: write the values of its variables")
		}
	}
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Minute // Goose wants one
	}
	return o
}
