package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// A kill at any moment leaves the configuration and the history whole, with all that was said to be in them, and tears no line of the
// journal but its last.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	servers, traffic := filepath.Join(home, "mcp.json"), filepath.Join(home, "traffic.jsonl")
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_STATE_HOME=" + home + "/.state", cli.NoHistory + "="}
	run := func(late time.Duration, args ...string) (whole bool) {
		cmd := command(t, args...)
		cmd.Dir, cmd.Env = home, append(cmd.Env, env...)
		require.NoError(t, cmd.Start())
		killed := time.AfterFunc(late, func() { _ = cmd.Process.Kill() })
		defer killed.Stop()
		_ = cmd.Wait() // the verdict is its state
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return false
		}
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitOK {
			t.Errorf("%v ended with %d", args, code)
		}
		return true
	}
	look := func(args ...string) outcome {
		cmd := command(t, args...)
		cmd.Dir, cmd.Env = home, append(cmd.Env, env...)
		return finish(t, cmd)
	}
	call := func(i int) []string {
		return []string{"tools", "call", "echo", "message=m" + strconv.Itoa(i), "--journal", traffic, "--", "env", "-u", asMain, asServer + "=" + exampleServer, os.Args[0]}
	}
	add := func(i int) []string {
		return []string{"servers", "add", fmt.Sprintf("s%d-", i), "--to", servers, "--", "true"}
	}
	// One of each, whole: how long they take decides when the others are killed.
	began := time.Now()
	if !run(time.Minute, call(0)...) {
		t.Fatal("the first call was killed")
	}
	calling := time.Since(began)
	began = time.Now()
	if !run(time.Minute, add(0)...) {
		t.Fatal("the first addition was killed")
	}
	adding := time.Since(began)
	rounds := 8
	if budget.All() {
		rounds = 40
	}
	added, called, kills := []string{"s0-"}, 1, 0
	for i := 1; i <= rounds; i++ {
		late := func(whole time.Duration) time.Duration { return whole * time.Duration(5*i) / time.Duration(4*rounds) } // to beyond its end
		if run(late(adding), add(i)...) {
			added = append(added, fmt.Sprintf("s%d-", i))
		} else {
			kills++
		}
		if run(late(calling), call(i)...) {
			called++
		} else {
			kills++
		}
		file, err := os.ReadFile(servers)
		if err != nil || !json.Valid(file) {
			t.Fatalf("round %d: the configuration is %s, %v", i, file, err)
		}
		for _, name := range added {
			if !bytes.Contains(file, []byte(name)) {
				t.Fatalf("round %d: %s is not in the file any more", i, name)
			}
		}
	}
	if kills < rounds/2 {
		t.Errorf("only %d of %d were killed", kills, 2*rounds)
	}
	if n := strings.Count(look("history", "list", "--format", "jsonl").ok(t), "\n"); n < called {
		t.Errorf("%d calls are in the history, %d were answered", n, called)
	}
	lines := bytes.Split(bytes.TrimSuffix([]byte(contents(traffic)), []byte("\n")), []byte("\n"))
	for i, l := range lines {
		if !json.Valid(l) && i < len(lines)-1 {
			t.Errorf("line %d of the journal is torn: %.200s", i+1, l)
		}
	}
	look("explain", traffic).ok(t)
}
