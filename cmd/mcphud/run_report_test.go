package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A run writes reports of its calls, and of nothing else, whatever comes of them; what it prints and its exit code stay as they are.
func TestRunReports(t *testing.T) {
	withCalls(t)
	project(t, map[string]string{
		"a.yaml": "tool: echo\narguments: {text: hi, message: hi}\n",
		"b.yaml": "tool: echo\narguments: {text: hi, message: hi}\nexpect: .nothing\n",
	})
	type suites struct {
		Suites []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	cases := func(text string) (names string, failed int) {
		t.Helper()
		var s suites
		if err := xml.Unmarshal([]byte(text), &s); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, suite := range s.Suites {
			for _, c := range suite.Cases {
				names += c.Name + "\n"
				if c.Failure != nil {
					failed++
				}
			}
		}
		return names, failed
	}
	o := mcphud(t, fake(t, behave.Good, "run", ".mcphud/calls", "--report", "junit=r.xml", "--report", "json=r.json", "--format", "jsonl")...)
	if o.code != cli.ExitAssertion || strings.Count(o.out, `"verdict"`) != 2 {
		t.Errorf("exit %d: %s %s", o.code, o.out, o.stderr)
	}
	if names, failed := cases(contents("r.xml")); strings.Count(names, "\n") != 2 || failed != 1 || strings.Contains(names, "server") {
		t.Errorf("%d failed of\n%s", failed, names)
	}
	if !json.Valid([]byte(contents("r.json"))) {
		t.Error(contents("r.json"))
	}
	// A single call, on stdout; and a server that is not there.
	o = mcphud(t, fake(t, behave.Good, "run", "a", "--report", "junit")...)
	if names, failed := cases(o.ok(t)); strings.Count(names, "\n") != 1 || failed != 0 {
		t.Errorf("%s", names)
	}
	o = mcphud(t, "run", ".mcphud/calls", "--report", "junit=gone.xml", "--", "./no-such-server")
	if names, failed := cases(contents("gone.xml")); o.code != cli.ExitUnreachable || failed != 2 || strings.Count(names, "\n") != 2 {
		t.Errorf("exit %d, %d failed: %s", o.code, failed, o.stderr)
	}
	for arg, want := range map[string]string{"junt=x": "did you mean junit?", "junit=": "no file after =", "junit=no/x.xml": "is not a folder"} {
		mcphud(t, fake(t, behave.Good, "run", "a", "--report", arg)...).exits(t, cli.ExitFailure, want)
	}
}

// What the files of a project describe is started where the command line agrees to it, and from then on, until it changes.
func TestRunTrust(t *testing.T) {
	withCalls(t)
	s := faketest.Stdio(t, behave.Good)
	file := func(args ...string) string {
		argv, err := json.Marshal(append([]string{s.Command}, args...))
		require.NoError(t, err)
		return "command: " + string(argv) + "\ntool: echo\narguments: {text: hi, message: hi}\n"
	}
	dir := project(t, map[string]string{"own.yaml": file(s.Args...), "away.yaml": "url: http://127.0.0.1:1/mcp\ntool: echo\n"})
	if o := mcphud(t, "run", "own"); o.code != cli.ExitUnreachable || !strings.Contains(o.stderr, "--trust") {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	o := mcphud(t, "run", "own", "--trust")
	if o.ok(t); !strings.Contains(o.stderr, "trusted until it changes, by --trust: "+s.Command) {
		t.Errorf("it does not say what was trusted: %s", o.stderr)
	}
	if o := mcphud(t, "run", "own"); o.code != 0 || strings.Contains(o.stderr, "trust") {
		t.Errorf("it is not remembered: exit %d: %s", o.code, o.stderr)
	}
	assert.Contains(t, mcphud(t, "run", "away").stderr, "not trusted yet")
	write(t, filepath.Join(dir, "own.yaml"), file(append(s.Args, "more")...))
	assert.Contains(t, mcphud(t, "run", "own").stderr, "not trusted yet")
	require.NoError(t, os.Remove(filepath.Join(dir, "away.yaml")))
	assert.Contains(t, mcphud(t, "check", "cases").stderr, "not trusted yet")
	mcphud(t, "check", "cases", "--trust").ok(t)
}

// A call that mcphud has just written to a file needs no second consent to what was called; one that was changed since does.
func TestSavedCallsAreTrusted(t *testing.T) {
	withCalls(t)
	project(t, map[string]string{})
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=hi", "message=hi")...).ok(t)
	mcphud(t, "history", "save", "last", "said").ok(t)
	if o := mcphud(t, "run", "said"); o.code != 0 {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	file := filepath.Join(".mcphud", "calls", "said.yaml")
	write(t, file, strings.Replace(contents(file), string(behave.Good), string(behave.ExitAtOnce), 1))
	if o := mcphud(t, "run", "said"); !strings.Contains(o.stderr, "not trusted yet") {
		t.Errorf("another command is trusted: %s %s", contents(file), o.stderr)
	}
}

// The same words may run another program in the folder of the project: they are trusted only where they mean the same.
func TestSavedCallsOfOtherFoldersAreNotTrusted(t *testing.T) {
	withCalls(t)
	s := faketest.Stdio(t, behave.Good)
	program := filepath.Join(t.TempDir(), "server")
	if err := os.Symlink(s.Command, program); err != nil {
		t.Skip(err)
	}
	t.Chdir(filepath.Dir(program))
	mcphud(t, append([]string{"tools", "call", "echo", "text=hi", "message=hi", "--", "./server"}, s.Args...)...).ok(t)
	project(t, map[string]string{})
	require.NoError(t, os.Symlink(s.Command, "server"))
	mcphud(t, "history", "save", "last", "said").ok(t)
	if o := mcphud(t, "run", "said"); !strings.Contains(o.stderr, "not trusted yet") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
