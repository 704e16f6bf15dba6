package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
)

func inSandbox(t *testing.T, sandbox string) (Server, []Warning) {
	t.Helper()
	return loadOne(t, "mcphud.yaml", "servers:\n  one:\n    command: serve\n    sandbox: "+sandbox+"\n", "DATA=/data")
}

// An entry says what its server may do, and whoever decides whether to trust it sees that.
func TestX5b_SandboxOfAnEntry(t *testing.T) {
	for text, want := range map[string]*confine.Rules{
		"true": {}, "{}": {}, "false": nil,
		"{network: true}": {Network: true},
		`{read: ["${DATA}", /usr/share], write: [/out], network: false}`: {Read: []string{"/data", "/usr/share"}, Write: []string{"/out"}},
	} {
		s, warned := inSandbox(t, text)
		if s.Problem != nil || len(warned) > 0 || !reflect.DeepEqual(s.Sandbox.Clone(), want.Clone()) {
			t.Errorf("%s: %+v, %v, %v", text, s.Sandbox, s.Problem, warned)
		}
	}
	s, _ := inSandbox(t, "{read: [data]}")
	if dir := filepath.Dir(s.Source.File); s.Sandbox == nil || s.Sandbox.Read[0] != filepath.Join(dir, "data") {
		t.Errorf("%+v", s.Sandbox)
	}
	s, _ = inSandbox(t, "{read: [/data], write: [/out], network: true}")
	shown := ""
	for _, f := range Describe(s) {
		if f.Label == "sandbox" {
			shown = f.Value
		}
	}
	if shown != "with network, reads /data, reads and writes /out" {
		t.Errorf("shown as %q", shown)
	}
	bare, _ := inSandbox(t, "true")
	if open, _ := inSandbox(t, "false"); open.Fingerprint() == bare.Fingerprint() || bare.Fingerprint() == s.Fingerprint() {
		t.Error("trust in one is trust in the other")
	}
	for _, f := range Describe(bare) {
		if f.Label == "sandbox" && f.Value != "no network, no files but its own and the system's programs" {
			t.Errorf("shown as %q", f.Value)
		}
	}
}

// An entry whose sandbox is not understood does not start: it would not be enforced.
func TestX5b_SandboxThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "sandbox: is null; write true, false",
		"yes please":             "sandbox: is a string; write true, false",
		"[read]":                 "sandbox: is a list; write true, false",
		"{hosts: [example.com]}": "sandbox.hosts: is nothing that a sandbox can enforce",
		"{network: [443]}":       "sandbox.network: is neither true nor false",
		"{read: /data}":          "sandbox.read: is a string; write a list",
		`{read: [""]}`:           "a path of the sandbox is empty",
		`{read: ["${NOT_SET}"]}`: "NOT_SET is not set",
		"true\n    url: http://a/\n    launch: true\n    type: http": "needs network: true",
	} {
		s, _ := inSandbox(t, text)
		if s.Problem == nil || !strings.Contains(s.Problem.Error(), want) {
			t.Errorf("%q: %v", text, s.Problem)
		}
	}
	s, _ := loadOne(t, "mcphud.yaml", "servers:\n  one:\n    url: http://127.0.0.1:1/\n    sandbox: true\n")
	if s.Problem == nil || !strings.Contains(s.Problem.Error(), "applies only to a server that is started by its command") {
		t.Errorf("%v", s.Problem)
	}
}

// A file of another program has sandboxes of its own, which are not taken for ours; ours is read there as well.
func TestX5b_SandboxOfAnotherProgram(t *testing.T) {
	s, warned := loadOne(t, ".vscode/mcp.json", `{"servers": {"one": {"command": "serve", "sandbox": {"filesystem": {"allowWrite": ["/x"]}}}}}`)
	if s.Problem != nil || s.Sandbox != nil || len(warned) != 1 || !strings.Contains(warned[0].Message, "sandbox is written as VS Code has it, and is not enforced here") {
		t.Errorf("%+v, %v, %v", s.Sandbox, s.Problem, warned)
	}
	s, warned = loadOne(t, ".vscode/mcp.json", `{"servers": {"one": {"command": "serve", "sandbox": {"write": ["/x"]}}}}`)
	if s.Problem != nil || s.Sandbox == nil || s.Sandbox.Write[0] != "/x" || len(warned) > 0 {
		t.Errorf("%+v, %v, %v", s.Sandbox, s.Problem, warned)
	}
}

// A sandbox is written as it is read, and where it cannot be written that is said.
func TestX5b_SandboxIsWritten(t *testing.T) {
	for _, r := range []*confine.Rules{{}, {Read: []string{"/a", "/b c"}, Network: true}, {Write: []string{"/out"}}} {
		s := OfCommand("serve")
		s.Name, s.Sandbox = "one", r
		text, lost, err := Encode("mcphud", s)
		if err != nil || len(lost) > 0 {
			t.Fatal(lost, err)
		}
		if back, warned := loadOne(t, "mcphud.yaml", string(text)); len(warned) > 0 || back.Problem != nil || !reflect.DeepEqual(back.Sandbox.Clone(), r.Clone()) {
			t.Errorf("%s%+v, %v, %v", text, back.Sandbox, back.Problem, warned)
		}
		if _, lost, err = Encode("claude-code", s); err != nil || len(lost) != 1 || !strings.Contains(lost[0], "sandbox") {
			t.Error(lost, err)
		}
	}
}
