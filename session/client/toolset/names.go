package toolset

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
)

// FullName is the name of a server's tool that is unique across servers: mcp__{server}__{tool}.
func FullName(server, tool string) string { return namePrefix(server) + tool }

// ColonName is FullName's other spelling, mcp:{server}:{tool}. It is accepted wherever a full name is.
func ColonName(server, tool string) string { return "mcp:" + server + ":" + tool }

func namePrefix(server string) string { return "mcp__" + server + "__" }

// IsFullName reports whether name looks like one, in either spelling.
func IsFullName(name string) bool {
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "mcp:")
}

// ToolRef is one tool of one server.
type ToolRef struct{ Server, Tool string }

// Candidates are all readings of full, in either spelling, that begin with one of the servers: the longest server name
// first. Server and tool names may themselves hold the separator, so there can be several: with servers git and
// git__hub, mcp__git__hub__x is a tool of either.
func Candidates(full string, servers []string) []ToolRef {
	sep := "__"
	rest, ok := strings.CutPrefix(full, "mcp__")
	if !ok {
		if rest, ok = strings.CutPrefix(full, "mcp:"); !ok {
			return nil
		}
		sep = ":"
	}
	var out []ToolRef
	for _, s := range servers {
		if tool, ok := strings.CutPrefix(rest, s+sep); ok && tool != "" && s != "" {
			out = append(out, ToolRef{s, tool})
		}
	}
	slices.SortFunc(out, func(a, b ToolRef) int { return len(b.Server) - len(a.Server) })
	return slices.Compact(out)
}

// ResolveName finds the one tool that full means among the servers. Where several servers fit, has decides: it says
// whether that server has the tool, and whether that is known at all. A name that can still mean two tools is an
// InvalidToolName error and never a guess: the call would reach a server that nobody named.
func ResolveName(full string, servers []string, has func(ToolRef) (yes, known bool)) (ToolRef, error) {
	refs := Candidates(full, servers)
	switch len(refs) {
	case 0:
		if !IsFullName(full) {
			return ToolRef{}, invalidName(full, "is not a full tool name", "write mcp__SERVER__TOOL or mcp:SERVER:TOOL")
		}
		return ToolRef{}, invalidName(full, "names no registered server", "registered are: "+orNone(servers))
	case 1:
		return refs[0], nil
	}
	var fit []ToolRef
	for _, r := range refs {
		// A server whose tools are not known may have it.
		if yes, known := has(r); yes || !known {
			fit = append(fit, r)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	if len(fit) == 0 {
		return ToolRef{}, invalidName(full, "is a tool of none of the servers that it could name ("+readings(refs)+")", "list the tools to see their names")
	}
	return ToolRef{}, invalidName(full, "is ambiguous: "+readings(fit), "call the tool on its server by its own name, or rename one of the servers")
}

func readings(refs []ToolRef) string {
	var parts []string
	for _, r := range refs {
		parts = append(parts, "tool "+strconv.Quote(r.Tool)+" of server "+strconv.Quote(r.Server))
	}
	return strings.Join(parts, ", or ")
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

func invalidName(full, what, next string) error {
	return &failure.Error{Kind: failure.InvalidToolName, Stage: "call", Message: strconv.Quote(full) + " " + what, Next: next}
}
