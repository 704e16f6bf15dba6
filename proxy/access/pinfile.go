package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/mcphud/mcphud/proxy/filelock"
	"github.com/mcphud/mcphud/session/atomicfile"
)

// lockWait is how long a router waits for another one that writes to the same file.
const lockWait = 2 * time.Second

// pinFile is the file: by agent and tool.
type pinFile struct {
	Version int                               `json:"version"`
	Agents  map[string]map[string]*definition `json:"agents"`
}

// OpenPins reads what a router before this one remembered. A file that is not there begins anew; one that cannot be understood
// is an error, for to forget what was remembered is to accept every change. "" remembers in memory only. Routers that share
// a file share what they remember. Close writes what is not written yet.
func OpenPins(file string, log *slog.Logger) (*Pins, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Pins{file: file, log: log, slots: make(chan struct{}, 4), agents: map[string]*pinned{}}
	if file == "" {
		return p, nil
	}
	in, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("what was remembered of agents' tools in %s is not readable: %w; correct the file, or remove it to remember them anew", file, err)
	}
	for agent, tools := range in {
		p.agents[agent] = &pinned{tools: tools}
	}
	return p, nil
}

// read is what is in the file, by agent and tool; nil if there is none, or nothing that p has not read or written before.
func (p *Pins) read() (map[string]map[string]*definition, error) {
	info, err := os.Stat(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if p.stamp != nil && os.SameFile(info, p.stamp) && info.ModTime().Equal(p.stamp.ModTime()) && info.Size() == p.stamp.Size() {
		return nil, nil
	}
	if !info.Mode().IsRegular() || info.Size() > maxPinFile {
		return nil, fmt.Errorf("%s is no regular file of at most %d MiB", p.file, maxPinFile>>20)
	}
	text, err := os.ReadFile(p.file)
	if err != nil {
		return nil, err
	}
	var in pinFile
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if in.Version != 1 {
		return nil, fmt.Errorf("its version is %d, not 1", in.Version)
	}
	for agent, tools := range in.Agents {
		for tool, d := range tools {
			if d == nil || len(d.Sum) != hashName || d.Now != "" && len(d.Now) != hashName {
				return nil, fmt.Errorf("tool %q of agent %q has no hash", clip(tool), clip(agent))
			}
		}
		if tools == nil {
			delete(in.Agents, agent)
		}
	}
	p.stamp = info
	return in.Agents, nil
}

// dirty has the file written soon; p.mu is held.
func (p *Pins) dirty() {
	p.changed = true
	if p.file != "" && p.save == nil && !p.closed {
		p.save = time.AfterFunc(saveAgain, func() { p.write(false) })
	}
}

// write writes what changed; the last time is when the pins are closed.
func (p *Pins) write(last bool) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	p.save = nil
	if !p.changed || p.closed && !last {
		p.mu.Unlock()
		return
	}
	p.changed = false
	p.mu.Unlock()
	err := p.exchange()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if p.failed == nil {
			p.log.Error("what agents' tools are is not remembered across restarts", "file", p.file, "error", err)
		}
		p.dirty() // tried again
	}
	p.failed = err
}

// exchange learns what other routers with the same file wrote to it, and adds what this one knows.
func (p *Pins) exchange() error {
	lock, err := filelock.Lock(filepath.Dir(p.file), lockWait) // of the folder: the file is another one each time
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // nothing was written
	theirs, err := p.read()
	if err != nil {
		return fmt.Errorf("%w; it stays as it is", err)
	}
	p.mu.Lock()
	p.merge(theirs)
	out := pinFile{Version: 1, Agents: map[string]map[string]*definition{}}
	for name, a := range p.agents {
		if len(a.tools) > 0 {
			out.Agents[name] = a.tools
		}
	}
	text, err := json.MarshalIndent(out, "", "\t")
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(p.file, append(text, '\n')); err != nil {
		return err
	}
	p.stamp, err = os.Stat(p.file)
	return err
}

// merge adds what another router knows; p.mu is held. Of two definitions that were each the first, the older one is.
func (p *Pins) merge(theirs map[string]map[string]*definition) {
	for agent, tools := range theirs {
		a := p.agent(agent)
		if a == nil {
			continue
		}
		for tool, d := range tools {
			mine := a.tools[tool]
			switch {
			case mine == nil && len(a.tools) >= maxTools:
			case mine == nil || mine.raw == [sha256.Size]byte{}: // not seen by this router
				a.tools[tool] = d
			case mine.Sum != d.Sum && !d.Since.After(mine.Since):
				now := cmp.Or(mine.Now, mine.Sum)
				mine.Sum, mine.Since = d.Sum, d.Since
				p.note(agent, a, tool, mine, now)
			case mine.Sum == d.Sum && d.When.After(mine.When):
				a.tools[tool] = d // without what this router saw last, so that it looks again
			}
		}
	}
}

// Close waits for checks, writes what is not written yet, and remembers no more.
func (p *Pins) Close() error {
	p.mu.Lock()
	p.closed = true
	if p.save != nil {
		p.save.Stop()
	}
	p.mu.Unlock()
	p.tasks.Wait()
	if p.file == "" {
		return nil
	}
	p.write(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}
