package toolpin

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/offer"
)

// Bounds of what is kept of definitions, beside their hashes: what is beyond is known to have changed, and not how.
const (
	maxDefinition  = 64 << 10 // bytes of one
	maxDefinitions = 1 << 20  // bytes of those of one agent
	keptShare      = 2        // the part of the file that they may take: hashes need the rest
	maxTargets     = 64       // of one agent
	targetSize     = 80       // bytes that one takes in the file
)

// hold keeps the definition that a pin is of, where there is room and it is not kept yet; p.mu is held.
func (p *Store) hold(a *agentPins, d *pin, sum, text string) {
	if d == nil || d.Sum != sum || d.Definition != "" || text == "" || len(text) > maxDefinition || a.kept+len(text) > maxDefinitions {
		return
	}
	if text = mask.Prose(text); !jsontext.Value(text).IsValid() { // a key without an end takes more with it
		return
	}
	written, err := json.Marshal(text)
	if err != nil || p.kept+len(written) > p.max/keptShare || p.size+len(written) > p.max {
		return
	}
	d.Definition = text
	p.size += len(written)
	p.kept += len(text)
	a.kept += len(text)
	p.dirty()
}

// forget drops the definition of a pin; p.mu is held.
func (p *Store) forget(a *agentPins, d *pin) {
	a.kept -= len(d.Definition)
	p.kept -= len(d.Definition)
	d.Definition = ""
}

// replace puts a pin in the place of one that may be there, with the definition that is kept of it if both are of the same; p.mu is held.
func (p *Store) replace(a *agentPins, tool string, d *pin) {
	if old := a.tools[tool]; old != nil && old.Sum == d.Sum {
		d.Definition = old.Definition
	} else if old != nil {
		p.forget(a, old)
	}
	a.tools[tool] = d
}

// rememberTarget remembers what is reached under an agent's name; p.mu is held.
func (p *Store) rememberTarget(agent, target string) {
	a := p.agents[agent]
	if target == "" || a == nil || len(a.targets) >= maxTargets || slices.Contains(a.targets, target) || !p.fits(agent, targetSize) {
		return
	}
	a.targets = append(a.targets, target)
	p.dirty()
}

// Known is what a file remembers of an agent.
type Known struct {
	Agent   string
	Targets []string // config.Server.Target of what was reached under its name

	tools map[string]*pin
}

// Read is what a file remembers, by the names of agents. The error wraps fs.ErrNotExist where there is none.
func Read(path string) ([]Known, error) {
	in, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var all []Known
	for agent, tools := range in.Agents {
		all = append(all, Known{agent, in.Targets[agent], tools})
	}
	slices.SortFunc(all, func(a, b Known) int { return cmp.Compare(a.Agent, b.Agent) })
	return all, nil
}

// Pin compares a tool's definition with what is remembered of it; false where nothing is.
func (k Known) Pin(name string, definition []byte) (offer.Pin, bool) {
	d := k.tools[keyOf(name)]
	if d == nil {
		return offer.Pin{}, false
	}
	sum, _ := canonical(definition)
	out := offer.Pin{Same: sum == d.Sum, Since: d.Since}
	if d.Definition != "" {
		out.Definition = []byte(d.Definition)
	}
	return out, true
}
