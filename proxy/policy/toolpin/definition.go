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
	maxDefinition   = 64 << 10 // bytes of one
	maxDefinitions  = 1 << 20  // bytes of those of one agent
	definitionShare = 2        // the part of the file that they may take: hashes need the rest
	maxTargets      = 64       // of one agent
	targetSize      = 80       // bytes that one takes in the file
)

// storeDefinition keeps the text of a pin's definition, where there is room and it is not kept yet, so that people can see what changed; p.mu is held.
func (p *Store) storeDefinition(a *agentPins, d *pin, sum, text string) {
	if d == nil || d.Sum != sum || d.Definition != "" || text == "" || len(text) > maxDefinition || a.definitionBytes+len(text) > maxDefinitions {
		return
	}
	if text = mask.Prose(text); !jsontext.Value(text).IsValid() { // a key without an end takes more with it
		return
	}
	written, err := json.Marshal(text)
	if err != nil || p.definitionBytes+len(written) > p.max/definitionShare || p.size+len(written) > p.max {
		return
	}
	d.Definition = text
	p.size += len(written)
	p.definitionBytes += len(text)
	a.definitionBytes += len(text)
	p.scheduleWrite()
}

// dropDefinition drops the definition of a pin; p.mu is held.
func (p *Store) dropDefinition(a *agentPins, d *pin) {
	a.definitionBytes -= len(d.Definition)
	p.definitionBytes -= len(d.Definition)
	d.Definition = ""
}

// replacePin sets the pin of a tool. It keeps the text of the old pin's definition where both have one hash; p.mu is held.
func (p *Store) replacePin(a *agentPins, tool string, d *pin) {
	if old := a.tools[tool]; old != nil && old.Sum == d.Sum {
		d.Definition = old.Definition
	} else if old != nil {
		p.dropDefinition(a, old)
	}
	a.tools[tool] = d
}

// rememberTarget remembers what is reached under an agent's name; p.mu is held.
func (p *Store) rememberTarget(agent, target string) {
	a := p.agents[agent]
	if target == "" || a == nil || len(a.targets) >= maxTargets || slices.Contains(a.targets, target) || !p.reserve(agent, targetSize) {
		return
	}
	a.targets = append(a.targets, target)
	p.scheduleWrite()
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
