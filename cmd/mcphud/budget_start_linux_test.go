package main

import (
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Against a server that runs already, what the program itself needs is nearly all of the time: 1.8 times that of a 40-line program,
// beyond what the initialisation of its packages takes.
func TestBudgetStartHTTP(t *testing.T) {
	budget.Skip(t)
	fortyline := faketest.Program(t, "testdata/fortyline")
	url := serveAgent(t).url
	list := func() time.Duration {
		took, _ := lastByte(t, program(t, "tools", "list", "--url", url, "--format", "json"))
		return took
	}
	got, base := budget.Pair(list, func() time.Duration {
		took, _ := lastByte(t, exec.Command(fortyline, url))
		return took
	})
	budget.Beyond(t, "exec to tools listed over HTTP, beyond a 40-line program", got, base, base*8/10+initialisation(t))
	budget.Size(t, "a few tools listed over HTTP, peak memory", peak(t, func() *exec.Cmd { return program(t, "tools", "list", "--url", url) }), listMemory, 1)
}

// A server that takes its time, a third of a second, hides what the program needs.
func TestBudgetPeerStartStdio(t *testing.T) {
	budget.Skip(t)
	s, fortyline := peertest.Everything(t), faketest.Program(t, "testdata/fortyline")
	got, base := budget.Pair(printed(t, 1000, s, "tools", "list", "--format", "json"), func() time.Duration {
		took, _ := lastByte(t, exec.Command(fortyline, append([]string{s.Command}, s.Args...)...))
		return took
	})
	budget.Ratio(t, "exec to tools listed of server-everything, against a 40-line program", got, base, 1.1)
}

// The Inspector's command line is an order of magnitude faster here than where it comes from, on the same server.
func TestBudgetPeerInspector(t *testing.T) {
	budget.Skip(t)
	inspector, url := peertest.Inspector(t), peertest.EverythingHTTP(t).Server.URL
	theirs := func() *exec.Cmd {
		cmd := program(t, inspector[1:]...) // for its home
		cmd.Path = inspector[0]
		cmd.Args = append(append([]string{}, inspector...), url, "--method", "tools/list")
		return cmd
	}
	ours := func() *exec.Cmd { return program(t, verbinspect.Inspecting, url, "--method", "tools/list") }
	if cmd := ours(); !json.Valid(must(t, cmd)) {
		t.Fatal(cmd)
	}
	measure := func(cmd func() *exec.Cmd) func() time.Duration {
		return func() time.Duration {
			took, _ := lastByte(t, cmd())
			return took
		}
	}
	got, base := budget.Pair(measure(ours), measure(theirs))
	budget.Ratio(t, "the Inspector's tools/list over HTTP, against the Inspector", got, base, 1./3)
	budget.Size(t, "the Inspector's tools/list, peak memory, against the Inspector", peak(t, ours), peak(t, theirs), 0.2)
}

func must(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	out, err := cmd.Output()
	require.NoError(t, err)
	return out
}

// listMemory is what a program that lists a few tools may take of memory of its own.
const listMemory = 14 << 20

// peak is the most memory of its own that a run of a program has, the largest of five.
func peak(t *testing.T, prepare func() *exec.Cmd) (most int64) {
	t.Helper()
	for range 5 {
		size, err := budget.Peak(prepare())
		require.NoError(t, err)
		most = max(most, size)
	}
	if most < 1<<20 {
		t.Fatalf("a peak of %d bytes", most)
	}
	return most
}

// A program that lists a few tools is as small as its work.
func TestBudgetListMemory(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Good)
	budget.Size(t, "a few tools listed, peak memory", peak(t, func() *exec.Cmd { return program(t, target(s, "tools", "list")...) }), listMemory, 1)
}
