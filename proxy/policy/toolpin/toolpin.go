// Package toolpin remembers the definitions of agents' tools as they were first seen, and reports those that change: an
// agent that was reviewed and found harmless may become another one later.
package toolpin

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxTools   = 10_000          // remembered of one agent
	maxAgents  = 10_000          // remembered
	maxChanged = 100             // changed tools that a Status names
	maxFile    = 64 << 20        // bytes of the file, read or written
	logEvery   = time.Minute     // between two log lines about one agent's changed tools
	saveDelay  = time.Second     // between a change and the write of the file
	hexLen     = 2 * sha256.Size // characters of a hash
)

// Store remembers the definition of each agent's tools as it was first seen. It warns of changes and never accepts one by
// itself: to accept a change, remove the tool's entry from the file while the router is stopped. Make one with Open, and
// Close it.
type Store struct {
	path string // of the file, "" for none
	log  *slog.Logger

	slots    chan struct{}  // of checks in the background
	buffered atomic.Int64   // bytes of tool lists being read or checked, at most maxBuffered
	tasks    sync.WaitGroup // checks in the background

	writing sync.Mutex  // one write at a time; guards stamp
	stamp   files.Stamp // of the file when it was last read or written

	mu              sync.Mutex
	agents          map[string]*agentPins
	definitionBytes int         // bytes of definitions of all agents
	max             int         // bytes of the file; maxFile, less in tests
	size            int         // of the file in bytes, at most
	changed         bool        // since the last write
	save            *time.Timer // nil unless a write is due
	writeErr        error       // of the last write
	closed          bool
}

// agentPins is what is known of one agent's tools.
type agentPins struct {
	tools           map[string]*pin
	targets         []string  // config.Server.Target of what was reached under its name
	definitionBytes int       // bytes of definitions
	overflow        int       // tools in the latest list that there was no room for
	unchecked       string    // why the latest list could not be checked, "" if it was
	logged          time.Time // when changes were last logged
	changes         int       // since then
}

// pin is one tool's definition.
type pin struct {
	Sum       string    `json:"sha256"`
	Since     time.Time `json:"since"`
	ChangedTo string    `json:"changed_to,omitempty"` // the hash that differs, "" while the definition is as it was
	ChangedAt time.Time `json:"changed_at,omitzero"`  // the latest time
	// Definition is what was first seen, in canonical JSON without secrets; "" where there was no room for it.
	Definition string `json:"definition,omitempty"`

	raw [sha256.Size]byte // hash of the bytes seen last, which saves canonicalising the same ones again
}

// Upper bounds of the bytes that an entry takes in the file, beside its name.
const (
	pinSize   = 340
	agentSize = 20
	maxKey    = 200 // bytes of a tool's name that is remembered as it is
)

// reserve counts the bytes of one more entry of the file; false, and nothing counted, if the file would be too large; p.mu is held.
func (p *Store) reserve(name string, size int) bool {
	text, err := json.Marshal(name)
	if err != nil || p.size+len(text)+size > p.max {
		return false
	}
	p.size += len(text) + size
	return true
}

