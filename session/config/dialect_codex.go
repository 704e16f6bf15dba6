package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/config/rewrite"
)

// codex is the format of Codex, whose values are literal: what comes from the environment is named by fields of their own.
var codex = &Dialect{
	Name:    "codex",
	Title:   "Codex",
	Restart: "start a new session of Codex",
	Files:   "`config.toml` in `$CODEX_HOME`, else `~/.codex`; `.codex/config.toml` in the working folder",
	user:    func(o Options) []string { return []string{under(o.xdg("CODEX_HOME", ".codex"), "config.toml")} },
	project: []string{".codex/config.toml"},
	owns:    namedIn([]string{".codex"}, "config.toml"),
	lists:   [][]string{{"mcp_servers"}},
	fields: map[string]string{
		"http_headers": "headers", "startup_timeout_ms": "connect_timeout", "name": "",
		"env_vars":      "", // a command here inherits the environment anyway
		"enabled_tools": "", "disabled_tools": "", "tools": "", "required": "", "supports_parallel_tool_calls": "", "default_tools_approval_mode": "", "oauth_resource": "",
		"experimental_environment": "", "environment_id": "", "auth": "",
	},
	read: map[string]func(*entry, node){
		"bearer_token_env_var": func(e *entry, n node) { e.header("bearer_token_env_var", "Authorization", "Bearer %s", n) },
		"env_http_headers": func(e *entry, n node) {
			for _, m := range n.members() {
				field := "env_http_headers." + m.key
				e.note(field, m.value)
				e.header(field, m.key, "%s", m.value)
			}
		},
		"startup_timeout_sec": func(e *entry, n node) { e.ConnectTimeout = e.seconds("startup_timeout_sec", n) },
		"tool_timeout_sec":    func(e *entry, n node) { e.Timeout = e.seconds("tool_timeout_sec", n) },
		"scopes": func(e *entry, n node) {
			e.login().Scopes = e.list("scopes", n)
		},
	},
	http: HTTP,
	writes: func() *style {
		return &style{
			format: "toml", names: keep("command args env cwd url", "headers", "http_headers", "timeout", "tool_timeout_sec", "connect_timeout", "startup_timeout_sec"),
			types: map[string]string{Stdio: "", HTTP: "", Auto: ""}, unit: time.Second, variables: literalText, off: isOff, own: ownCodex,
		}
	},
}

// ownCodex writes variables where Codex has members that name them.
func ownCodex(s *Server, t *translation) (o rewrite.Object) {
	names := s.takeInherited(t)
	headers := rewrite.Object{}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		bearer, isBearer := strings.CutPrefix(s.Headers[k], "Bearer ")
		if name, ok := t.variable(bearer); ok && isBearer && strings.EqualFold(k, "Authorization") {
			o = append(o, rewrite.Member{Key: "bearer_token_env_var", Value: name})
			delete(s.Headers, k)
		} else if name, ok := t.variable(s.Headers[k]); ok {
			headers = append(headers, rewrite.Member{Key: k, Value: name})
			delete(s.Headers, k)
		}
	}
	if len(names) > 0 {
		o = append(o, rewrite.Member{Key: "env_vars", Value: names})
	}
	if len(headers) > 0 {
		o = append(o, rewrite.Member{Key: "env_http_headers", Value: headers})
	}
	return o
}
