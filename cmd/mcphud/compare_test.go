package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// difference is how two answers differ, as it is printed.
func difference(t *testing.T, o outcome) (d runner.ComparedTargets) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.out), &d); err != nil {
		t.Fatalf("%v: %s%s", err, o.out, o.stderr)
	}
	return d
}

// The same call to two servers, or in two versions of the protocol: what really differs is an exit code, and the rest is told apart.
func TestCompareTargets(t *testing.T) {
	one, other := agent(t, agentsrv.Options{}), agent(t, agentsrv.Options{})
	o := mcphud(t, "tools", "call", "echo", "message=hi", "--compare", other, one)
	if d := difference(t, o); o.code != cli.ExitOK || !d.Same || d.Real != 0 || d.Before.Bytes == 0 || d.After.Protocol != "2026-07-28" {
		t.Errorf("%d %+v %s", o.code, d, o.stderr)
	}
	o = mcphud(t, "tools", "call", "echo", "message=hi", "--compare", "protocol:2025-11-25", one)
	d := difference(t, o)
	if o.code != cli.ExitOK || d.Before.Protocol != "2026-07-28" || d.After.Protocol != "2025-11-25" || d.Expected == 0 {
		t.Errorf("%d %+v %s", o.code, d, o.stderr)
	}
	// Another profile lists other tools.
	everything := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	o = mcphud(t, "raw", "tools/list", "--compare", everything, "--url", one)
	if d := difference(t, o); o.code != cli.ExitAssertion || d.Same || d.Real == 0 || o.errorLine(t).Kind != "Assertion" {
		t.Errorf("%d real %d %s", o.code, d.Real, o.stderr)
	}
	o = mcphud(t, "tools", "call", "echo", "message=hi", "--compare", one, "--format", "text", "--url", other)
	o.prints(t, cli.ExitOK, "before", "the same")
}

// A read-only tool is called twice to learn what varies; any other only where that was said.
func TestCompareLearns(t *testing.T) {
	one := agent(t, agentsrv.Options{})
	call := func(words ...string) (outcome, runner.ComparedTargets) {
		t.Helper()
		o := mcphud(t, append([]string{"tools", "call", "--compare", "protocol:2026-07-28", "--url", one}, words...)...)
		return o, difference(t, o)
	}
	// Random bytes are different in each call, and the tool is read-only.
	if o, d := call("random_bytes", "n=16"); o.code != cli.ExitOK || !d.Twice || d.Expected == 0 {
		t.Errorf("%d %+v %s", o.code, d, o.stderr)
	}
	if o, d := call("random_bytes", "n=16", "seed=7"); o.code != cli.ExitOK || d.Twice || d.Expected != 0 {
		t.Errorf("%d %+v %s", o.code, d, o.stderr)
	}
}

// lookalikes are two servers whose tools answer differently, with values that look like noise: one tool may be asked twice, the other not.
func lookalikes(t *testing.T) (one, other string) {
	t.Helper()
	serve := func(answer map[string]any) string {
		result := mcp.NewToolResultStructured(answer, "done")
		_, url := changeable(t,
			answering(mcp.NewTool("sum", mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false)), result),
			answering(mcp.NewTool("book", func(t *mcp.Tool) { t.Annotations = mcp.ToolAnnotation{} }), result))
		return url
	}
	return serve(map[string]any{"md5": "d41d8cd98f00b204e9800998ecf8427e", "account": "1234567890123456", "timeout": "30s", "retryMs": 100}),
		serve(map[string]any{"md5": "0cc175b9c0f1b6a831c399e269772661", "account": "6543210987654321", "timeout": "24h", "retryMs": 90000})
}

// What looks like noise is a difference where the same server was asked twice, and a possible one where it was not: never exit code 0.
func TestCompareNeverGuessesThatAnswersAreTheSame(t *testing.T) {
	one, other := lookalikes(t)
	call := func(words ...string) (outcome, runner.ComparedTargets) {
		t.Helper()
		o := mcphud(t, append([]string{"tools", "call", "--compare", other, "--url", one, "--format", "json"}, words...)...)
		return o, difference(t, o)
	}
	if o, d := call("sum"); o.code != cli.ExitAssertion || d.Same || d.Real != 4 || d.Guesses != 0 || !d.Twice {
		t.Errorf("a read: exit code %d, %+v", o.code, d)
	}
	if o, d := call("book", "--twice"); o.code != cli.ExitAssertion || d.Same || d.Real != 4 || d.Guesses != 0 || !d.Twice {
		t.Errorf("--twice: exit code %d, %+v", o.code, d)
	}
	o, d := call("book")
	if o.code != cli.ExitAssertion || d.Same || d.Real != 0 || d.Guesses != 4 || d.Twice {
		t.Errorf("asked once: exit code %d, %+v", o.code, d)
	}
	assert.Contains(t, o.stderr, "--ignore /structuredContent/account", "--twice", "4 possible differences")
	if o, d := call("book", "--ignore", "/structuredContent/md5", "--ignore", ".structuredContent | .account, .retryMs"); o.code != cli.ExitAssertion || d.Same || d.Guesses != 1 || d.Expected != 3 {
		t.Errorf("some are ignored: exit code %d, %+v", o.code, d)
	}
	if o, d := call("book", "--ignore", "/structuredContent"); o.code != cli.ExitOK || !d.Same || d.Guesses != 0 || d.Expected != 4 {
		t.Errorf("all are ignored: exit code %d, %+v %s", o.code, d, o.stderr)
	}
}

func TestCompareIsRefused(t *testing.T) {
	one := agent(t, agentsrv.Options{})
	for _, c := range []struct {
		words []string
		code  int
		says  string
	}{
		{[]string{"--compare", ""}, cli.ExitFailure, "no second target was named"},
		{[]string{"--twice"}, cli.ExitFailure, "no second target was named"},
		{[]string{"--ignore", "/a"}, cli.ExitFailure, "no second target was named"},
		{[]string{"--compare", "protocol:2025-11-25", "--ignore", ".["}, cli.ExitFailure, "--ignore: "},
		{[]string{"--compare", "nobody"}, cli.ExitUnreachable, "no such server"},
		{[]string{"--compare", "protocol:1999-01-01"}, cli.ExitFailure, "unknown protocol version"},
		{[]string{"--compare", "http://127.0.0.1:1/mcp"}, cli.ExitUnreachable, ""},
		{[]string{"--compare", `node "x`}, cli.ExitFailure, "--compare: "},
		{[]string{"--compare", "protocol:2025-11-25", "--task"}, cli.ExitFailure, "do not go together"},
	} {
		o := mcphud(t, append(append([]string{"tools", "call", "echo", "message=x"}, c.words...), "--format", "json", "--url", one)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.says) || o.out != "" {
			t.Errorf("%v: %d %s%s", c.words, o.code, o.out, o.stderr)
		}
	}
	everything := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	o := mcphud(t, "tools", "call", "random_bytes", "n=1", "--compare", everything, "--format", "json", "--url", one)
	o.exits(t, cli.ExitTool, "there is no tool")
}
