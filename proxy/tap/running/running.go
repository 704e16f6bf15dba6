// Package running finds the MCP servers that run on this machine, and the programs that use them.
package running

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/proxy/tap/wrap"
)

// Process is a process of this user.
type Process struct {
	PID, Parent int
	Argv        []string
	Started     time.Time
	Memory      int64 // resident, in bytes
	Pipes       bool  // its stdin and stdout are pipes or sockets, as those of a stdio server are
}

// Server is an MCP server: a process with all that it started.
type Server struct {
	Name    string    `json:"name"`
	PID     int       `json:"pid"`
	Client  string    `json:"client,omitempty"` // the program that uses it, "" if it is gone or unknown
	User    int       `json:"client_pid,omitempty"`
	Tapped  bool      `json:"tapped,omitempty"` // it runs below mcphud tap
	Orphan  bool      `json:"orphan"`           // whoever started it is gone
	Started time.Time `json:"started"`
	Memory  int64     `json:"memory_bytes"` // with that of the processes below it
	Argv    []string  `json:"command"`      // of the server, without tap; secrets are in it
}

// clients are programs that start MCP servers: by the name of the program, or of the package that node or python runs.
var clients = map[string]string{
	"claude": "Claude Code", "claude-code": "Claude Code", "claude-desktop": "Claude Desktop", "cursor": "Cursor", "code": "VS Code",
	"code-insiders": "VS Code", "codium": "VSCodium", "windsurf": "Windsurf", "codex": "Codex", "gemini": "Gemini CLI", "gemini-cli": "Gemini CLI",
	"inspector": "MCP Inspector", "mcp-inspector": "MCP Inspector", "zed": "Zed", "goose": "Goose", "opencode": "opencode", "lm-studio": "LM Studio",
	"mcphud": "mcphud", "mcphost": "mcphost", "mcp-cli": "mcp-cli",
}

// launchers run a program that an argument names.
var launchers = []string{
	"npx", "npm", "pnpm", "pnpx", "bunx", "bun", "yarn", "uvx", "uv", "pipx", "node", "deno", "python", "python3", "tsx", "ts-node",
	"docker", "podman", "env", "sh", "bash", "dash", "zsh", "go", "java", "dotnet", "ruby",
}

// named is what packages and files of MCP servers are called: server-everything of @modelcontextprotocol, or mcp as a word.
var named = regexp.MustCompile(`(?i)@modelcontextprotocol[/+]server-|(^|[^a-z0-9])mcp([^a-z]|$)|(^|[^a-z0-9])mcp-?server|fastmcp`)

// program is the name of what runs, in lower case and without its extension.
func program(argv0 string) string {
	name := strings.ToLower(path.Base(filepath.ToSlash(strings.TrimPrefix(argv0, "-"))))
	return strings.TrimSuffix(name, ".exe")
}

// isLauncher reports whether a program runs another; python3.12 is python.
func isLauncher(name string) bool {
	return slices.Contains(launchers, strings.TrimRight(name, "0123456789.")) || slices.Contains(launchers, name)
}

// plain is a command line whose launcher has its usual name.
func plain(argv []string) []string {
	name := program(argv[0])
	if !isLauncher(name) {
		return argv
	}
	if !slices.Contains(launchers, name) {
		name = strings.TrimRight(name, "0123456789.")
	}
	return append([]string{name}, argv[1:]...)
}

// Words that name a file or a folder of many servers, and so none.
var (
	anyFile   = []string{"index", "main", "server", "cli", "app", "run", "__main__"}
	anyFolder = []string{"dist", "build", "src", "bin", "lib", "out", "."}
)

// nameOf is a short name for what a process runs. A file that is called as many are has the name of its folder.
func nameOf(argv []string) string {
	name := wrap.NameOf(plain(argv))
	if !slices.Contains(anyFile, name) {
		return name
	}
	for dir := path.Dir(filepath.ToSlash(subject(argv))); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if b := path.Base(dir); !slices.Contains(anyFolder, b) {
			return b
		}
	}
	return name
}

