package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What tools list says of a tool is what check says of it.
func TestToolsCost(t *testing.T) {
	t.Parallel()
	target := []string{"--url", agent(t, agentsrv.Options{})}
	o := mcphud(t, append([]string{"tools", "list", "--cost", "--format", "json"}, target...)...)
	var got struct {
		Total cost.Sum
		Tools []cost.Entry
	}
	if err := json.Unmarshal([]byte(o.out), &got); err != nil || o.code != cli.ExitOK || len(got.Tools) < 5 || got.Total != cost.Total(got.Tools) {
		t.Fatalf("exit %d, %v: %s%s", o.code, err, o.out, o.stderr)
	}
	if !slices.IsSortedFunc(got.Tools, func(a, b cost.Entry) int { return b.Tokens - a.Tokens }) {
		t.Error("the heaviest is not the first")
	}
	c, _ := checkedIn(t, nil, append([]string{"cost", "--format", "json", "--fail-on", "never"}, target...)...)
	var figures cost.Figures
	if err := json.Unmarshal(reportOf(t, c.out).Sections[1].Figures, &figures); err != nil || figures.Tools != got.Total {
		t.Errorf("%v: check counts %+v, tools list %+v", err, figures.Tools, got.Total)
	}
	o = mcphud(t, append([]string{"tools", "list", "--cost", "--format", "text"}, target...)...)
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	if len(lines) != len(got.Tools)+3 || !slices.Equal(strings.Fields(lines[0]), []string{"tool", "bytes", "tokens", "share", "description", "schema"}) || !strings.HasPrefix(lines[1], got.Tools[0].Name+" ") || !strings.Contains(o.out, cost.Estimate) {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
	mcphud(t, "tools", "list", "--cost", "--all").exits(t, cli.ExitFailure, "--cost is of one server")
}

// What --example prints is what a call takes.
func TestToolsShowExample(t *testing.T) {
	example := mcphud(t, fake(t, behave.Good, "tools", "show", "add", "--example")...).ok(t)
	assert.Equalf(t, example, `{"a":0,"b":0}`+"\n", "the example")
	mcphud(t, fake(t, behave.Good, "tools", "call", "add", "--args", example)...).ok(t)
}
