package fuzz

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TestChance: of a failure that comes and goes the report says how often it came, with the plainest call; a replay makes it more than once.
func TestChance(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	cfg := serve(t, tool{"third", `{"type":"object","required":["text"],"properties":{"text":{"type":"string"},"more":{"type":"string"}}}`, "", func(args string) string {
		var in struct{ Text, More *string }
		if json.Unmarshal([]byte(args), &in) != nil || in.Text == nil {
			return fails("Input validation error")
		}
		if calls.Add(1)%3 == 1 {
			return `"error":{"code":-32603,"message":"not now"}`
		}
		return says("well")
	}})
	o := Options{Seed: 7, Runs: 20, Timeout: 30 * time.Second, Only: []string{"third"}, Folder: t.TempDir()}
	late := func(rep *check.Report) (out string) {
		for _, f := range rep.Findings {
			if f.ID == "fuzz/wrong-layer" && f.Place.Name == "third" {
				out += f.Message
			}
		}
		return out
	}
	assert.Contains(t, late(fuzzed(t, cfg, o)), `arguments: {"text":""} (in `, " equal calls: it does not depend on the arguments)") // ten, where the machine has the time
	o.Replay = true
	assert.Contains(t, late(fuzzed(t, cfg, o)), `arguments: {"text":""}`)
}

// TestSideBySide: tools that never answer wait for each other over HTTP too, and each is made sure of by itself.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	var tools []tool
	var now, most atomic.Int64
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	for _, name := range []string{"one", "two", "three"} {
		tools = append(tools, tool{name, anything, "", func(string) string {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			select {
			case <-over:
			case <-time.After(5 * time.Second): // after the client gave up
			}
			return says("late")
		}})
	}
	rep := fuzzed(t, serve(t, tools...), Options{Seed: 7, Runs: 1, Timeout: time.Second})
	for _, name := range []string{"one", "two", "three"} {
		for _, f := range rep.Findings {
			if f.ID == "fuzz/no-answer" && f.Place.Name == name && f.Sure == check.Certain {
				name = ""
			}
		}
		if name != "" {
			t.Errorf("not sure of %s: %q", name, found(rep))
		}
	}
	if most.Load() < 2 {
		t.Error("the calls did not wait beside each other")
	}
}

// TestOnce: a failure that came once, and never again, is one that may be: the report says so.
func TestOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	cfg := serve(t, tool{"rarely", `{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}`, "", func(args string) string {
		var in struct{ Text *string }
		if json.Unmarshal([]byte(args), &in) != nil || in.Text == nil {
			return fails("Input validation error")
		}
		if calls.Add(1) == 4 {
			return `"error":{"code":-32603,"message":"not now"}`
		}
		return says("well")
	}})
	rep := fuzzed(t, cfg, Options{Seed: 7, Runs: 20, Timeout: 30 * time.Second, Only: []string{"rarely"}})
	n := 0
	for _, f := range rep.Findings {
		if f.ID == "fuzz/wrong-layer" {
			if n++; f.Sure != check.Possible || !strings.Contains(f.Message, "seen once, and not again with the same arguments") {
				t.Errorf("%s: %s", f.Sure, f.Message)
			}
		}
	}
	if n != 1 {
		t.Errorf("found %d times: %q", n, found(rep))
	}
}
