package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/inspector"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// The shell is offered the same words after each beginning of a command line, but for those that are not taken here.
func TestPeerInspectorCompletes(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script, err := exec.Command(program[0], append(program[1:len(program):len(program)], "--completion", "bash")...).Output()
	require.NoError(t, err)
	for _, line := range []string{
		"-", "--", "--l", "--tool-arg", "-q", "--nope", "word", "--method ", "--method s", "--method nope", "--transport ", "--transport s", "--log-level e", "--format ", "--output-format r",
		"--protocol-era ", "--completion ", "--config ", "--tool-name ", "node server.js --method tools/", "--format json --protocol-era m",
	} {
		words := strings.Split("mcp-inspector --cli "+line, " ")
		quoted := "'" + strings.Join(words, "' '") + "'"
		theirs, err := exec.Command(bash, "--norc", "-c", string(script)+"\nCOMP_WORDS=("+quoted+"); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _mcp_inspector; printf '%s\\n' \"${COMPREPLY[@]}\"").Output()
		require.NoError(t, err)
		ours := finish(t, command(t, append([]string{"__completeNoDesc", verbinspect.Inspecting}, words[2:]...)...)).ok(t)
		want, got := strings.Fields(string(theirs)), strings.Fields(ours)
		want = slices.DeleteFunc(want, func(word string) bool { return inspector.Elsewhere(word) != "" })
		got = got[:len(got)-1] // what else the shell may offer
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s\noffered       %q\nthe Inspector %q", line, got, want)
		}
	}
}
