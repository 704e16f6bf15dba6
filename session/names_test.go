package session

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/failure"
)

func TestN1_N2_BothSpellings(t *testing.T) {
	servers := []string{"filesystem", "github"}
	for _, c := range []struct {
		full string
		want ToolRef
	}{
		{"mcp:filesystem:read_file", ToolRef{"filesystem", "read_file"}},
		{"mcp__filesystem__read_file", ToolRef{"filesystem", "read_file"}},
		{"mcp__github__create__issue", ToolRef{"github", "create__issue"}},
		{"mcp:github:a:b", ToolRef{"github", "a:b"}},
	} {
		got, err := ResolveName(c.full, servers, nil)
		if err != nil || got != c.want {
			t.Errorf("ResolveName(%q) = %+v, %v; want %+v", c.full, got, err, c.want)
		}
	}
	for _, r := range []ToolRef{{"github", "x"}, {"filesystem", "__y"}} {
		for _, full := range []string{FullName(r.Server, r.Tool), ColonName(r.Server, r.Tool)} {
			if got, err := ResolveName(full, servers, nil); err != nil || got != r {
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
		_, err := ResolveName(full, servers, nil)
		if failure.KindOf(err) != failure.InvalidToolName || !strings.Contains(err.Error(), want) {
			t.Errorf("ResolveName(%q) = %v (%s), want InvalidToolName with %q", full, err, failure.KindOf(err), want)
		}
	}
}

func TestN3_AmbiguousIsAnErrorNeverAGuess(t *testing.T) {
	servers := []string{"git", "git__hub"}
	known := func(refs ...ToolRef) func(ToolRef) (bool, bool) {
		return func(r ToolRef) (bool, bool) {
			for _, have := range refs {
				if have == r {
					return true, true
				}
			}
			return false, true
		}
	}
	unknown := func(ToolRef) (bool, bool) { return false, false }
	hub, git := ToolRef{"git__hub", "x"}, ToolRef{"git", "hub__x"}

	if got := Candidates("mcp__git__hub__x", servers); len(got) != 2 || got[0] != hub || got[1] != git {
		t.Fatalf("Candidates = %+v, want the longest server first", got)
	}
	for what, c := range map[string]struct {
		has  func(ToolRef) (bool, bool)
		want ToolRef
		err  string
	}{
		"both have it": {known(hub, git), ToolRef{}, "ambiguous"},
		"nobody knows": {unknown, ToolRef{}, "ambiguous"},
		"hub has it":   {known(hub), hub, ""},
		"git has it":   {known(git), git, ""},
		"none has it":  {known(), ToolRef{}, "none of the servers"},
		"one may":      {func(r ToolRef) (bool, bool) { return r == git, r == git }, ToolRef{}, "ambiguous"},
	} {
		got, err := ResolveName("mcp__git__hub__x", servers, c.has)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && (failure.KindOf(err) != failure.InvalidToolName || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %+v, %v; want %+v, %q", what, got, err, c.want, c.err)
		}
	}
	if got, err := ResolveName("mcp__git__log", servers, unknown); err != nil || got != (ToolRef{"git", "log"}) {
		t.Errorf("a name that only one server fits: %+v, %v", got, err)
	}
}
