package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/budget"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/faketest"
	"github.com/mcphud/mcphud/session/faketest/behave"
	"github.com/mcphud/mcphud/session/peertest"
)

// coldStart is what the program may need beyond a 40-line one and its own
// package initialisation.
const coldStart = 60 * time.Millisecond

// program prepares a run of the program as users have it, in an empty home.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(faketest.Program(t, "cmd/mcphud"), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir, "XDG_STATE_HOME="+cmd.Dir, "MCPHUD_CONFIG=", noHistory+"=")
	return cmd
}

// lastByte runs a command to its end and returns the time from exec to the last
// byte of its stdout, and how many bytes there were.
func lastByte(t *testing.T, cmd *exec.Cmd) (took time.Duration, size int) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			took, size = time.Since(start), size+n
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil || size == 0 {
		t.Fatalf("%v: %v, %d bytes, stderr %.1000s", cmd.Args, err, size, stderr.Bytes())
	}
	return took, size
}

// initialisation is what the runtime needs for the program's packages before
// main, as it says itself.
func initialisation(t *testing.T) time.Duration {
	t.Helper()
	clock := regexp.MustCompile(`(?m)^init \S+ @[0-9.]+ ms, ([0-9.]+) ms clock`)
	return budget.Best(func() time.Duration {
		cmd := program(t, "--version")
		cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, m := range clock.FindAllStringSubmatch(trace.String(), -1) {
			ms, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += ms
		}
		if sum == 0 {
			t.Fatal("the runtime traced no initialisation")
		}
		return time.Duration(sum * float64(time.Millisecond))
	})
}

// target is a server's part of the command line.
func target(s config.Server, args ...string) []string {
	return append(append(append(args, "--"), s.Command), s.Args...)
}

func TestBudgetColdStart(t *testing.T) {
	budget.Skip(t)
	fortyline, allowance := faketest.Program(t, "testdata/fortyline"), coldStart+initialisation(t)
	t.Run("fake", func(t *testing.T) {
		compareColdStart(t, "a server that starts at once", fortyline, faketest.Stdio(t, behave.Good), allowance)
	})
	t.Run("everything", func(t *testing.T) {
		compareColdStart(t, "server-everything", fortyline, peertest.Everything(t), allowance)
	})
}

func compareColdStart(t *testing.T, what, fortyline string, s config.Server, allowance time.Duration) {
	got, base := budget.Pair(
		func() time.Duration {
			took, _ := lastByte(t, program(t, target(s, "tools", "list", "--format", "json")...))
			return took
		},
		func() time.Duration {
			took, _ := lastByte(t, exec.Command(fortyline, append([]string{s.Command}, s.Args...)...))
			return took
		})
	budget.Beyond(t, "exec to tools listed, beyond a 40-line program: "+what, got, base, allowance)
}

// fromExec measures a bare server from its start to the end of one answer.
func fromExec(t *testing.T, s config.Server, request string) func() time.Duration {
	return func() time.Duration {
		return budget.Time(func() {
			r := faketest.Open(t, s)
			defer r.Kill()
			r.Handshake()
			r.Send(request)
			if _, err := r.Skip(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// printed measures the program on a server to its last byte.
func printed(t *testing.T, least int, s config.Server, args ...string) func() time.Duration {
	return func() time.Duration {
		took, size := lastByte(t, program(t, target(s, args...)...))
		if size < least {
			t.Fatalf("%d bytes on stdout, want at least %d", size, least)
		}
		return took
	}
}

func TestBudgetManyToolsPrinted(t *testing.T) {
	budget.Skip(t)
	s := faketest.Bare(t)
	got, base := budget.Pair(printed(t, 6_600_000, s, "tools", "list", "--format", "json"),
		fromExec(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	budget.Ratio(t, "5,000 tools printed, exec to last byte, against the bare server", got, base, 1.3)
}

func TestBudgetBigResultPrinted(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Big)
	const payload = 50_000_000
	var peak int64
	budget.Best(func() time.Duration {
		cmd := program(t, target(s, "tools", "call", "big", "--format", "json")...)
		took, _ := lastByte(t, cmd)
		peak = max(peak, maxRSS(cmd.ProcessState))
		return took
	})
	if peak > 0 {
		budget.Size(t, "50 MB result printed, peak memory", peak, payload, 5)
	}
	bare := faketest.Bare(t)
	got, base := budget.Pair(printed(t, payload, bare, "tools", "call", "big", "--format", "json"), func() time.Duration {
		return budget.Time(func() {
			r := faketest.Open(t, bare)
			defer r.Kill()
			r.Handshake()
			r.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			r.Until(`"id":1,`)
			r.Send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"big","arguments":{}}}`)
			if _, err := r.Skip(); err != nil {
				t.Fatal(err)
			}
		})
	})
	budget.Ratio(t, "50 MB result printed, exec to last byte, against the bare server", got, base, 1.5)
}
