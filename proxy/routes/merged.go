package routes

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/client/toolset"
)

// Merged is how the tools and prompts of all agents are named and chosen where they are one server. The zero value has all,
// as mcp__AGENT__NAME.
type Merged struct {
	Prefix           toolset.Prefix
	Separator        string
	Include, Exclude []string       // patterns of AGENT/NAME; Include nil for all
	Clients          []ClientLimits // the first that matches counts
}

// ClientLimits are what clients of some names can take.
type ClientLimits struct {
	Match    string // pattern of the name of a client, whatever its letter case; "" for all
	MaxName  int    // bytes of a name, default toolset.DefaultMaxName
	MaxTools int    // in a list, 0 for no limit
}

func (m *Merged) zero() bool { return reflect.ValueOf(m).Elem().IsZero() }

// For is the naming for a client, by the name that it gives itself, and its limits.
func (m *Merged) For(client string) (toolset.Naming, ClientLimits) {
	n := toolset.Naming{Prefix: m.Prefix, Separator: m.Separator}
	client = strings.ToLower(client)
	for _, l := range m.Clients {
		if l.Match == "" || toolset.Match(strings.ToLower(l.Match), client) {
			n.MaxName = l.MaxName
			return n, l
		}
	}
	return n, ClientLimits{}
}

// Bare reports whether names depend on what other agents have.
func (m *Merged) Bare() bool { return toolset.Naming{Prefix: m.Prefix}.Bare() }

// Selects reports whether the endpoint of all agents has a tool or prompt of an agent.
func (t *Table) Selects(agent, name string) bool {
	fits := func(patterns []string, s string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return toolset.Match(p, s) })
	}
	m, full := &t.Merged, agent+"/"+name
	if m.Include != nil && !fits(m.Include, full) || fits(m.Exclude, full) {
		return false
	}
	r := t.Routes[agent]
	return r == nil || (r.Include == nil || fits(r.Include, name)) && !fits(r.Exclude, name)
}

func (v value) prefix() toolset.Prefix {
	p := toolset.Prefix(v.text())
	if p != toolset.Always && p != toolset.Conflict && p != toolset.Never {
		v.fail("is %q; it must be %q, %q or %q", clip(string(p)), toolset.Always, toolset.Conflict, toolset.Never)
	}
	return p
}

// separators matches what may stand between agent and name: clients hand names to models, whose APIs take no other characters.
var separators = regexp.MustCompile(`^[A-Za-z0-9_-]{1,8}$`)

func (v value) separator() string {
	s := v.text()
	if !separators.MatchString(s) {
		v.fail("is %q; it must be 1 to 8 letters, digits, _ or -", clip(s))
	}
	return s
}

const (
	maxPatterns = 1000    // of one list, and entries of clients
	maxPattern  = 1 << 10 // bytes
	maxTools    = 100_000 // the most that a limit can be
)

// patterns reads a list of patterns; whole ones are of AGENT/NAME.
func (v value) patterns(whole bool) []string {
	out := []string{}
	v.items("a list of patterns", func(v value) {
		p := v.text()
		switch {
		case p == "" || len(p) > maxPattern:
			v.fail("is not a pattern of 1 to %d bytes", maxPattern)
		case len(out) == maxPatterns:
			v.fail("is one pattern too many: the maximum is %d", maxPatterns)
		case whole && !strings.ContainsAny(p, "/*"):
			v.fail("is %q; it must be a pattern of AGENT/NAME, such as %q", clip(p), clip(p)+"/*")
		}
		out = append(out, p)
	})
	return out
}

func (v value) clients() (all []ClientLimits) {
	v.items("a list of objects", func(v value) {
		var l ClientLimits
		v.object(map[string]func(value){
			"match":    func(v value) { l.Match = v.text() },
			"maxName":  func(v value) { l.MaxName = v.number(toolset.LeastMaxName, toolset.MostMaxName) },
			"maxTools": func(v value) { l.MaxTools = v.number(1, maxTools) },
		})
		switch {
		case len(l.Match) > maxPattern || len(all) == maxPatterns:
			v.fail("is too long, or one too many: the maximum is %d", maxPatterns)
		case len(all) > 0 && all[len(all)-1].Match == "":
			v.warn("is ignored: the one before it is for all clients")
		}
		all = append(all, l)
	})
	return all
}
