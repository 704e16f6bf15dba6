package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// doctorReport is what of a report scripts look at.
type doctorReport struct {
	Server, Status, Kind, Mcphud, Go, System string
	Connected                                bool
	Steps                                    []struct {
		ID, Status, Fix string
		Evidence        []string
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	program := faketest.Binary(t)
	for _, c := range []struct {
		args   []string
		code   int
		status string
		stderr string
	}{
		{[]string{"--", program, "good"}, 0, "ok", ""},
		{[]string{faketest.HTTP(t, behave.Good, behave.Fault{}).URL}, 0, "ok", ""},
		{[]string{"--", program, "noise"}, 0, "warning", ""},
		{[]string{"--strict", "--", program, "noise"}, 6, "warning", `"kind":"Assertion"`},
		{[]string{"--", program, "exit"}, 4, "failed", `exited with status 3`},
		{[]string{"--", "mcphud-no-such-program"}, 4, "failed", `-e PATH=VALUE`},
		{[]string{"--timeout", "8s", "--", program, "no-answer"}, 7, "failed", `"kind":"Timeout"`},
		{[]string{"--", program, "liar"}, 0, "warning", ""}, // as check says: the other lists work
		{[]string{"--", program, "list-error"}, 11, "failed", `"kind":"Protocol"`},
		{[]string{faketest.HTTP(t, behave.Good, behave.Fault{Status: 401}).URL}, 3, "failed", `"kind":"OAuth"`},
	} {
		r := mcphud(t, append([]string{"doctor", "--format", "json"}, c.args...)...)
		var rep doctorReport
		if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.code != c.code || rep.Status != c.status || !strings.Contains(r.stderr, c.stderr) || c.stderr == "" && r.stderr != "" {
			t.Errorf("%q: %v, exit code %d, want %d\n%s\n%s", c.args, err, r.code, c.code, r.out, r.stderr)
		}
		if rep.Mcphud == "" || rep.Go == "" || rep.System == "" {
			t.Errorf("%+v", rep)
		}
	}
}

func TestDoctorOfConfigs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`servers:
  fine:
    transport: {type: stdio, command: `+faketest.Binary(t)+`, args: [good]}
    unknown_key: 1
  off:
    transport: {type: stdio, command: `+faketest.Binary(t)+`, args: [good]}
    enabled: false
  broken:
    transport: {type: stdio, command: x}
    env: {TOKEN: "${MCPHUD_NOT_THERE}"}
`), 0o600))
	r := mcphud(t, "doctor", "--format", "text", "--config", file, "--server", "fine")
	for _, want := range []string{"! warning Configuration", `unknown key "unknown_key"`, "✓ ok      Handshake", "! 1 warning, in "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("it does not say %q:\n%s%s", want, r.out, r.stderr)
		}
	}
	r.exits(t, 0)
	r = mcphud(t, "doctor", "--format", "text", "--config", file, "--server", "broken")
	if r.code != 4 || !strings.Contains(r.out, "✗ failed  Variables") || !strings.Contains(r.out, "not set: MCPHUD_NOT_THERE") || !strings.Contains(r.stderr, "set MCPHUD_NOT_THERE") {
		t.Error(r.code, r.out, r.stderr)
	}
	r = mcphud(t, "doctor", "--format", "text", "--all", "--config", file)
	r.prints(t, 4, "fine    ! warning", "off     ! warning", "broken  ✗ failed")
	if r = mcphud(t, "doctor", "--format", "jsonl", "--all", "--config", file); !strings.HasPrefix(r.out, `{"server":"fine",`) || strings.Count(r.out, "\n") != 3 {
		t.Error(r.out)
	}
	for _, args := range [][]string{{"--all", "--server", "fine", "--config", file}, {"--config", file}, {"--server", "none", "--config", file}} {
		if r := mcphud(t, append([]string{"doctor"}, args...)...); r.code == 0 || r.out != "" {
			t.Errorf("%q: %d %s", args, r.code, r.out)
		}
	}
}

// The bundled agent is healthy in every profile: what is wrong with some of them are their tools, which nobody calls.
func TestDoctorOfTheAgent(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"demo", "everything", "hostile", "fault"} {
		c := command(t, "doctor", "--format", "json")
		c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral", "--profile", profile)
		out, err := c.Output()
		var rep doctorReport
		if bad := json.Unmarshal(out, &rep); err != nil || bad != nil || rep.Status != "ok" || !rep.Connected {
			t.Errorf("%s: %v, %v\n%s", profile, err, bad, out)
		}
	}
}

// What doctor sees is in the journal, of one server and of all.
func TestDoctorKeepsAJournal(t *testing.T) {
	t.Parallel()
	dir, program := t.TempDir(), faketest.Binary(t)
	file, configs := filepath.Join(dir, "j.jsonl"), filepath.Join(dir, "mcphud.yaml")
	if r := mcphud(t, "doctor", "--format", "json", "--journal", file, "-e", "API_TOKEN=s3cr3t-value-1", "--", program, "good"); r.code != 0 {
		t.Fatal(r.code, r.stderr)
	}
	got := contents(file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(got, `"server/discover"`) || !strings.Contains(got, `"tools/list"`) || strings.Contains(got, "s3cr3t") {
		t.Errorf("%v: %.2000s", err, got)
	}
	mcphud(t, "journal", "stats", file).exits(t, 0)
	text := "servers:\n  one: {transport: {type: stdio, command: " + program + ", args: [good]}}\n  two: {transport: {type: stdio, command: " + program + ", args: [noise]}}\n"
	require.NoError(t, os.WriteFile(configs, []byte(text), 0o600))
	all := filepath.Join(dir, "all.jsonl")
	r := mcphud(t, "doctor", "--all", "--format", "jsonl", "--config", configs, "--journal", all)
	if got := contents(all); r.code != 0 || !strings.Contains(got, `"one"`) || !strings.Contains(got, `"two"`) {
		t.Errorf("%d %s: %.2000s", r.code, r.stderr, got)
	}
	// What the other server wrote is not held against one.
	var one doctorReport
	if line, _, _ := strings.Cut(r.out, "\n"); json.Unmarshal([]byte(line), &one) != nil || one.Server != "one" || one.Status != "ok" {
		t.Errorf("%+v", one)
	}
	for _, args := range [][]string{{"--journal", dir}, {"--journal-raw"}} {
		mcphud(t, append(append([]string{"doctor"}, args...), "--", program, "good")...).exits(t, cli.ExitFailure, "--journal")
	}
}

func TestDoctorAsksWhichServer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	require.NoError(t, os.WriteFile(file, []byte("servers:\n  first: {transport: {type: stdio, command: nothing-here-1}}\n  second: {transport: {type: stdio, command: nothing-here-2}}\n"), 0o600))
	term := startUI(t, "doctor", "--config", file)
	term.shows("Which server (1-2)?")
	typed(t, term, "2")
	term.shows(`command "nothing-here-2" not found`)
	term.shows("→ install it, give its full path")
}
