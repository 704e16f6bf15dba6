package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// pinFile is the file: by agent and tool.
type pinFile struct {
	Version int                               `json:"version"`
	Agents  map[string]map[string]*definition `json:"agents"`
}

// OpenPins reads what a router before this one remembered. A file that is not there begins anew; one that cannot be understood
// is an error, for to forget what was remembered is to accept every change. "" remembers in memory only. Close writes what
// is not written yet.
func OpenPins(file string, log *slog.Logger) (*Pins, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Pins{file: file, log: log, slots: make(chan struct{}, 4), agents: map[string]*pinned{}}
	if file == "" {
		return p, nil
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPinFile) {
		err = fmt.Errorf("%s is no regular file of at most %d MiB", file, maxPinFile>>20)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	var in pinFile
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err == nil && in.Version != 1 {
		err = fmt.Errorf("its version is %d, not 1", in.Version)
	}
	for agent, tools := range in.Agents {
		for tool, d := range tools {
			if err == nil && (d == nil || len(d.Sum) != hashName || d.Now != "" && len(d.Now) != hashName) {
				err = fmt.Errorf("tool %q of agent %q has no hash", clip(tool), clip(agent))
			}
		}
		if tools != nil {
			p.agents[agent] = &pinned{tools: tools}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("what was remembered of agents' tools in %s is not readable: %w; correct the file, or remove it to remember them anew", file, err)
	}
	return p, nil
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
	out := pinFile{Version: 1, Agents: map[string]map[string]*definition{}}
	for name, a := range p.agents {
		if len(a.tools) > 0 {
			out.Agents[name] = a.tools
		}
	}
	text, err := json.MarshalIndent(out, "", "\t")
	p.mu.Unlock()
	if err == nil {
		err = replace(p.file, append(text, '\n'))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && p.failed == nil {
		p.log.Error("what agents' tools are is not remembered across restarts", "file", p.file, "error", err)
	}
	p.failed = err
}

// replace writes a file as a whole or not at all, readable for its owner only.
func replace(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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
