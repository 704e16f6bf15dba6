package doctor_test

import (
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

func TestEntriesThatAreWrong(t *testing.T) {
	t.Parallel()
	_, s := entry(t, "mcphud.yaml", "servers:\n  a:\n    transport: {type: stdio, command: x}\n    env: {TOKEN: \"${NOT_THERE}\"}\n")
	r := diagnose(t, s)
	fails(t, r, "variables", failure.SpawnFailed, "not set: NOT_THERE", "set NOT_THERE in the environment", "mcphud.yaml:4")
	want(t, r, "config", doctor.OK, "mcphud.yaml:2 (mcphud)")
	want(t, r, "spawn", doctor.Skipped, "without its variables")

	_, s = entry(t, "mcp.json", `{"mcpServers": {"a": {"command": ["x"]}}}`)
	r = diagnose(t, s)
	fails(t, r, "config", failure.SpawnFailed, "command: is ", "correct ", "mcp.json:1")
	want(t, r, "spawn", doctor.Skipped, "cannot be started as it is")
}

func TestEntriesThatAreOdd(t *testing.T) {
	t.Parallel()
	good := faketest.Stdio(t, behave.Good)
	set, s := entry(t, "mcp.json", `{"mcpServers": {"a": {"command": "`+good.Command+`", "args": ["good"], "disabled": true, "argss": [], "env": {"API_KEY": "<your key>", "MODE": "x"}}}}`)
	warnings := doctor.WarningsOf(set, s)
	if len(warnings) != 1 {
		t.Fatalf("%v", set.Warnings)
	}
	r := doctor.Run(t.Context(), doctor.Target{Server: s, Warnings: warnings}, doctor.Options{}, nil)
	want(t, r, "config", doctor.Warning, `unknown key "argss"`, "the entry is disabled")
	want(t, r, "variables", doctor.Warning, "without a real value: API_KEY", "MODE = x")
	if !r.Connected() || r.Err() != nil {
		t.Error(said(r))
	}
}

func TestAnEntryThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	for _, from := range []config.Source{
		{File: "/srv/project/.mcp.json", Line: 3, Dialect: "claude-code", Project: true},
		{File: "https://registry.example", Dialect: "server.json", Published: &config.Published{Name: "a.b/c"}},
	} {
		s := faketest.Stdio(t, behave.Good)
		s.Source = from
		r := diagnose(t, s)
		fails(t, r, "config", failure.ServerDisabled, "not trusted yet")
		want(t, r, "spawn", doctor.Skipped, "not trusted is not started")
		want(t, r, "runtime", doctor.Skipped)
	}
}
