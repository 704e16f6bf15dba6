package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/require"
)

// The README names every tool and prompt that the agent has, and no other tool.
func TestReadmeNamesWhatTheAgentHas(t *testing.T) {
	t.Parallel()
	section := agentsrv.README
	s := serveAgent(t, "--ephemeral", "--root", t.TempDir())
	names := func(method, member string) (names []string) {
		var a struct {
			Result map[string]json.RawMessage
		}
		var items []struct{ Name string }
		r := s.post(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		if json.Unmarshal([]byte(r.body), &a) != nil || json.Unmarshal(a.Result[member], &items) != nil || len(items) == 0 {
			t.Fatalf("%s: %s", method, r.body)
		}
		for _, it := range items {
			names = append(names, it.Name)
		}
		return names
	}
	tools := names("tools/list", "tools")
	for _, name := range append(names("prompts/list", "prompts"), tools...) {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the README does not name %s", name)
		}
	}
	for method, member := range map[string]string{"resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		for _, uri := range uris(s, method, member) {
			if !strings.Contains(section, "`"+uri+"`") && !strings.HasPrefix(uri, "agentlet://") {
				t.Errorf("the README does not name %s", uri)
			}
		}
	}
	_, table, _ := strings.Cut(section, "| tool | what it does |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		first := strings.Split(row, "|")[1]
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(first, -1) {
			if !slices.Contains(tools, m[1]) {
				t.Errorf("the README names a tool that is not there: %s", m[1])
			}
		}
	}
}

// uris are the URIs, or the templates, of a list of resources.
func uris(s *served, method, member string) (all []string) {
	var a struct {
		Result map[string]json.RawMessage
	}
	var items []struct{ URI, URITemplate string }
	r := s.post(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
	if json.Unmarshal([]byte(r.body), &a) != nil || json.Unmarshal(a.Result[member], &items) != nil || len(items) == 0 {
		s.t.Fatalf("%s: %s", method, r.body)
	}
	for _, it := range items {
		all = append(all, it.URI+it.URITemplate)
	}
	return all
}

// The commands that the README shows for the agent do what it says, typed into a shell.
func TestV3_ReadmeAgentCommands(t *testing.T) {
	t.Parallel()
	_, block, _ := strings.Cut(agentsrv.README, "```console\n")
	block, _, _ = strings.Cut(block, "```")
	s := serveAgent(t, "--ephemeral")
	shell := agentCommand(t, t.TempDir(), nil)
	require.NoError(t, os.WriteFile(filepath.Join(shell.Dir, "mcphud"), []byte("#!/bin/sh\nexec "+shell.Path+" \"$@\"\n"), 0o700))
	ran := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", ""), "\n") {
		line, ok := strings.CutPrefix(line, "$ ")
		if !ok || !strings.Contains(line, "http://127.0.0.1:7000/mcp") {
			continue // it serves, or opens the UI
		}
		program, _, _ := strings.Cut(line, " ")
		if _, err := exec.LookPath(program); err != nil && program != "mcphud" {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "http://127.0.0.1:7000/mcp", s.url))
		cmd.Dir, cmd.Env = shell.Dir, append(shell.Env, "PATH="+shell.Dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.Output()
		if want := map[string]string{"mcphud": "[1,4,9]", "curl": `"sum":3`}[program]; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	if ran == 0 {
		t.Error("no command was found")
	}
}
