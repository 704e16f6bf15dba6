package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Every command that the manual shows for scripts works as it stands there, with the names of servers put in.
func TestPeerReadmeCommands(t *testing.T) {
	t.Parallel()
	everything := peertest.Everything(t)
	url := peertest.EverythingHTTP(t).Server.URL
	config := filepath.Join(t.TempDir(), "mcphud.json")
	entry := `{"mcpServers":{"everything":{"command":"` + everything.Command + `","args":["stdio"]}}}`
	require.NoError(t, os.WriteFile(config, []byte(entry), 0o600))
	behind := teamOf(t, nil, "demo") // the router
	behind.start("everything", nil, "--profile", "everything")
	const placeholder = "786512e2-9e0d" // the id of a task
	ran := 0
	for line := range strings.Lines(readme) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ mcphud ")
		if !ok {
			continue
		}
		ran++
		t.Run(args, func(t *testing.T) {
			given, err := text.Words(args)
			require.NoError(t, err)
			var words []string
			for _, w := range given {
				switch {
				case w == placeholder:
					w = taskOf(t, behind.agents["everything"].url)
				case w == "mcp-server-everything":
					w = everything.Command
				case w == "http://127.0.0.1:7000/mcp":
					w = behind.agents["demo"].url
				case strings.HasPrefix(w, "http://"):
					w = url
				}
				words = append(words, w)
				if w == "--server" {
					words = append(words[:len(words)-1], "--config", config, w)
				}
			}
			cmd := command(t, words...)
			for i, name := range []string{"answers.yaml", "own.yaml"} { // in this order in the manual
				_, block, _ := strings.Cut(readme, "```yaml\n")
				for range i {
					_, block, _ = strings.Cut(block, "```yaml\n")
				}
				block, _, _ = strings.Cut(block, "```")
				write(t, filepath.Join(cmd.Dir, name), block)
			}
			cmd.Env = append(cmd.Env, "ROUTER_HOST=", "ROUTER_PORT="+strconv.Itoa(portOf(behind.router)), "AGENT_TOKEN=")
			if out := finish(t, cmd).ok(t); out == "" {
				t.Error("nothing on stdout")
			}
		})
	}
	if ran < 5 {
		t.Errorf("%d commands were found", ran)
	}
}

// taskOf starts a task at an agent, and gives its id.
func taskOf(t *testing.T, url string) string {
	t.Helper()
	out := mcphud(t, "tools", "call", "slow_compute", "seconds=2", "--task", "--format", "jsonl", "--url", url).ok(t)
	_, id, _ := strings.Cut(out, `"taskId":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}
