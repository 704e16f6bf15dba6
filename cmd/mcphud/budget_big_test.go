//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

const (
	payload    = 50_000_000 // bytes of the text that tool "big" returns
	listTools  = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	callBig    = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"big","arguments":{}}}`
	bigVisible = "the quick brown fox" // what every line of the text has
)

// openBig opens the form of tool "big", whose result is a text of 50 MB.
func openBig(t *testing.T, s config.Server) *screen {
	t.Helper()
	sc := show(t, target(s)...)
	sc.until("tool_0003", "echo")
	sc.press("/big\r") // finds the tool
	sc.until("1 of")   // the cells after it may be on the screen already
	sc.press("\r")
	sc.until("press ctrl+g")
	return sc
}

// A result of 50 MB is on the screen when the server has hardly written it.
func TestBudgetBigResultDrawn(t *testing.T) {
	budget.Push(t)
	s := faketest.Bare(t)
	got, base := budget.MedianPair(func() time.Duration {
		sc := openBig(t, s)
		defer sc.end()
		sc.press("\x07") // ctrl+g
		sc.until("as destructive")
		sc.press("y") // mcp-go calls every tool destructive unless told otherwise
		return sc.until(bigVisible)
	}, func() time.Duration {
		r := faketest.Open(t, s)
		defer r.Kill()
		r.Handshake()
		r.Send(listTools)
		r.Until(`"id":1,`)
		return budget.Time(func() {
			r.Send(callBig)
			if _, err := r.Skip(); err != nil {
				t.Fatal(err)
			}
		})
	})
	budget.Ratio(t, "50 MB result drawn, against the bare server", got, base, 1.5)
}

// What 50 MB cost in memory is told by the kernel: resident memory, without
// what the program had before the call.
func TestBudgetBigResultMemory(t *testing.T) {
	budget.Push(t)
	sc := openBig(t, faketest.Stdio(t, behave.Big))
	before := sc.memory("VmRSS")
	sc.press("\x07")
	sc.until(bigVisible)
	sc.press("G")                // the result is used as people use it
	sc.until("500000 the quick") // only what changes of a row is drawn: its "line " may have been there before
	budget.Size(t, "50 MB result, peak memory of the process", sc.memory("VmHWM"), payload, 5)
	budget.Size(t, "50 MB result, memory once shown", sc.settled()-before, payload, 2)
}

// press types and starts the clock.
func (s *screen) press(keys string) {
	s.t.Helper()
	s.out.Reset()
	s.start = time.Now()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// settled is the resident memory once it no longer shrinks: the runtime gives
// freed memory back a little later.
func (s *screen) settled() int64 {
	least := s.memory("VmRSS")
	for range 40 {
		time.Sleep(100 * time.Millisecond)
		least = min(least, s.memory("VmRSS"))
	}
	return least
}

// memory is a size out of /proc/PID/status in bytes.
func (s *screen) memory(field string) int64 { return budget.Status(s.t, s.cmd.Process.Pid, field) }
