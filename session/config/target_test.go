package config

import (
	"strings"
	"testing"
)

func TestACommandIsNamedAfterWhatItRuns(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything stdio": "server-everything",
		"npx -y @scope/pkg@1.2.3":                              "pkg",
		"npx --package=x -y tool":                              "tool",
		"npx -p @scope/pkg bin":                                "bin",
		"npx":                                                  "npx",
		"C:\\nodejs\\npx.cmd -y firecrawl-mcp":                 "firecrawl-mcp",
		"node build/index.js":                                  "index",
		"node /home/ada/weather/build/index.js":                "weather",
		"node ../weather/dist/src/index.mjs":                   "weather",
		"node --import tsx server.ts":                          "server",
		"node --inspect app/notes.js":                          "notes",
		"python3 x.py":                                         "x",
		"python3.12 -m mcp_server_git --repository .":          "mcp_server_git",
		"/usr/bin/python -u /srv/time/main.py":                 "time",
		"uvx mcp-server-fetch":                                 "mcp-server-fetch",
		"uvx --from git+https://github.com/a/b.git serena":     "serena",
		"uv --directory /srv/x run weather.py":                 "weather",
		"docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:1.0 stdio": "github-mcp-server",
		"java -jar /opt/tools.jar":   "tools",
		"go run ./cmd/weather":       "weather",
		"go run .":                   "go",
		"deno run -A jsr:@scope/pkg": "pkg",
		"./my-server --flag":         "my-server",
		"mcphud agent --stdio":       "mcphud",
	} {
		words := strings.Fields(command)
		if s := OfCommand(words[0], words[1:]...); s.Name != want || !s.Unnamed {
			t.Errorf("%s is %q, want %q", command, s.Name, want)
		}
	}
	if s := OfCommand("sh", "-c", "exec npx foo"); s.Name != "sh" {
		t.Errorf("a program text is called %q", s.Name)
	}
	if s := OfCommand("node", strings.Repeat("x", 500)+".js"); len(s.Name) > 63 {
		t.Errorf("%d bytes", len(s.Name))
	}
}
