package config

import "regexp"

// windsurf is the format of Windsurf.
var windsurf = &Dialect{
	Name:    "windsurf",
	Title:   "Windsurf",
	Restart: "refresh the servers in Windsurf's settings",
	Files:   "`~/.codeium/windsurf/mcp_config.json`",
	user:    func(o Options) []string { return []string{under(o.Home, ".codeium", "windsurf", "mcp_config.json")} },
	owns:    ownsNames("mcp_config.json"),
	lists:   [][]string{{"mcpServers"}},
	fields:  windsurfFields(),
	http:    Auto,
	expand:  expandWindsurf,
	writes: func() *style {
		return &style{names: keep("command args env headers", "url", "serverUrl"), types: justURL, variables: inEnv, off: disabled}
	},
}

func windsurfFields() map[string]string {
	f := loginFields()
	f["serverUrl"], f["disabledTools"], f["registry"] = "url", "", ""
	return f
}

var windsurfVar = regexp.MustCompile(`\$\{(env|file):([^}]+)\}`)

// expandWindsurf replaces ${env:NAME} and ${file:PATH}.
func expandWindsurf(x *expander, field, s string) string {
	return replace(windsurfVar, s, func(m []string) string {
		if m[1] == "file" {
			return x.content(field, m[2], m[0])
		}
		return x.environment(field, m[2], m[0])
	})
}