// subject is what a process runs: its own program, or what a launcher was given, as a path or a package.
func subject(argv []string) string {
	name := program(argv[0])
	if !isLauncher(name) {
		return argv[0]
	}
	want := wrap.NameOf(plain(argv))
	for _, a := range argv[1:] {
		if strings.Contains(a, want) && !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return want
}

// clientOf is the client that a process is, "" if none.
func clientOf(argv []string) string {
	if len(argv) == 0 || tap(argv) != nil {
		return ""
	}
	what := filepath.ToSlash(subject(argv))
	if name := clients[program(what)]; name != "" {
		return name
	}
	for _, p := range []struct{ part, name string }{
		{"@anthropic-ai/claude-code", "Claude Code"}, {"@google/gemini-cli", "Gemini CLI"}, {"@openai/codex", "Codex"}, {"@modelcontextprotocol/inspector", "MCP Inspector"},
	} {
		if strings.Contains(what, p.part) {
			return p.name
		}
	}
	return ""
}

// tap is the command that mcphud tap runs, nil for another process.
func tap(argv []string) []string {
	if len(argv) < 4 || argv[1] != "tap" || program(argv[0]) != "mcphud" {
		return nil
	}
	if n := slices.Index(argv, "--"); n > 0 && n+1 < len(argv) {
		return argv[n+1:]
	}
	return nil
}

// isServer reports whether a process is an MCP server by its looks: what it runs is named like one, or is a command of the
// configurations.
func isServer(p *Process, configured [][]string) bool {
	if len(p.Argv) == 0 || clientOf(p.Argv) != "" {
		return false
	}
	argv := p.Argv
	if own := tap(argv); own != nil {
		return true
	}
	if slices.ContainsFunc(configured, func(c []string) bool { return ends(argv, c) }) {
		return true
	}
	name := program(argv[0])
	if name == "sh" || name == "bash" || name == "dash" || name == "zsh" {
		return false // what it runs is a process of its own
	}
	what := filepath.ToSlash(subject(argv))
	if isLauncher(name) && len(argv) == 1 {
		return false // it runs nothing
	}
	// Of a path, what counts is the file and the package that it is in.
	if i := strings.LastIndex(what, "/node_modules/"); i >= 0 {
		return named.MatchString(what[i+len("/node_modules/"):])
	}
	return named.MatchString(path.Base(what)) || !strings.HasPrefix(what, "/") && !strings.HasPrefix(what, ".") && named.MatchString(what)
}

// ends reports whether a command line is a configured one, whatever path its program has.
func ends(argv, configured []string) bool {
	return len(configured) > 0 && len(argv) == len(configured) && program(argv[0]) == program(configured[0]) && slices.Equal(argv[1:], configured[1:])
}

// Servers finds the servers among processes. configured are the command lines of known configurations.
func Servers(all []Process, configured [][]string) []Server {
	t := tree{at: map[int]*Process{}, below: map[int][]int{}}
	for i := range all {
		p := &all[i]
		t.at[p.PID] = p
		t.below[p.Parent] = append(t.below[p.Parent], p.PID)
	}
	servers := map[int]bool{}
	for i := range all {
		p := &all[i]
		servers[p.PID] = isServer(p, configured) || p.Pipes && t.child(p)
	}
	var out []Server
	for i := range all {
		p := &all[i]
		if !servers[p.PID] || t.inside(p, servers) {
			continue
		}
		s := Server{PID: p.PID, Name: nameOf(p.Argv), Argv: p.Argv, Started: p.Started, Memory: t.memory(p.PID, 0)}
		if own := tap(p.Argv); own != nil {
			s.Tapped, s.Argv, s.Name = true, own, tapName(p.Argv, own)
		}
		s.Client, s.User, s.Orphan = t.client(p)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Server) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Name, b.Name), cmp.Compare(a.PID, b.PID))
	})
	return out
}

// tapName is the name that mcphud tap shows a server under.
func tapName(argv, own []string) string {
	for i, a := range argv[:len(argv)-len(own)] {
		if v, ok := strings.CutPrefix(a, "--name="); ok {
			return v
		}
		if a == "--name" {
			return argv[i+1]
		}
	}
	return nameOf(own)
}
