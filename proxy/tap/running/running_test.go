package running

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// machine is processes as lines: number, parent, p where stdin and stdout are pipes, and the command line.
func machine(t *testing.T, text string) (out []Process) {
	t.Helper()
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		p := Process{Argv: f[3:], Pipes: f[2] == "p", Memory: 10, Started: time.Unix(1, 0)}
		if _, err := fmt.Sscan(f[0]+" "+f[1], &p.PID, &p.Parent); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, p)
	}
	return out
}

func TestServers(t *testing.T) {
	for name, c := range map[string]struct {
		processes string
		want      []string
	}{
		"below npx, its shell and node: one row, of the process that the client started": {
			`
			1 0 - /sbin/init
			100 1 - /opt/Claude/claude-desktop
			101 100 - /opt/Claude/claude-desktop --type=renderer
			102 100 p npm exec @modelcontextprotocol/server-github
			103 102 p sh -c mcp-server-github
			104 103 p node /home/a/.npm/_npx/x/node_modules/.bin/mcp-server-github`,
			[]string{"server-github 102 Claude Desktop 100 30"},
		},
		"by packages, modules and images": {
			`
			50 1 - /usr/bin/zsh
			100 50 - claude
			101 100 p uv tool uvx mcp-server-git --repository /r
			102 100 p python3.12 -m mcp_server_fetch
			103 100 p docker run -i --rm mcp/github
			104 100 p /home/a/bin/github-mcp-server stdio
			105 100 p node /srv/app/node_modules/@acme/tools-mcp/dist/index.js`,
			[]string{"mcp-server-git 101 Claude Code 100 10", "mcp_server_fetch 102 Claude Code 100 10", "github 103 Claude Code 100 10", "github-mcp-server 104 Claude Code 100 10", "tools-mcp 105 Claude Code 100 10"},
		},
		"whose client is gone": {
			`
			1 0 - /sbin/init
			40 1 - /usr/lib/systemd/systemd --user
			104 1 p node /x/node_modules/.bin/mcp-server-github
			105 40 p uvx mcp-server-git
			106 1 - node /x/mcp-server-http.js --port 80`,
			[]string{"mcp-server-http 106 - 10", "mcp-server-git 105 orphan 10", "mcp-server-github 104 orphan 10"},
		},
		"whatever a client starts by a launcher, and nothing else of it": {
			`
			100 1 - /usr/share/cursor/cursor
			101 100 p node /home/a/weather/dist/index.js
			102 100 p node /x/typescript/tsserver.js --stdio
			103 100 p bash -c make
			104 100 - node /home/a/detached.js
			105 100 p /usr/share/cursor/cursor --type=gpu`,
			[]string{"weather 101 Cursor 100 10"},
		},
		"below tap": {
			`
			90 1 - node /x/node_modules/@openai/codex/bin/codex.js
			100 90 p /usr/bin/mcphud tap --name far -- npx -y weather
			101 100 p npm exec weather
			102 101 p node /x/weather.js`,
			[]string{"far 100 Codex 90 30 tapped"},
		},
		"of a program that is not known": {
			`
			90 1 - python3 /home/a/agent.py
			100 90 p npx -y @modelcontextprotocol/server-everything stdio
			110 1 - bash
			111 110 - vim /home/a/mcp.json
			112 110 - grep -r mcp .
			113 110 - mcphud tap
			114 110 - node /home/a/own/mcp/build.js`,
			[]string{"server-everything 100 agent 90 10"},
		},
		"of the configurations": {
			`
			90 1 - /usr/bin/code
			100 90 p /opt/weather --units metric
			101 90 p /opt/weather --units other`,
			[]string{"weather 100 VS Code 90 10"},
		},
	} {
		var got []string
		for _, s := range Servers(machine(t, c.processes), [][]string{{"weather", "--units", "metric"}}) {
			row := fmt.Sprintf("%s %d ", s.Name, s.PID)
			switch {
			case s.Client != "":
				row += fmt.Sprintf("%s %d", s.Client, s.User)
			case s.Orphan:
				row += "orphan"
			default:
				row += "-"
			}
			row += fmt.Sprintf(" %d", s.Memory)
			if s.Tapped {
				row += " tapped"
			}
			got = append(got, row)
		}
		want := map[string]bool{}
		for _, w := range c.want {
			want[w] = true
		}
		for _, g := range got {
			if !want[g] {
				t.Errorf("%s: unexpected %q", name, g)
			}
			delete(want, g)
		}
		for w := range want {
			t.Errorf("%s: missing %q of %q", name, w, got)
		}
	}
}

// Parents that form a circle, and command lines of nothing, end the search.
func TestOddProcesses(t *testing.T) {
	all := []Process{
		{PID: 5, Parent: 6, Argv: []string{"mcp-server-x"}, Pipes: true},
		{PID: 6, Parent: 5, Argv: []string{""}},
		{PID: 7, Parent: 7, Argv: nil},
		{PID: 8, Parent: 7, Argv: []string{"npx"}},
		{PID: 9, Parent: 1, Argv: []string{"node", "--"}},
	}
	if got := Servers(all, nil); len(got) > 1 {
		t.Errorf("%+v", got)
	}
}
