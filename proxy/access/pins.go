package access

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

const (
	maxTools   = 10_000           // that are remembered of an agent
	maxShown   = 100              // changed tools that a status names
	logAgain   = time.Minute      // between two lines about one agent's changed tools
	saveAgain  = time.Second      // between two writes of the file
	maxPinFile = 64 << 20         // bytes
	maxAgents  = 10_000           // that are remembered
	hashName   = sha256.Size << 1 // characters of a hash
)

// Pins remembers what the definition of each agent's tools was when it was first seen, and says which are different now: an
// agent that was looked at and found harmless may become another one later. It warns and never accepts a change by itself; for
// that its entry is taken out of the file while the router does not run.
type Pins struct {
	file string
	log  *slog.Logger

	slots chan struct{} // of checks in the background
	kept  atomic.Int64  // bytes of lists that are being read, or checked
	tasks sync.WaitGroup

	writing sync.Mutex  // one write at a time
	stamp   fs.FileInfo // of the file as it was read or written last; nil before. Of the writer

	mu      sync.Mutex
	agents  map[string]*pinned
	changed bool        // since the last write
	save    *time.Timer // nil unless a write is due
	failed  error       // of the last write
	closed  bool
}

// pinned is what is known of one agent.
type pinned struct {
	tools   map[string]*definition
	beyond  int       // tools that there was no room for, in the list seen last
	blind   string    // why the list seen last could not be checked, "" if it was
	logged  time.Time // when changes were logged last
	changes int       // since then
}

// definition is one tool's.
type definition struct {
	Sum   string    `json:"sha256"`
	Since time.Time `json:"since"`
	Now   string    `json:"changed_to,omitempty"` // the sum that differs, "" if it is as it was
	When  time.Time `json:"changed_at,omitzero"`  // the last time

	raw [sha256.Size]byte // of the bytes seen last, which saves understanding the same ones again
}

// Check compares the result of a tools/list of an agent with what is remembered.
func (p *Pins) Check(agent string, result []byte) {
	tools := jsonrpc.Member(result, "tools")
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
		if name, ok := jsonrpc.String(jsonrpc.Member(e, "name")); ok && len(all) < 2*maxTools {
			all = append(all, seen{pinName(name), sha256.Sum256(e), e})
		}
		return true
	})
	if err != nil {
		return // is no list of tools to anybody else either
	}
	p.mu.Lock()
	known := p.agent(agent)
	if known == nil {
		p.mu.Unlock()
		return
	}
	all = slices.DeleteFunc(all, func(s seen) bool {
		d := known.tools[s.name]
		return d != nil && d.raw == s.raw
	})
	p.mu.Unlock()
	sums := make([]string, len(all))
	for i, s := range all {
		sums[i] = canonical(s.text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known.beyond, known.blind = 0, ""
	for i, s := range all {
		p.compare(agent, known, s.name, sums[i], s.raw)
	}
}

// agent is what is known of an agent; p.mu is held.
func (p *Pins) agent(name string) *pinned {
	a := p.agents[name]
	if a == nil && len(p.agents) < maxAgents {
		a = &pinned{tools: map[string]*definition{}}
		p.agents[name] = a
	}
	return a
}

// compare notes one definition; p.mu is held.
func (p *Pins) compare(agent string, a *pinned, tool, sum string, raw [sha256.Size]byte) {
	d := a.tools[tool]
	switch {
	case d == nil && len(a.tools) >= maxTools:
		a.beyond++
		return
	case d == nil:
		a.tools[tool] = &definition{Sum: sum, Since: now(), raw: raw}
		p.dirty()
		return
	}
	d.raw = raw
	was := d.Now
	if was == "" {
		was = d.Sum
	}
	if was == sum {
		return
	}
	p.note(agent, a, tool, d, sum)
	p.dirty()
}

// note keeps that a tool's definition is now one with this sum, and logs it; p.mu is held.
func (p *Pins) note(agent string, a *pinned, tool string, d *definition, sum string) {
	d.Now, d.When = sum, now()
	if sum == d.Sum {
		d.Now = ""
	}
	a.changes++
	if time.Since(a.logged) < logAgain { // an agent may have another list each time
		return
	}
	what := "the definition of a tool is not what it was; see /status"
	if d.Now == "" {
		what = "the definition of a tool is again what it was"
	}
	p.log.Warn(what, "agent", agent, "tool", clip(tool), "pinned", d.Sum[:16], "now", sum[:16], "since", d.Since, "changes", a.changes)
	a.logged, a.changes = time.Now(), 0
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// unseen notes that a list was not checked.
func (p *Pins) unseen(agent, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.agent(agent); a != nil && a.blind != why {
		a.blind = why
		p.log.Warn("the definitions of an agent's tools are not checked", "agent", agent, "reason", why)
	}
}

// pinName is a tool's name as it is remembered; long ones are cut and made unique by a hash.
func pinName(s string) string {
	if len(s) <= 200 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return clip(s) + hex.EncodeToString(sum[:16])
}

// canonical is a hash of what a definition says, whatever the order of its members, its white space and its escapes.
func canonical(tool []byte) string {
	v := jsontext.Value(slices.Clone(tool))
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.AllowDuplicateNames(true)); err != nil {
		v = tool // deeper than anybody reads; then the bytes count
	}
	sum := sha256.Sum256(v)
	return hex.EncodeToString(sum[:])
}

// PinStatus is what is known of an agent's tools.
type PinStatus struct {
	Tools     int           `json:"tools"`
	Changed   []ChangedTool `json:"changed,omitempty"` // sorted, at most 100
	Changes   int           `json:"changes"`           // how many tools changed
	Beyond    int           `json:"beyond,omitempty"`  // tools that there is no room to remember
	Unchecked string        `json:"unchecked,omitempty"`
}

// ChangedTool is a tool whose definition is not what it was.
type ChangedTool struct {
	Tool   string    `json:"tool"`
	Pinned string    `json:"pinned"` // SHA-256 of the definition that was there first
	Now    string    `json:"now"`
	Since  time.Time `json:"since"` // when the change was seen
}

// Status is what is known of an agent.
func (p *Pins) Status(agent string) PinStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.agents[agent]
	if a == nil {
		return PinStatus{}
	}
	s := PinStatus{Tools: len(a.tools), Beyond: a.beyond, Unchecked: a.blind}
	for name, d := range a.tools {
		if d.Now != "" {
			s.Changed = append(s.Changed, ChangedTool{name, d.Sum, d.Now, d.When})
		}
	}
	s.Changes = len(s.Changed)
	slices.SortFunc(s.Changed, func(a, b ChangedTool) int {
		if a.Tool < b.Tool {
			return -1
		}
		return 1
	})
	s.Changed = s.Changed[:min(len(s.Changed), maxShown)]
	return s
}

// Changed is how many tools of all agents are not what they were.
func (p *Pins) Changed() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.agents {
		for _, d := range a.tools {
			if d.Now != "" {
				n++
			}
		}
	}
	return n
}
