package config

import (
	"path/filepath"
	"strings"
)

// Dialects: who defined the file's format.
const (
	Mcphud        = "mcphud"         // mcphud.yaml, mcp.yaml
	ClaudeDesktop = "claude-desktop" // claude_desktop_config.json
	ClaudeCode    = "claude-code"    // .mcp.json, ~/.claude.json
	Cursor        = "cursor"         // .cursor/mcp.json
	Generic       = "mcpServers"     // --config FILE of no known name
)

// candidate is a file that may exist.
type candidate struct {
	path     string
	dialect  string
	project  bool
	required bool // named by the user: not being there is an error
}

// candidates lists o's files in order of precedence (see the package comment).
func (o Options) candidates() []candidate {
	if len(o.Files) > 0 {
		var cs []candidate
		for _, f := range o.Files {
			f = o.abs(f)
			cs = append(cs, candidate{path: f, dialect: dialectOf(f), required: true})
		}
		return cs
	}
	own := candidate{path: under(o.ConfigDir(), "mcphud.yaml"), dialect: Mcphud}
	if f := o.env("MCPHUD_CONFIG"); f != "" {
		f = o.abs(f)
		own = candidate{path: f, dialect: dialectOf(f), required: true}
	}
	cs := []candidate{
		own,
		{path: under(o.Home, ".claude.json"), dialect: ClaudeCode},
		{path: under(o.claudeDesktop(), "claude_desktop_config.json"), dialect: ClaudeDesktop},
		{path: under(o.Home, ".cursor", "mcp.json"), dialect: Cursor},
		{path: under(o.Cwd, "mcphud.yaml"), dialect: Mcphud, project: true},
		{path: under(o.Cwd, "mcp.yaml"), dialect: Mcphud, project: true},
		{path: under(o.Cwd, ".mcp.json"), dialect: ClaudeCode, project: true},
		{path: under(o.Cwd, ".cursor", "mcp.json"), dialect: Cursor, project: true},
	}
	// Started from the home folder, one file can be found twice; the first
	// mention says whose it is.
	seen := map[string]bool{"": true}
	out := cs[:0]
	for _, c := range cs {
		if !seen[c.path] {
			seen[c.path] = true
			out = append(out, c)
		}
	}
	return out
}

func (o Options) abs(path string) string {
	if filepath.IsAbs(path) || o.Cwd == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(o.Cwd, path)
}

// dialectOf guesses by the name of a file the user pointed at.
func dialectOf(path string) string {
	base := strings.ToLower(filepath.Base(path))
	switch {
	case base == "claude_desktop_config.json":
		return ClaudeDesktop
	case base == ".mcp.json", base == ".claude.json":
		return ClaudeCode
	case base == "mcp.json" && filepath.Base(filepath.Dir(path)) == ".cursor":
		return Cursor
	case strings.HasSuffix(base, ".yaml"), strings.HasSuffix(base, ".yml"):
		return Mcphud
	}
	return Generic
}

// strictTop says whether every top-level key of the file is ours to know. The
// others are also their program's settings file.
func strictTop(dialect string) bool { return dialect == Mcphud || dialect == Cursor }

// words is a set of keys.
type words map[string]bool

func set(keys ...string) words {
	w := words{}
	for _, k := range keys {
		w[k] = true
	}
	return w
}

// topKeys are read at the top of a file.
func topKeys() words {
	return set("mcpServers", "servers", "mcp", "$schema", "version")
}

// entryKeys are read in an entry, or known to belong to the file's own program
// and to say nothing about the server (Cursor's and Claude's display settings).
func entryKeys(dialect string) words {
	w := set("type", "transport", "command", "args", "env", "envFile", "cwd", "url", "headers", "oauth",
		"enabled", "disabled", "protocol", "roots", "timeout", "max_timeout", "connect_timeout", "max_frame", "auto_reconnect")
	switch dialect {
	case Mcphud:
		w["id"], w["name"] = true, true
	case Generic:
		w["serverUrl"] = true
		fallthrough
	default:
		for _, k := range []string{"description", "name", "icon", "alwaysAllow", "autoApprove", "auth"} {
			w[k] = true
		}
	}
	return w
}
