package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// Client is a program that starts MCP servers, and whose configuration can be changed.
type Client struct {
	Name    string // as a dialect, where there is one: claude-desktop
	Title   string // as its maker calls it: Claude Desktop
	Restart string // what makes it read its configuration again: "quit and start Claude Desktop"

	files func(o Options) []clientFile // in the client's order of precedence
}

// clientFile is one file of a client, and the members that lead to its servers.
type clientFile struct {
	path  string
	lists [][]string
}

// topLists are the lists of servers at the top of a file, as most programs have them.
var topLists = [][]string{{"mcpServers"}, {"servers"}, {"mcp", "servers"}}

// file is a file with the usual lists.
func file(path string) clientFile { return clientFile{path, topLists} }

// ownFile is the client of a file that was named by its path.
var ownFile = Client{Title: "the client of this file", Restart: "restart the client that reads it"}

// clients are those whose files are plain JSON, or JSON with comments.
var clients = []Client{
	{
		Name: "claude-desktop", Title: "Claude Desktop", Restart: "quit and start Claude Desktop",
		files: func(o Options) []clientFile { return []clientFile{file(claudeDesktop.user(o))} },
	},
	{
		Name: "claude-code", Title: "Claude Code", Restart: "start a new session of Claude Code, or reconnect the server in /mcp",
		files: func(o Options) []clientFile { // local, project, user
			user := claudeCode.user(o)
			return []clientFile{
				{user, [][]string{{"projects", o.Cwd, "mcpServers"}}},
				file(under(o.Cwd, ".mcp.json")),
				file(user),
			}
		},
	},
	{
		Name: "cursor", Title: "Cursor", Restart: "switch the server off and on in Cursor's settings",
		files: func(o Options) []clientFile {
			return []clientFile{file(under(o.Cwd, ".cursor", "mcp.json")), file(cursor.user(o))}
		},
	},
	{
		Name: "vscode", Title: "VS Code", Restart: "run MCP: List Servers in VS Code and restart the server",
		files: func(o Options) []clientFile {
			return []clientFile{file(under(o.Cwd, ".vscode", "mcp.json")), file(under(editorFolder(o, "Code"), "mcp.json"))}
		},
	},
	{
		Name: "windsurf", Title: "Windsurf", Restart: "refresh the servers in Windsurf's settings",
		files: func(o Options) []clientFile {
			return []clientFile{file(under(o.Home, ".codeium", "windsurf", "mcp_config.json"))}
		},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Restart: "start Gemini CLI again",
		files: func(o Options) []clientFile {
			return []clientFile{file(under(o.Cwd, ".gemini", "settings.json")), file(under(o.Home, ".gemini", "settings.json"))}
		},
	},
	{
		Name: "inspector", Title: "MCP Inspector", Restart: "start the Inspector again",
		files: func(o Options) []clientFile { return []clientFile{file(under(o.Cwd, "mcp.json"))} },
	},
}

// editorFolder is where VS Code keeps what a user set.
func editorFolder(o Options, name string) string {
	switch o.goos() {
	case "windows":
		return under(o.env("APPDATA"), name, "User")
	case "darwin":
		return under(o.Home, "Library", "Application Support", name, "User")
	}
	return under(o.xdg("XDG_CONFIG_HOME", ".config"), name, "User")
}

// ClientNames are the clients that [FindEntry] knows.
func ClientNames() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.Name
	}
	return names
}

// client finds a client by its name, or takes the name for the path of a file.
func (o Options) client(name string) (Client, []clientFile, bool) {
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == strings.ToLower(name) })
	if i >= 0 {
		return clients[i], clients[i].files(o), true
	}
	if strings.ContainsAny(name, `/\`) || filepath.Ext(name) != "" {
		path := o.abs(name)
		own := file(path)
		if filepath.Base(path) == ".claude.json" {
			own.lists = append([][]string{{"projects", o.Cwd, "mcpServers"}}, own.lists...)
		}
		return ownFile, []clientFile{own}, true
	}
	return Client{}, nil, false
}
