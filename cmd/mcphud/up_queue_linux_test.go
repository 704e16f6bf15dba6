package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// The stack file of the manual runs: what one replica accepted all of them know, and the death of one is the end of nothing.
func TestBackendStackOfTheManual(t *testing.T) {
	t.Parallel()
	want := os.Getenv(pgtest.RequireEnv)
	if _, err := exec.LookPath("nats-server"); want == "required" && err != nil {
		t.Fatal(err)
	} else if want == "" || err != nil {
		t.Skipf("needs nats-server; set %s: %v", pgtest.RequireEnv, err)
	}
	m := regexp.MustCompile("(?s)\n```yaml\n(version: 1\n.*?)```").FindStringSubmatch(section(proxy.README, "Several machines"))
	if m == nil {
		t.Fatal("the manual has no stack file")
	}
	u := stackOf(t, strings.ReplaceAll(m[1], "4222", strconv.Itoa(nettest.FreePort(t))), "mcphud.stack.yaml", "--trust")
	if len(u.Servers) != 3 || len(u.Processes) != 5 {
		t.Fatalf("%+v", u.upSummary)
	}
	u.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	type reply struct{ TaskID, Status string }
	ask := func(method, name, params string) (r reply, err error) {
		got, err := u.send(http.MethodPost, u.Servers[0].Routed, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params),
			"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
		var a struct{ Result json.RawMessage }
		if err == nil {
			err = json.Unmarshal([]byte(got.body), &a)
		}
		if err == nil {
			err = json.Unmarshal(a.Result, &r)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w: %+v", method, err, got)
		}
		return r, nil
	}
	const meta = `"_meta":{"async":true,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	var tasks []string
	for range 6 { // each replica runs one, and one more waits for each
		r, err := ask("tools/call", "sleep", `"name":"sleep","arguments":{"seconds":1.5},`+meta)
		require.NoError(t, err)
		tasks = append(tasks, r.TaskID)
	}
	for _, p := range u.Processes {
		if p.Name == "docs-2" {
			require.NoError(t, syscall.Kill(p.PID, syscall.SIGKILL))
		}
	}
	for _, id := range tasks {
		require.Eventually(t, "task "+id, func() bool {
			s, err := ask("tasks/get", id, `"taskId":"`+id+`",`+meta)
			if err != nil {
				t.Log(err) // the router had just sent it to the one that died
			}
			if s.Status == "failed" || s.Status == "cancelled" {
				t.Fatalf("task %s is %s", id, s.Status)
			}
			return s.Status == "completed"
		})
	}
}
