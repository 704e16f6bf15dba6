package config

import (
	"regexp"
	"time"

	"github.com/mcphud/mcphud/session/config/rewrite"
)

// opencode is the format of OpenCode: servers by name in mcp, or since its second version in mcp.servers.
var opencode = &Dialect{
	Name:    "opencode",
	Title:   "OpenCode",
	Restart: "start OpenCode again",
	Files:   "`opencode.json` and `opencode.jsonc` in `~/.config/opencode`; these in the working folder and in its `.opencode`",
	user: func(o Options) []string {
		folder := under(o.xdg("XDG_CONFIG_HOME", ".config"), "opencode")
		return []string{under(folder, "opencode.json"), under(folder, "opencode.jsonc")}
	},
	project: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"},
	owns:    ownsNames("opencode.json", "opencode.jsonc"),
	lists:   [][]string{{"mcp", "servers"}, {"mcp"}},
	skip:    func(n node) bool { return n.kind() != object || !n.has("type", "command", "url") }, // settings of all servers, or of a default
	fields:  map[string]string{"environment": "env", "codemode": "", "description": ""},
	read: map[string]func(*entry, node){
		"type": func(e *entry, n node) {
			switch t := e.string("type", n); t {
			case "local":
				e.given = Stdio
			case "remote":
				e.given = Auto
			default:
				e.problem("type", "%q is neither local nor remote", clip(t))
			}
		},
		"command": func(e *entry, n node) {
			if n.kind() != array {
				e.field("command", n)
				return
			}
			if argv := e.list("command", n); len(argv) > 0 {
				e.Command, e.Args = argv[0], argv[1:]
			}
		},
		"oauth": func(e *entry, n node) {
			if n.text() != "false" { // false: none is looked for
				e.oauth(n)
			}
		},
		"timeout": func(e *entry, n node) {
			if n.kind() == object { // by what is waited for
				for key, field := range map[string]string{"startup": "connect_timeout", "execution": "timeout"} {
					if d, ok := n.get(key); ok {
						e.field(field, d)
					}
				}
				return
			}
			e.field("connect_timeout", n)
		},
	},
	http:   Auto,
	expand: expandOpenCode,
	writes: func() *style {
		return &style{
			names: keep("url headers oauth", "env", "environment", "connect_timeout", "timeout"), types: map[string]string{Stdio: "local", HTTP: "remote", SSE: "remote", Auto: "remote"},
			oauth: map[string]string{"client_id": "clientId", "client_secret": "clientSecret", "scopes": "scope"}, unit: time.Millisecond, variables: inBraces, off: isOff, on: isOn, own: ownOpenCode,
		}
	},
}

var openCodeVar = regexp.MustCompile(`\{(env|file):([^}]+)\}`)

// expandOpenCode replaces {env:NAME} and {file:PATH}.
func expandOpenCode(x *expander, field, s string) string {
	return replace(openCodeVar, s, func(m []string) string {
		if m[1] == "file" {
			return x.content(field, m[2], m[0])
		}
		return x.environment(field, m[2], m[0])
	})
}

// ownOpenCode writes the command and its arguments as one list.
func ownOpenCode(s *Server, t *translation) (o rewrite.Object) {
	if s.Command != "" {
		argv := []any{t.text("command", s.Command)}
		for i, a := range s.Args {
			argv = append(argv, t.text(index("args", i), a))
		}
		o = append(o, rewrite.Member{Key: "command", Value: argv})
		s.Command, s.Args = "", nil
	}
	return o
}
