//go:build unix

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// A recording of a million frames is served soon, in little memory, and its first call indexes only the tool that is asked for.
func TestBudgetMockMillionFrames(t *testing.T) {
	budget.Skip(t)
	name := sessiontest.JournalFile(t, 1_000_000)
	cmd := program(t, "mock", name, "--speed", "max")
	errs := &faketest.Buffer{}
	cmd.Stderr = errs
	start := time.Now()
	require.NoError(t, cmd.Start())
	sc := &screen{t: t, cmd: cmd}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	const ready = "listening on "
	for !strings.Contains(errs.String(), ready) || !strings.HasSuffix(errs.String(), "\n") {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("it does not serve: %s", errs)
		}
		time.Sleep(time.Millisecond)
	}
	budget.Ceiling(t, "a mock of 1,000,000 frames (1.5 GB), exec to listening", time.Since(start), 10*time.Second)
	_, url, _ := strings.Cut(errs.String(), ready)
	url, _, _ = strings.Cut(url, "\n")
	start = time.Now()
	frame := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool7","arguments":{"n":499957,"text":"nearest"},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(frame))
	require.NoError(t, err)
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "tool7"} {
		r.Header.Set(k, v)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "abcdefghij") {
		t.Fatalf("%v: %.500s", err, body)
	}
	budget.Ceiling(t, "a mock of 1,000,000 frames (1.5 GB), first call of a tool", time.Since(start), 2*time.Second)
	budget.Size(t, "a mock of 1,000,000 frames (1.5 GB), peak memory of the process", sc.memory("VmHWM"), 500_000_000, 1)
}
