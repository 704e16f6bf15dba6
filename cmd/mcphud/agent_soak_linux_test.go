package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// TestAgentStaysFlat makes the same calls over and over, from callers that come and go: what the process holds does not
// grow with their number.
func TestAgentStaysFlat(t *testing.T) {
	s := serveAgent(t, "--ephemeral", "--rate-limit", "0", "--tenant-concurrency", "0", "--concurrency", "4", "--queue-capacity", "1000")
	round := func(n int) {
		many(8, func(int) {
			for i := range n {
				frame := echoFrame
				switch i % 10 {
				case 0: // a session that nobody ends
					frame = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
				case 1:
					frame = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
				case 2:
					frame = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + fmt.Sprint("nobody", i) + `","arguments":{}}}`
				}
				if _, err := s.send(http.MethodPost, s.url, frame, "Accept", "application/json, text/event-stream"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	n := 200
	if budget.Race() {
		n = 60
	}
	round(n)
	before, rss := s.held(), budget.Status(t, s.cmd.Process.Pid, "VmRSS")>>20
	for range 3 {
		round(n)
	}
	var after held
	require.Eventually(t, "files and goroutines to be given back", func() bool {
		after = s.held()
		return after.within(held{before.files + 2, before.children, before.goroutines + 4})
	})
	if now := budget.Status(t, s.cmd.Process.Pid, "VmRSS") >> 20; now > rss+24 {
		t.Errorf("%d MB resident after %d calls, %d MB after %d more", rss, 8*n, now, 24*n)
	}
}
