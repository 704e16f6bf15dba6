package config

import (
	"regexp"
	"strings"
	"time"
)

// cline is the format of Cline, an extension of editors and a command line.
var cline = &Dialect{
	Name:  "cline",
	Title: "Cline",
	Files: "`cline_mcp_settings.json` in `~/.cline/data/settings`, and in the folders of VS Code, VS Code Insiders, VSCodium, Cursor and Windsurf; `$CLINE_MCP_SETTINGS_PATH`",
	user: func(o Options) []string {
		files := []string{o.env("CLINE_MCP_SETTINGS_PATH"), under(o.Home, ".cline", "data", "settings", "cline_mcp_settings.json")}
		for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
			files = append(files, under(editorFolder(o, editor), "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"))
		}
		return files
	},
	owns:  ownsNames("cline_mcp_settings.json"),
	lists: [][]string{{"mcpServers"}},
	fields: map[string]string{
		"autoApprove": "", "alwaysAllow": "", "disabledTools": "", "description": "", "name": "", "icon": "", "remoteConfigured": "", "metadata": "", "watchPaths": "",
		"transportType": "type", // until 2025
	},
	read:   map[string]func(*entry, node){"timeout": func(e *entry, n node) { e.Timeout = e.seconds("timeout", n) }},
	http:   HTTP,
	expand: expandEnvironment,
	writes: func() *style {
		return &style{
			names: keep("command args env cwd url headers timeout"), types: map[string]string{Stdio: "", HTTP: "streamableHttp", SSE: SSE, Auto: "streamableHttp"},
			unit: time.Second, variables: inEnv, off: disabled,
		}
	},
}

var environmentVar = regexp.MustCompile(`\$\{env:([^}]+)\}`)

// expandEnvironment replaces ${env:NAME}.
func expandEnvironment(x *expander, field, s string) string {
	return replace(environmentVar, s, func(m []string) string { return x.environment(field, strings.TrimSpace(m[1]), m[0]) })
}
