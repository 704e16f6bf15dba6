package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/config/setup"
)

// Template is a well-known server that only needs to be told what is the user's own.
type Template struct {
	Name        string
	Title       string
	Description string
	Archived    string // that it is not maintained any more, and the template to take instead; "" for one that is
	Server      Server // {NAME} stands for an input
	Inputs      []setup.Input
}

// Fill is the server of a template, its values in the dialect of mcphud. A secret that is not given becomes a variable of its name.
// An argument that is nothing but a repeated input becomes as many as that has values, and one of an input without a value is left
// out, as is such a variable of the environment.
func (t Template) Fill(name string, values setup.Values) Server {
	s := t.Server.clone()
	s.Name = cmp.Or(name, t.Name)
	given := map[string][]string{}
	for _, in := range t.Inputs {
		given[in.Name] = values[in.Name]
		if in.Secret && len(given[in.Name]) == 0 {
			given[in.Name] = []string{"${" + in.Name + "}"}
		}
	}
	fill := func(text string) []string {
		var pairs []string // replaced in one pass: what a value has in braces is not replaced
		for _, name := range sortedKeys(given) {
			switch ref, list := "{"+name+"}", given[name]; {
			case text == ref:
				return list
			case !strings.Contains(text, ref) || strings.Contains(text, "$"+ref):
			case len(list) == 0:
				return nil
			default:
				pairs = append(pairs, ref, list[0])
			}
		}
		return []string{strings.NewReplacer(pairs...).Replace(text)}
	}
	s.Args = nil
	for _, a := range t.Server.Args {
		s.Args = append(s.Args, fill(a)...)
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, k := range sortedKeys(m) {
			if v := fill(m[k]); len(v) > 0 {
				m[k] = v[0]
			} else {
				delete(m, k)
			}
		}
	}
	if u := fill(s.URL); len(u) > 0 {
		s.URL = u[0]
	}
	return s
}

// TemplateNamed finds a template.
func TemplateNamed(name string) (Template, error) {
	all := Templates()
	if i := slices.IndexFunc(all, func(t Template) bool { return t.Name == strings.ToLower(name) }); i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	return Template{}, &EditError{Message: "unknown template: " + clip(name), Next: "write " + strings.Join(names, ", ")}
}

// npx and uvx run a package that is fetched when it is started first.
func npx(args ...string) Server {
	return Server{Transport: Stdio, Command: "npx", Args: append([]string{"-y"}, args...)}
}

func uvx(args ...string) Server { return Server{Transport: Stdio, Command: "uvx", Args: args} }

func remote(url string, headers map[string]string) Server {
	return Server{Transport: HTTP, URL: url, Headers: headers}
}

func (s Server) withEnv(env map[string]string) Server {
	s.Env = env
	return s
}

func secret(name, title, example string) setup.Input {
	return setup.Input{Name: name, Title: title, Secret: true, Placeholder: example, Description: "left empty: taken from the environment when the server starts"}
}

