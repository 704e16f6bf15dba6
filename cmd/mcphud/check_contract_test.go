package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A lock is made, nothing is found, and what changed since another lock is said with the calls that it breaks.
func TestPeerCheckContract(t *testing.T) {
	t.Parallel()
	s, dir := peertest.Everything(t), t.TempDir()
	lock, calls := filepath.Join(dir, "own.lock"), filepath.Join(dir, "calls.jsonl")
	if o := mcphud(t, target(s, "check", "contract", "--lock", lock)...); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "there is no lock: "+lock) || !strings.Contains(o.stderr, "--accept") {
		t.Fatalf("exit %d %s", o.code, o.stderr)
	}
	if o := mcphud(t, target(s, "check", "contract", "--accept", "--lock", lock, "--format", "text")...); o.code != 0 || !strings.Contains(o.out, "made the contract of ") {
		t.Fatalf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, target(s, "check", "contract", "--lock", lock, "--format", "text")...); o.code != 0 || !strings.Contains(o.out, "nothing changed since the lock") {
		t.Fatalf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	for _, sum := range []string{"1", "2"} {
		if o := mcphud(t, target(s, "tools", "call", "get-sum", "--journal", calls, "a:="+sum, "b:=2")...); o.code != 0 {
			t.Fatal(o.stderr)
		}
	}
	// The lock of an earlier version, in which get-sum took words and echo had another name.
	l, err := contract.Read(lock)
	require.NoError(t, err)
	raw := strings.NewReplacer(`"echo": {`, `"repeat": {`, `"b": {"description":"Second number","type":"number"}`, `"b": {"description":"Second number","type":["number","string"]}`).Replace(string(l.Bytes()))
	require.NoError(t, os.WriteFile(lock, []byte(raw), 0o600))
	o := mcphud(t, target(s, "check", "contract", "--lock", lock, "--evidence", calls, "--format", "json")...)
	for _, want := range []string{
		`"rule":"contract/tool-removed"`, `was removed; echo has the same definition: was it renamed?`, `"rule":"contract/input-narrowed"`, "`b` type string | number → number", `"calls":2,"refused":0`,
	} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %s in %s", want, o.out)
		}
	}
	if o.code != cli.ExitAssertion || !json.Valid([]byte(o.out)) {
		t.Errorf("exit %d", o.code)
	}
	o = mcphud(t, target(s, "check", "contract", "--lock", lock, "--accept", "--format", "text")...)
	if o.code != 0 || !strings.Contains(o.out, "breaking: tool repeat: was removed") {
		t.Errorf("exit %d %s", o.code, o.out)
	}
}
