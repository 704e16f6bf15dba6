package config

import "path/filepath"

// claudeCode is the format of Claude Code. The user's file has servers for each project as well.
var claudeCode = &Dialect{
	Name:    "claude-code",
	Files:   "`~/.claude.json` (the working folder's member of `projects`, then the top level); `.mcp.json` in the working folder",
	user:    func(o Options) string { return under(o.Home, ".claude.json") },
	project: []string{".mcp.json"},
	owns:    named(".mcp.json", ".claude.json"),
	lists:   usualLists,
	before: func(r *reader) {
		if filepath.Base(r.src.File) == ".claude.json" {
			projects, _ := r.doc.root.get("projects")
			p, _ := projects.get(r.cwd)
			r.servers(p)
		}
	},
	repeats: true,
	fields:  displayFields,
	http:    HTTP,
	expand:  expandShell,
}