// Templates are the well-known servers that can be added by name, those that are maintained first.
func Templates() []Template {
	const withNode, withUV = "Needs Node.js.", "Needs uv."
	return []Template{
		{
			Name: "filesystem", Title: "Filesystem", Description: "Reads and writes files below the folders that you name. " + withNode,
			Server: npx("@modelcontextprotocol/server-filesystem", "{folder}"),
			Inputs: []setup.Input{{Name: "folder", Title: "Folder", Description: "a folder that the server may read and write", Kind: setup.Directory, Required: true, Repeated: true}},
		},
		{
			Name: "github", Title: "GitHub", Description: "Repositories, issues and pull requests, at GitHub's own server.",
			Server: remote("https://api.githubcopilot.com/mcp/", map[string]string{"Authorization": "Bearer {GITHUB_TOKEN}"}),
			Inputs: []setup.Input{secret("GITHUB_TOKEN", "Personal access token", "github_pat_…")},
		},
		{
			Name: "github-container", Title: "GitHub, in a container", Description: "GitHub's own server on this machine. Needs Docker.",
			Server: Server{Transport: Stdio, Command: "docker", Args: []string{"run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"}}.
				withEnv(map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "{GITHUB_PERSONAL_ACCESS_TOKEN}"}),
			Inputs: []setup.Input{secret("GITHUB_PERSONAL_ACCESS_TOKEN", "Personal access token", "github_pat_…")},
		},
		{
			Name: "postgres", Title: "PostgreSQL", Description: "Queries, plans and health of a database; it changes nothing. " + withUV,
			Server: uvx("postgres-mcp", "--access-mode=restricted").withEnv(map[string]string{"DATABASE_URI": "{DATABASE_URI}"}),
			Inputs: []setup.Input{secret("DATABASE_URI", "Database", "postgresql://user:password@localhost:5432/name")},
		},
		{
			Name: "slack", Title: "Slack", Description: "Channels, threads and search of a workspace. " + withNode,
			Server: npx("slack-mcp-server@latest", "--transport", "stdio").withEnv(map[string]string{"SLACK_MCP_XOXP_TOKEN": "{SLACK_MCP_XOXP_TOKEN}"}),
			Inputs: []setup.Input{secret("SLACK_MCP_XOXP_TOKEN", "User token", "xoxp-…")},
		},
		{
			Name: "memory", Title: "Memory", Description: "A graph of what was told, kept in a file. " + withNode,
			Server: npx("@modelcontextprotocol/server-memory").withEnv(map[string]string{"MEMORY_FILE_PATH": "{file}"}),
			Inputs: []setup.Input{{Name: "file", Title: "File", Description: "where it is kept; empty: in the folder of the package", Kind: setup.File, Placeholder: "/home/me/memory.jsonl"}},
		},
		{Name: "fetch", Title: "Fetch", Description: "Fetches web pages as Markdown. " + withUV, Server: uvx("mcp-server-fetch")},
		{
			Name: "git", Title: "Git", Description: "Status, diffs, commits and branches of a repository. " + withUV,
			Server: uvx("mcp-server-git", "--repository", "{repository}"),
			Inputs: []setup.Input{{Name: "repository", Title: "Repository", Kind: setup.Directory, Required: true}},
		},
		{Name: "time", Title: "Time", Description: "The time of day in any time zone. " + withUV, Server: uvx("mcp-server-time")},
		{Name: "sequential-thinking", Title: "Sequential thinking", Description: "A tool to think in steps with. " + withNode, Server: npx("@modelcontextprotocol/server-sequential-thinking")},
		{Name: "everything", Title: "Everything", Description: "The reference server with all that the protocol has, to test clients. " + withNode, Server: npx("@modelcontextprotocol/server-everything")},
		{Name: "playwright", Title: "Playwright", Description: "Drives a browser. " + withNode, Server: npx("@playwright/mcp@latest")},
		{Name: "chrome-devtools", Title: "Chrome DevTools", Description: "Console, network and performance of a Chrome. " + withNode, Server: npx("chrome-devtools-mcp@latest")},
		{
			Name: "brave-search", Title: "Brave Search", Description: "Searches the web. " + withNode,
			Server: npx("@brave/brave-search-mcp-server", "--transport", "stdio").withEnv(map[string]string{"BRAVE_API_KEY": "{BRAVE_API_KEY}"}),
			Inputs: []setup.Input{secret("BRAVE_API_KEY", "API key", "BSA…")},
		},
		{Name: "context7", Title: "Context7", Description: "Current documentation of libraries.", Server: remote("https://mcp.context7.com/mcp", nil)},
		{Name: "notion", Title: "Notion", Description: "Pages and databases of a workspace. You log in with a browser.", Server: remote("https://mcp.notion.com/mcp", nil)},
		{Name: "sentry", Title: "Sentry", Description: "Issues, traces and releases. You log in with a browser.", Server: remote("https://mcp.sentry.dev/mcp", nil)},
		{
			Name: "sqlite", Title: "SQLite (reference)", Description: "Queries a database in a file. " + withUV, Archived: "archived in 2025, nobody maintains it",
			Server: uvx("mcp-server-sqlite", "--db-path", "{file}"),
			Inputs: []setup.Input{{Name: "file", Title: "Database", Kind: setup.File, Required: true}},
		},
		{
			Name: "github-reference", Title: "GitHub (reference)", Description: "The first server for GitHub. " + withNode, Archived: "archived in 2025, nobody maintains it: take github",
			Server: npx("@modelcontextprotocol/server-github").withEnv(map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "{GITHUB_PERSONAL_ACCESS_TOKEN}"}),
			Inputs: []setup.Input{secret("GITHUB_PERSONAL_ACCESS_TOKEN", "Personal access token", "github_pat_…")},
		},
		{
			Name: "postgres-reference", Title: "PostgreSQL (reference)", Description: "The first server for PostgreSQL. " + withNode, Archived: "archived in 2025, nobody maintains it, and a query can leave its read-only transaction: take postgres",
			Server: npx("@modelcontextprotocol/server-postgres", "{DATABASE_URI}"),
			Inputs: []setup.Input{secret("DATABASE_URI", "Database", "postgresql://user:password@localhost/name")},
		},
		{
			Name: "slack-reference", Title: "Slack (reference)", Description: "The first server for Slack. " + withNode, Archived: "archived in 2025, nobody maintains it: take slack",
			Server: npx("@modelcontextprotocol/server-slack").withEnv(map[string]string{"SLACK_BOT_TOKEN": "{SLACK_BOT_TOKEN}", "SLACK_TEAM_ID": "{team}"}),
			Inputs: []setup.Input{secret("SLACK_BOT_TOKEN", "Bot token", "xoxb-…"), {Name: "team", Title: "Team", Description: "the workspace's id", Placeholder: "T01234567", Required: true}},
		},
	}
}
