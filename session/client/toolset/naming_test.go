package toolset_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestN4_NamesByMode(t *testing.T) {
	tools := []toolset.ToolRef{{"a", "read"}, {"a", "search"}, {"b", "search"}, {"b", "write"}, {"b", "mcp__a__read"}, {"b", "dot.ted"}, {"c", "a-read"}}
	servers := []string{"a", "b", "c"}
	for _, c := range []struct {
		n    toolset.Naming
		want string
	}{
		{toolset.Naming{}, "mcp__a__read mcp__a__search mcp__b__search mcp__b__write mcp__b__mcp__a__read mcp__b__dot_ted_# mcp__c__a-read"},
		{toolset.Naming{Separator: "-"}, "a-read a-search b-search b-write b-mcp__a__read b-dot_ted_# c-a-read"},
		{toolset.Naming{Prefix: toolset.Conflict}, "read mcp__a__search mcp__b__search write mcp__b__mcp__a__read dot_ted_# a-read"},
		{toolset.Naming{Prefix: toolset.Conflict, Separator: "-"}, "read a-search b-search write b-mcp__a__read dot_ted_# c-a-read"},
		{toolset.Naming{Prefix: toolset.Never}, "read   write  dot_ted_# a-read"},
	} {
		hash := regexp.MustCompile(`dot_ted_[0-9a-f]{8}`)
		got := hash.ReplaceAllString(strings.Join(c.n.Names(tools, servers), " "), "dot_ted_#")
		assert.Equalf(t, got, c.want, "%+v", c.n)
	}
}

// Whatever tools are called, no two have one name, none is too long, and all are the same the next time.
func TestN4_NamesAreUniqueAndShort(t *testing.T) {
	long := strings.Repeat("very_long_", 12)
	tools := []toolset.ToolRef{
		{"git", "hub__x"}, {"git__hub", "x"}, {"git", long + "1"}, {"git", long + "2"}, {"x", long + "1"}, {"x", "ü"}, {"y", "ö"}, {"y", "_"}, {"x", "x-x"}, {"x-x", "x"},
	}
	for _, n := range []toolset.Naming{{}, {MaxName: 16}, {MaxName: 128}, {Separator: "-"}, {Separator: "__", Prefix: toolset.Conflict, MaxName: 24}, {Prefix: toolset.Never}} {
		names := n.Names(tools, []string{"git", "git__hub", "x", "x-x", "y"})
		most := n.MaxName
		if most == 0 {
			most = toolset.DefaultMaxName
		}
		seen := map[string]bool{}
		for i, name := range names {
			if name == "" && n.Prefix == toolset.Never {
				continue
			}
			if seen[name] || len(name) > most || !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(name) {
				t.Errorf("%+v: %s of %v", n, name, tools[i])
			}
			seen[name] = true
		}
		if again := n.Names(tools, []string{"git", "git__hub", "x", "x-x", "y"}); !slices.Equal(again, names) {
			t.Errorf("%+v: other names the second time", n)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"*/read_*", "git/read_file", true},
		{"*/read_*", "git/write", false},
		{"git/*", "git/a/b", true},
		{"*a*a*b", strings.Repeat("a", 5000), false},
		{"?", "ü", true},
	} {
		if got := toolset.Match(c.pattern, c.text); got != c.want {
			t.Errorf("Match(%q, %.20q) = %v", c.pattern, c.text, got)
		}
	}
}
