package config

import (
	"maps"
	"path/filepath"
	"regexp"
)

// cursor is the format of Cursor, with the variables of its editor.
var cursor = &Dialect{
	Name:    "cursor",
	Title:   "Cursor",
	Restart: "switch the server off and on in Cursor's settings",
	Files:   "`~/.cursor/mcp.json`; `.cursor/mcp.json` in the working folder",
	user:    func(o Options) []string { return []string{under(o.Home, ".cursor", "mcp.json")} },
	project: []string{".cursor/mcp.json"},
	owns:    namedIn([]string{".cursor"}, "mcp.json"),
	lists:   usualLists,
	strict:  true,
	fields:  loginFields(),
	http:    HTTP,
	expand:  expandEditor,
	writes: func() *style {
		return &style{
			names: keep("command args env envFile url headers", "oauth", "auth"), types: justURL, variables: inEditor,
			oauth: map[string]string{"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET", "scopes": "scopes"},
		}
	},
}

// loginFields are displayFields, and the block that Cursor keeps a login's client in.
func loginFields() map[string]string {
	f := maps.Clone(displayFields)
	f["auth"] = "oauth"
	return f
}

// editorVar is ${env:NAME}, ${input:ID} in VS Code, one of the names that the editor has itself, or what only the editor knows.
var editorVar = regexp.MustCompile(`\$\{(?:env:([^}]+)|(userHome|workspaceFolder|workspaceFolderBasename|cwd|pathSeparator|/)|input:([^}]+)|((?:config|command|workspaceFolder):[^}]+))\}`)

func expandEditor(x *expander, field, s string) string {
	return replace(editorVar, s, func(m []string) string {
		switch {
		case m[3] != "":
			return x.input(field, m[3], m[0])
		case m[4] != "":
			x.bad(field, "%s is known to the editor alone; write its value", clip(m[0]))
			return m[0]
		}
		switch m[2] {
		case "userHome":
			return x.opt.Home
		case "workspaceFolder", "cwd":
			return x.opt.Cwd
		case "workspaceFolderBasename":
			return filepath.Base(x.opt.Cwd)
		case "pathSeparator", "/":
			if x.opt.goos() == "windows" {
				return `\`
			}
			return "/"
		}
		return x.environment(field, m[1], m[0])
	})
}
