package peertest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Answer is one to a list request.
type Answer struct {
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
}

// Parse says of answers what the TypeScript SDK 1 has against each, "" for nothing: a client built with it loses a list that it refuses.
func Parse(t testing.TB, answers []Answer) (wrong []string) {
	t.Helper()
	installed(t, "peers", filepath.Join("node_modules", "@modelcontextprotocol", "sdk"))
	in, err := json.Marshal(answers)
	require.NoError(t, err)
	cmd := exec.Command(Node(t), installed(t, "peers", "parse.mjs"))
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &wrong)
	}
	if err != nil || len(wrong) != len(answers) {
		t.Fatalf("parse.mjs: %v\n%s%s", err, out, &stderr)
	}
	return wrong
}
