package config

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
}
