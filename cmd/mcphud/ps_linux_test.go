package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/tap/running"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// psRow is the server with a process id as ps lists it.
func psRow(t *testing.T, pid int) (s running.Server, ok bool) {
	t.Helper()
	var all struct{ Servers []running.Server }
	require.NoError(t, json.Unmarshal([]byte(mcphud(t, "ps", "--format", "json").ok(t)), &all))
	for _, s := range all.Servers {
		if s.PID == pid {
			return s, true
		}
	}
	return s, false
}

// A process that is named like a server is listed with who started it, its age and its memory, until it ends.
func TestPsListsServers(t *testing.T) {
	cat, err := exec.LookPath("cat")
	require.NoError(t, err)
	nap := &exec.Cmd{Path: cat, Args: []string{"mcp-server-nap", "-"}}
	in, err := nap.StdinPipe()
	require.NoError(t, err)
	if _, err := nap.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, nap.Start())
	pid := nap.Process.Pid
	require.Eventually(t, "the server", func() bool { _, ok := psRow(t, pid); return ok })
	s, _ := psRow(t, pid)
	exe, _ := os.Executable()
	if s.Name != "mcp-server-nap" || s.Client != strings.TrimSuffix(filepath.Base(exe), ".exe") || s.User != os.Getpid() || s.Orphan || s.Memory <= 0 || time.Since(s.Started) > time.Hour || s.Argv[0] != "mcp-server-nap" {
		t.Errorf("%+v", s)
	}
	assert.Contains(t, mcphud(t, "ps", "--format", "text").ok(t), "SERVER", "mcp-server-nap", strconv.Itoa(pid))
	_ = in.Close()
	_ = nap.Wait()
	if _, ok := psRow(t, pid); ok {
		t.Error("it is listed after its end")
	}
}

// A server whose client ended is an orphan, where nobody but the first process takes it over.
func TestPsMarksOrphans(t *testing.T) {
	cat, err := exec.LookPath("cat")
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "mcp-server-left")
	b, err := os.ReadFile(cat)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(link, b, 0o700))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close() // which ends it
	client := exec.Command("sh", "-c", `"$0" - <&3 | cat >/dev/null & sleep 0.2; echo done`, link)
	client.ExtraFiles = []*os.File{r}
	require.NoError(t, client.Run())
	_ = r.Close()
	var s running.Server
	require.Eventually(t, "the server", func() bool {
		all, err := running.Processes()
		require.NoError(t, err)
		for _, p := range all {
			if len(p.Argv) > 0 && p.Argv[0] == link {
				s, _ = psRow(t, p.PID)
				return s.PID == p.PID && (p.Parent != 1 || s.Orphan)
			}
		}
		return false
	})
	if s.Orphan != (s.Client == "") {
		t.Errorf("%+v", s)
	}
	if out := mcphud(t, "ps", "--format", "text").ok(t); s.Orphan && !strings.Contains(out, "✗ orphan") {
		t.Error(out)
	}
}
