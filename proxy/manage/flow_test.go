package manage_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// Register, connect, tools for everybody, use, disconnect.
func TestG2_RegisterConnectUseDisconnect(t *testing.T) {
	for _, kind := range []string{"stdio", "shared stdio", "modern stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			g := start(t, "")
			config := map[string]string{
				"stdio": g.stdio("files", behave.Good, ""), "shared stdio": g.stdio("files", behave.Good, `,"session":"shared"`),
				"modern stdio": g.stdio("files", behave.Modern, ""), "http": web("files", faketest.HTTP(t, behave.Good, behave.Fault{}).URL, ""),
			}[kind]

			if got := ok[state](g, "RegisterMcpServer", config); got.Name != "files" || got.Status != "Disconnected" || got.Replaced {
				t.Errorf("%+v", got)
			}
			if status, answer := g.post("/mcps/files/mcp", callEcho); status != http.StatusNotFound {
				t.Errorf("served before it was connected: %d %s", status, answer)
			}
			g.fails("GetMcpTools", named("files"), http.StatusConflict, "ServerNotConnected", "ConnectMcpServer first")

			got := ok[met](g, "ConnectMcpServer", named("files"))
			if got.Status != "Connected" || got.ProtocolVersion == "" || got.ServerInfo.Name == "" || got.Capabilities["tools"] == nil || got.ToolCount < 10 {
				t.Errorf("%+v", got)
			}
			if e := g.entry("files"); e.Status != "Connected" || e.Source != "registered" || !e.Enabled || e.ToolCount == nil || *e.ToolCount != got.ToolCount || e.Error != nil {
				t.Errorf("%+v", e)
			}

			all := ok[tools](g, "GetMcpTools", "")
			if len(all.Tools) != got.ToolCount || len(all.Missing) != 0 || all.Tools[0].Name != "mcp__files__echo" || all.Tools[0].Server != "files" || all.Tools[0].Tool != "echo" {
				t.Errorf("%+v", all)
			}
			if _, list := g.post("/mcps/files/mcp", listTools); kind != "modern stdio" && !strings.Contains(list, string(all.Tools[0].Definition)) {
				t.Errorf("%s is not what the server sent: %s", all.Tools[0].Definition, list)
			}

			if kind != "modern stdio" { // callers without a session are of the legacy era
				if status, answer := g.post("/mcps/files/mcp", callEcho); status != http.StatusOK || !strings.Contains(answer, `"id":7`) || !strings.Contains(answer, "hi") {
					t.Errorf("%d %s", status, answer)
				}
			}
			if _, answer := g.post("/mcp", listTools); !strings.Contains(answer, `"mcp__files__echo"`) {
				t.Errorf("not among all tools: %s", answer)
			}
			if status, answer := g.post("/mcp", strings.Replace(callEcho, `"echo"`, `"mcp__files__echo"`, 1)); status != http.StatusOK || !strings.Contains(answer, "hi") {
				t.Errorf("%d %s", status, answer)
			}
			var pids []int
			if p := g.Status().Agents["files"].Process; p != nil {
				for _, one := range p.Processes {
					pids = append(pids, one.PID)
				}
			}
			if strings.Contains(kind, "stdio") && len(pids) == 0 {
				t.Error("no process serves it")
			}

			if got := ok[state](g, "DisconnectMcpServer", named("files")); got.Name != "files" || got.Status != "Disconnected" {
				t.Errorf("%+v", got)
			}
			if status, answer := g.post("/mcps/files/mcp", callEcho); status != http.StatusNotFound {
				t.Errorf("%d %s", status, answer)
			}
			if _, answer := g.post("/mcp", listTools); strings.Contains(answer, "mcp__files__") {
				t.Errorf("still among all tools: %s", answer)
			}
			for _, pid := range pids {
				require.Eventually(t, fmt.Sprintf("process %d to end", pid), func() bool { return gone(pid) })
			}
			if e := g.entry("files"); e.Status != "Disconnected" || e.Error != nil {
				t.Errorf("%+v", e)
			}
			if got := ok[met](g, "ConnectMcpServer", named("files")); got.Status != "Connected" {
				t.Errorf("connected again: %+v", got)
			}
		})
	}
}

func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || runtime.GOOS != "windows" && p.Signal(syscall.Signal(0)) != nil
}

// What is being done for somebody is finished when its server is disconnected.
func TestG2_DisconnectLetsCallsFinish(t *testing.T) {
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", g.stdio("slow", behave.Good, ""))
	ok[met](g, "ConnectMcpServer", named("slow"))
	type reply struct {
		status int
		text   string
	}
	late := make(chan reply, 1)
	go func() {
		status, text := g.post("/mcps/slow/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":1500}}}`)
		late <- reply{status, text}
	}()
	require.Eventually(t, "the call", func() bool { return g.Calls("slow") == 1 })
	ok[state](g, "DisconnectMcpServer", named("slow"))
	if status, _ := g.post("/mcps/slow/mcp", callEcho); status != http.StatusNotFound {
		t.Errorf("a call after that: %d", status)
	}
	if got := <-late; got.status != http.StatusOK || !strings.Contains(got.text, `"result"`) {
		t.Errorf("%+v", got)
	}
}
