package toolpin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
)

// lockWait is how long a router waits for another one that writes to the same file.
const lockWait = 2 * time.Second

// document is the content of the file.
type document struct {
	Version int                        `json:"version"`
	Agents  map[string]map[string]*pin `json:"agents"`            // by agent and tool
	Targets map[string][]string        `json:"targets,omitempty"` // by agent: what was reached under its name, see config.Server.Target
}

// Open reads the pins of earlier runs. A missing file starts empty; one that cannot be read is an error, since forgetting a
// pin accepts every change. With path "" pins are kept in memory only. Routers that use one file share their pins.
func Open(path string, log *slog.Logger) (*Store, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Store{path: path, log: log, max: maxFile, slots: make(chan struct{}, 4), agents: map[string]*agentPins{}}
	if path == "" {
		return p, nil
	}
	in, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("cannot read tool pins: %w; correct the file, or remove it to accept all tools as they are now", err)
	}
	for agent, tools := range in.Agents { // all of it, or what there is no room for would be accepted
		a := &agentPins{tools: tools, targets: in.Targets[agent]}
		for _, d := range tools {
			a.definitionBytes += len(d.Definition)
		}
		p.agents[agent] = a
		p.definitionBytes += a.definitionBytes
	}
	p.size = int(p.stamp.Size())
	return p, nil
}

// read is the content of the file, empty if there is none or it did not change since p read or wrote it.
func (p *Store) read() (document, error) {
	stamp := files.StampOf(p.path)
	if stamp.Size() > 0 && stamp.Equal(p.stamp) {
		return document{}, nil
	}
	in, err := readFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return document{}, nil
	}
	if err == nil {
		p.stamp = stamp
	}
	return in, err
}

// readFile is the content of a file.
func readFile(path string) (in document, err error) {
	raw, err := files.Read(path, maxFile)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, fmt.Errorf("%s: %w", path, err)
	}
	if in.Version != 1 {
		return in, fmt.Errorf("%s: version is %d, not 1", path, in.Version)
	}
	for agent, tools := range in.Agents {
		for tool, d := range tools {
			if d == nil || len(d.Sum) != hexLen || d.ChangedTo != "" && len(d.ChangedTo) != hexLen {
				return in, fmt.Errorf("%s: tool %q of agent %q has no valid hash", path, clip(tool), clip(agent))
			}
		}
		if tools == nil {
			delete(in.Agents, agent)
		}
	}
	return in, nil
}

// scheduleWrite schedules a write; p.mu is held.
func (p *Store) scheduleWrite() {
	p.changed = true
	if p.path != "" && p.save == nil && !p.closed {
		p.save = time.AfterFunc(saveDelay, func() { p.write(false) })
	}
}

// write saves what changed. last is the call of Close.
func (p *Store) write(last bool) {
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
	err := p.sync()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if p.writeErr == nil {
			p.log.Error("cannot save tool pins: changes made while the router is down will go unnoticed", "file", p.path, "error", err)
		}
		p.scheduleWrite() // try again
	}
	p.writeErr = err
}

// sync merges what other routers wrote to the file, and writes the result.
func (p *Store) sync() error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	unlock, err := files.Lock(ctx, p.path)
	if err != nil {
		return errors.New("another router is writing to its folder")
	}
	defer unlock()
	theirs, err := p.read()
	if err != nil {
		return fmt.Errorf("%w; the file stays as it is", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(p.mergeDocument(theirs)); err != nil {
		return err
	}
	if out.Len() > p.max {
		return fmt.Errorf("%s would be larger than %s", p.path, text.Bytes(p.max))
	}
	if err := files.Write(p.path, out.Bytes()); err != nil {
		return err
	}
	p.stamp = files.StampOf(p.path)
	return nil
}

// mergeDocument merges what another router wrote, and returns a copy of all pins.
func (p *Store) mergeDocument(theirs document) document {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.merge(theirs)
	all := document{Version: 1, Agents: map[string]map[string]*pin{}, Targets: map[string][]string{}}
	for name, a := range p.agents {
		if len(a.tools) == 0 {
			continue
		}
		tools := make(map[string]*pin, len(a.tools))
		for tool, d := range a.tools {
			c := *d
			tools[tool] = &c
		}
		all.Agents[name] = tools
		if len(a.targets) > 0 {
			all.Targets[name] = slices.Clone(a.targets)
		}
	}
	return all
}

// merge adds the pins of another router; p.mu is held. Of two that differ the older one counts as first seen.
func (p *Store) merge(theirs document) {
	for agent, tools := range theirs.Agents {
		a := p.ensureAgent(agent)
		if a == nil {
			continue
		}
		for _, t := range theirs.Targets[agent] {
			p.rememberTarget(agent, t)
		}
		for tool, d := range tools {
			text := d.Definition
			d.Definition = ""
			mine := a.tools[tool]
			switch {
			case mine == nil && (len(a.tools) >= maxTools || !p.reserve(tool, pinSize)):
				continue
			case mine == nil || mine.raw == [sha256.Size]byte{}: // this router has not seen the tool
				p.replacePin(a, tool, d)
			case mine.Sum != d.Sum && !d.Since.After(mine.Since):
				now := cmp.Or(mine.ChangedTo, mine.Sum)
				p.dropDefinition(a, mine)
				mine.Sum, mine.Since = d.Sum, d.Since
				p.update(agent, a, tool, mine, now)
			case mine.Sum == d.Sum && d.ChangedAt.After(mine.ChangedAt):
				p.replacePin(a, tool, d) // without the bytes seen last, so that the next list is compared
			}
			p.storeDefinition(a, a.tools[tool], d.Sum, text)
		}
	}
}

// Close waits for running checks and saves what is not saved yet. The Store remembers nothing afterwards.
func (p *Store) Close() error {
	p.mu.Lock()
	p.closed = true
	if p.save != nil {
		p.save.Stop()
	}
	p.mu.Unlock()
	p.tasks.Wait()
	if p.path == "" {
		return nil
	}
	p.write(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writeErr
}
