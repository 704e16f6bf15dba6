package config

import (
	"maps"
	"path/filepath"
	"regexp"
)

// cursor is the format of Cursor, with the variables of its editor.
var cursor = &Dialect{
	Name:    "cursor",
	Files:   "`~/.cursor/mcp.json`; `.cursor/mcp.json` in the working folder",
	user:    func(o Options) string { return under(o.Home, ".cursor", "mcp.json") },
	project: []string{".cursor/mcp.json"},
	owns: func(path string) bool {
		return named("mcp.json")(path) && filepath.Base(filepath.Dir(path)) == ".cursor"
	},
	lists:  usualLists,
	strict: true,
	fields: loginFields(),
	http:   HTTP,
	expand: expandEditor,
}

// loginFields are displayFields, and the block that Cursor keeps a login's client in.
func loginFields() map[string]string {
	f := maps.Clone(displayFields)
	f["auth"] = "oauth"
	return f
}

// editorVar is ${env:NAME}, or one of the names that the editor has itself.
var editorVar = regexp.MustCompile(`\$\{(?:env:([^}]+)|(userHome|workspaceFolder|workspaceFolderBasename|pathSeparator|/))\}`)

func expandEditor(x *expander, field, s string) string {
	return replace(editorVar, s, func(m []string) string {
		switch m[2] {
		case "userHome":
			return x.opt.Home
		case "workspaceFolder":
			return x.opt.Cwd
		case "workspaceFolderBasename":
			return filepath.Base(x.opt.Cwd)
		case "pathSeparator", "/":
			if x.opt.goos() == "windows" {
				return `\`
			}
			return "/"
		}
		return x.variable(field, m[1], func() string { return x.missing(field, m[1], m[0], "") })
	})
}
