package config

import "path/filepath"

// claudeCode is the format of Claude Code. The user's file has servers for each project as well.
var claudeCode = &Dialect{
	Name:    "claude-code",
	Title:   "Claude Code",
	Restart: "start a new session of Claude Code, or reconnect the server in /mcp",
	Files:   "`~/.claude.json` (the working folder's member of `projects`, then the top level); `.mcp.json` in the working folder",
	user:    func(o Options) []string { return []string{under(o.Home, ".claude.json")} },
	project: []string{".mcp.json"},
	owns:    ownsNames(".mcp.json", ".claude.json"),
	client: func(o Options) []clientFile { // local, project, user
		user := under(o.Home, ".claude.json")
		return []clientFile{
			{user, [][]string{{"projects", o.Cwd, "mcpServers"}}},
			{under(o.Cwd, ".mcp.json"), usualLists},
			{user, usualLists},
		}
	},
	lists: usualLists,
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
	writes: func() *style {
		return &style{
			names: keep("command args env url headers headersHelper oauth"), types: typed,
			oauth: map[string]string{"client_id": "clientId", "metadata_url": "authServerMetadataUrl", "scopes": "scopes"},
		}
	},
}