// Check compares the result of an agent's tools/list with what is remembered, and remembers what is new. targets are what the agent is, see
// config.Server.Target.
func (p *Store) Check(agent string, result []byte, targets ...string) {
	tools := jsonrpc.Get(result, "tools")
	if tools == nil || tools[0] != '[' {
		return
	}
	type seen struct {
		name string
		raw  [sha256.Size]byte
		text []byte
	}
	var all []seen
	err := jsonrpc.Elements(tools, func(e []byte) bool {
		if name, ok := jsonrpc.String(jsonrpc.Get(e, "name")); ok && len(all) < 2*maxTools {
			all = append(all, seen{keyOf(name), sha256.Sum256(e), e})
		}
		return true
	})
	if err != nil {
		return // no client reads it as a list of tools either
	}
	p.mu.Lock()
	known := p.ensureAgent(agent)
	if known == nil {
		p.mu.Unlock()
		return
	}
	all = slices.DeleteFunc(all, func(s seen) bool {
		d := known.tools[s.name]
		return d != nil && d.raw == s.raw
	})
	p.mu.Unlock()
	sums, texts := make([]string, len(all)), make([]string, len(all))
	for i, s := range all {
		sums[i], texts[i] = canonical(s.text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known.overflow, known.unchecked = 0, ""
	for _, t := range targets {
		p.rememberTarget(agent, t)
	}
	for i, s := range all {
		p.compare(agent, known, s.name, sums[i], s.raw)
		p.storeDefinition(known, known.tools[s.name], sums[i], texts[i])
	}
}

// ensureAgent returns the pins of an agent, new ones for a new agent; nil where there is no room for one more; p.mu is held.
func (p *Store) ensureAgent(name string) *agentPins {
	a := p.agents[name]
	if a == nil && len(p.agents) < maxAgents && p.reserve(name, agentSize) {
		a = &agentPins{tools: map[string]*pin{}}
		p.agents[name] = a
	}
	return a
}

// compare checks one definition; p.mu is held.
func (p *Store) compare(agent string, a *agentPins, tool, sum string, raw [sha256.Size]byte) {
	d := a.tools[tool]
	switch {
	case d == nil && (len(a.tools) >= maxTools || !p.reserve(tool, pinSize)):
		a.overflow++
		return
	case d == nil:
		a.tools[tool] = &pin{Sum: sum, Since: now(), raw: raw}
		p.scheduleWrite()
		return
	}
	d.raw = raw
	if cmp.Or(d.ChangedTo, d.Sum) == sum {
		return
	}
	p.update(agent, a, tool, d, sum)
	p.scheduleWrite()
}

// update records that a tool's definition now has this hash, and logs it; p.mu is held.
func (p *Store) update(agent string, a *agentPins, tool string, d *pin, sum string) {
	d.ChangedTo, d.ChangedAt = sum, now()
	if sum == d.Sum {
		d.ChangedTo = ""
	}
	a.changes++
	if time.Since(a.logged) < logEvery { // an agent may have another list each time
		return
	}
	what := "tool definition changed since first seen: see /status"
	if d.ChangedTo == "" {
		what = "tool definition is back to what was first seen"
	}
	p.log.Warn(what, "agent", agent, "tool", clip(tool), "pinned", d.Sum[:16], "now", sum[:16], "since", d.Since, "changes", a.changes)
	a.logged, a.changes = time.Now(), 0
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// recordSkipped records that an agent's list was not checked.
func (p *Store) recordSkipped(agent, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.ensureAgent(agent); a != nil && a.unchecked != why {
		a.unchecked = why
		p.log.Warn("tool definitions not checked", "agent", agent, "reason", why)
	}
}

// keyOf is the key of a tool: its name, cut and made unique by a hash where it is long.
func keyOf(name string) string {
	if len(name) <= maxKey {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return clip(name) + hex.EncodeToString(sum[:16])
}

// canonical is a definition's value, whatever the order of its members, its white space and its escapes, and a hash of it. What the
// tool says of tasks is not part of it: in 2025-11-25 that is a member of the definition, in other versions it is not.
func canonical(tool []byte) (sum, text string) {
	v := jsontext.Value(slices.Clone(tool))
	if hasOnlyTaskSupport(jsonrpc.Get(tool, "execution")) {
		if rest, err := jsonrpc.Update(tool, jsonrpc.Delete("execution")); err == nil {
			v = rest
		}
	}
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.AllowDuplicateNames(true)); err != nil {
		v = tool // nested too deep to parse: compare the bytes
	}
	hash := sha256.Sum256(v)
	return hex.EncodeToString(hash[:]), string(v)
}

// hasOnlyTaskSupport reports whether a tool's execution says nothing but whether its calls may run as tasks: what else may be there is read by
// somebody, and must not change unnoticed.
func hasOnlyTaskSupport(execution []byte) bool {
	only := execution != nil && execution[0] == '{'
	if !only {
		return false
	}
	err := jsonrpc.Members(execution, func(name string, v []byte) bool {
		s, ok := jsonrpc.String(v)
		switch mcp.TaskSupport(s) {
		case mcp.TaskSupportForbidden, mcp.TaskSupportOptional, mcp.TaskSupportRequired:
		default:
			ok = false
		}
		only = only && ok && name == "taskSupport"
		return only
	})
	return only && err == nil
}

// Status is what is known of an agent's tools.
type Status struct {
	Tools     int           `json:"tools"`               // remembered
	Changed   []ChangedTool `json:"changed,omitempty"`   // by name, at most 100
	Changes   int           `json:"changes"`             // how many tools changed
	Beyond    int           `json:"beyond,omitempty"`    // tools that there is no room to remember
	Unchecked string        `json:"unchecked,omitempty"` // why the latest list was not checked
}

// ChangedTool is a tool whose definition differs from the one first seen.
type ChangedTool struct {
	Tool   string    `json:"tool"`
	Pinned string    `json:"pinned"` // SHA-256 of the definition that was there first
	Now    string    `json:"now"`
	Since  time.Time `json:"since"` // when the change was seen
}

// Status is what is known of an agent's tools, zero if nothing is.
func (p *Store) Status(agent string) Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.agents[agent]
	if a == nil {
		return Status{}
	}
	s := Status{Tools: len(a.tools), Beyond: a.overflow, Unchecked: a.unchecked}
	for name, d := range a.tools {
		if d.ChangedTo != "" {
			s.Changed = append(s.Changed, ChangedTool{name, d.Sum, d.ChangedTo, d.ChangedAt})
		}
	}
	s.Changes = len(s.Changed)
	slices.SortFunc(s.Changed, func(a, b ChangedTool) int { return strings.Compare(a.Tool, b.Tool) })
	s.Changed = s.Changed[:min(len(s.Changed), maxChanged)]
	return s
}

// Changed is how many tools of all agents differ from what was first seen.
func (p *Store) Changed() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.agents {
		for _, d := range a.tools {
			if d.ChangedTo != "" {
				n++
			}
		}
	}
	return n
}

// clip shortens a name for messages and keys.
func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, maxKey/2), "\uFFFD") }
