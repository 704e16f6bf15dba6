package tui

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/files"
)

// maxPreferences bounds the file, in bytes.
const maxPreferences = 64 << 10

// preferences are what the user arranged, by name. They are read once and written at every change, so that a crash loses
// none; where several programs run the last one wins.
type preferences struct {
	file   string
	values map[string]string
	usual  map[string]string // in place of values that there are none of
	change int               // number of the last one

	mu      sync.Mutex
	written int // number of the change that the file has
}

// loadPreferences reads the file; one that is missing or broken is as good as empty.
func loadPreferences(file string) *preferences {
	p := &preferences{file: file, values: map[string]string{}}
	if file == "" {
		return p
	}
	if b, err := files.Read(file, maxPreferences); err == nil {
		_ = json.Unmarshal(b, &p.values)
	}
	if p.values == nil { // the file says null
		p.values = map[string]string{}
	}
	return p
}

func (p *preferences) get(name string) string { return cmp.Or(p.values[name], p.usual[name]) }

// set keeps a value; its command writes the file.
func (p *preferences) set(name, value string) tea.Cmd {
	if p.values[name] == value {
		return nil
	}
	p.values[name] = value
	return p.save()
}

// save is the command that writes the file.
func (p *preferences) save() tea.Cmd {
	b, err := json.MarshalIndent(p.values, "", "  ")
	if p.file == "" || err != nil || len(b) > maxPreferences {
		return nil
	}
	p.change++
	change := p.change
	return func() tea.Msg {
		p.mu.Lock()
		defer p.mu.Unlock()
		if change < p.written {
			return nil
		}
		p.written = change
		if os.MkdirAll(filepath.Dir(p.file), 0o700) == nil {
			_ = files.Write(p.file, b) // a convenience: nobody is bothered where it fails
		}
		return nil
	}
}

// ProbesPreference is the preference that shows health checks and questions for what a server speaks, in the traffic, in time and in the
// ticker: "on" or "off".
const ProbesPreference = "probes"

// FlipProbes shows them where they are hidden, and the other way round.
func (c *Ctx) FlipProbes() tea.Cmd { return c.Prefer(ProbesPreference, onOff(!c.ShowsProbes())) }

// ShowsProbes is whether they are shown.
func (c *Ctx) ShowsProbes() bool { return c.Preference(ProbesPreference) == onOff(true) }

// Preference is what was kept under a name ("wrap"), "" if nothing was.
func (c *Ctx) Preference(name string) string { return c.app.prefs.get(name) }

// Prefer keeps a value under a name for this run and the next ones.
func (c *Ctx) Prefer(name, value string) tea.Cmd { return c.app.prefs.set(name, value) }
