package toolset_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
)

func TestN1_N2_BothSpellings(t *testing.T) {
	servers := []string{"filesystem", "github"}
	for _, c := range []struct {
		full string
		want toolset.ToolRef
	}{
		{"mcp:filesystem:read_file", toolset.ToolRef{"filesystem", "read_file"}},
		{"mcp__filesystem__read_file", toolset.ToolRef{"filesystem", "read_file"}},
		{"mcp__github__create__issue", toolset.ToolRef{"github", "create__issue"}},
		{"mcp:github:a:b", toolset.ToolRef{"github", "a:b"}},
	} {
		got, err := toolset.ResolveName(c.full, servers, nil)
		if err != nil || got != c.want {
			t.Errorf("ResolveName(%q) = %+v, %v; want %+v", c.full, got, err, c.want)
		}
	}
	for _, r := range []toolset.ToolRef{{"github", "x"}, {"filesystem", "__y"}} {
		for _, full := range []string{toolset.FullName(r.Server, r.Tool), toolset.ColonName(r.Server, r.Tool)} {
			if got, err := toolset.ResolveName(full, servers, nil); err != nil || got != r {
				t.Errorf("%s comes back as %+v, %v", full, got, err)
			}
		}
	}
	for full, want := range map[string]string{
		"read_file":         "is not a full tool name",
		"mcp__slack__x":     "names no registered server",
		"mcp__github__":     "names no registered server",
		"mcp__githubx__a":   "filesystem, github",
		"mcp__":             "names no registered server",
		"":                  "is not a full tool name",
		"mcp:github__tool":  "names no registered server",
		"MCP__github__tool": "is not a full tool name",
	} {
		_, err := toolset.ResolveName(full, servers, nil)
		if failure.KindOf(err) != failure.InvalidToolName || !strings.Contains(err.Error(), want) {
			t.Errorf("ResolveName(%q) = %v (%s), want InvalidToolName with %q", full, err, failure.KindOf(err), want)
		}
	}
}

func TestN3_AmbiguousIsAnErrorNeverAGuess(t *testing.T) {
	servers := []string{"git", "git__hub"}
	known := func(refs ...toolset.ToolRef) func(toolset.ToolRef) (bool, bool) {
		return func(r toolset.ToolRef) (bool, bool) {
			for _, have := range refs {
				if have == r {
					return true, true
				}
			}
			return false, true
		}
	}
	unknown := func(toolset.ToolRef) (bool, bool) { return false, false }
	hub, git := toolset.ToolRef{"git__hub", "x"}, toolset.ToolRef{"git", "hub__x"}

	if got := toolset.Candidates("mcp__git__hub__x", servers); len(got) != 2 || got[0] != hub || got[1] != git {
		t.Fatalf("Candidates = %+v, want the longest server first", got)
	}
	for what, c := range map[string]struct {
		has  func(toolset.ToolRef) (bool, bool)
		want toolset.ToolRef
		err  string
	}{
		"both have it": {known(hub, git), toolset.ToolRef{}, "ambiguous"},
		"nobody knows": {unknown, toolset.ToolRef{}, "ambiguous"},
		"hub has it":   {known(hub), hub, ""},
		"git has it":   {known(git), git, ""},
		"none has it":  {known(), toolset.ToolRef{}, "none of the servers"},
		"one may":      {func(r toolset.ToolRef) (bool, bool) { return r == git, r == git }, toolset.ToolRef{}, "ambiguous"},
	} {
		got, err := toolset.ResolveName("mcp__git__hub__x", servers, c.has)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && (failure.KindOf(err) != failure.InvalidToolName || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %+v, %v; want %+v, %q", what, got, err, c.want, c.err)
		}
	}
	if got, err := toolset.ResolveName("mcp__git__log", servers, unknown); err != nil || got != (toolset.ToolRef{"git", "log"}) {
		t.Errorf("a name that only one server fits: %+v, %v", got, err)
	}
}
