package config

import (
	"path/filepath"

	"github.com/mcphud/mcphud/session/config/setup"
)

// vscode is the format of VS Code, with the variables of its editor and the inputs that it asks for.
var vscode = &Dialect{
	Name:    "vscode",
	Title:   "VS Code",
	Restart: "run MCP: List Servers in VS Code and restart the server",
	Files:   "`mcp.json` in the user's folder of VS Code, VS Code Insiders and VSCodium, and in those of its profiles; `.vscode/mcp.json` in the working folder",
	user: func(o Options) (files []string) {
		for _, editor := range []string{"Code", "Code - Insiders", "VSCodium"} {
			user := editorFolder(o, editor)
			files = append(files, under(user, "mcp.json"))
			for _, profile := range matchingFiles(under(user, "profiles"), "*") {
				files = append(files, filepath.Join(profile, "mcp.json"))
			}
		}
		return files
	},
	project: []string{".vscode/mcp.json"},
	owns: func(path string) bool {
		profiles := filepath.Base(filepath.Dir(filepath.Dir(path)))
		return namedIn([]string{".vscode", "user"}, "mcp.json")(path) || ownsNames("mcp.json")(path) && profiles == "profiles"
	},
	lists:  [][]string{{"servers"}, {"mcpServers"}},
	strict: true,
	known:  []string{"inputs"},
	before: func(r *reader) {
		list, _ := r.doc.root.get("inputs")
		r.readInputs(list)
	},
	fields: map[string]string{
		"dev": "", "gallery": "", "version": "", "description": "", "name": "", "icon": "", "sandbox": "", "sandboxEnabled": "", "requestInit": "", "auth": "oauth",
	},
	http:   Auto, // VS Code goes back to HTTP+SSE by itself
	expand: expandEditor,
	writes: func() *style {
		return &style{names: keep("command args env envFile cwd url headers"), types: typedAll, variables: inEditor}
	},
}

// readInputs reads what VS Code asks for: promptString, pickString, and command, whose command is one of the editor's, so that its
// result has to be typed here.
func (r *reader) readInputs(list node) {
	if k := list.kind(); k == null {
		return
	} else if k != array {
		line, col := list.pos()
		r.doc.warnAt(line, col, "inputs is %s; write a list of objects with id and type", k)
		return
	}
	for _, el := range list.elems() {
		line, col := el.pos()
		text := func(key string) string {
			n, _ := el.get(key)
			return n.text()
		}
		in := setup.Input{Name: text("id"), Description: text("description"), Default: text("default"), Required: true}
		in.Secret = text("password") == "true"
		switch kind := text("type"); {
		case el.kind() != object || in.Name == "":
			r.doc.warnAt(line, col, "an input has no id and is ignored")
			continue
		case kind == "pickString":
			options, _ := el.get("options")
			for _, o := range options.elems() {
				if o.kind() == object { // a label and a value
					o, _ = o.get("value")
				}
				in.Choices = append(in.Choices, o.text())
			}
		case kind == "command":
			if in.Description == "" {
				in.Description = "what the command " + clip(text("command")) + " of VS Code gives"
			}
		case kind != "promptString":
			r.doc.warnAt(line, col, "input %q has the type %q; write promptString, pickString or command", clip(in.Name), clip(kind))
		}
		r.inputs = append(r.inputs, in)
	}
}
