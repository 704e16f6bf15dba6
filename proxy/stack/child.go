package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/process"
	"github.com/mcphud/mcphud/session/text"
)

// readyLine is how a process of ours says where it listens.
const readyLine = "listening on "

// outputGrace is how long what a process has written may take to arrive, from its exit on.
const outputGrace = 250 * time.Millisecond

// child is one process while it lives.
type child struct {
	*process.Process
	lifeline *os.File // held open: the process leaves when it closes
	pipes    []*os.File
	readers  sync.WaitGroup
	url      chan string // where a process of ours listens, said once

	mu   sync.Mutex
	last string // what it wrote to stderr last
}

// spawn starts the process of a spec.
func (p *proc) spawn(port int) (*child, error) {
	s, o := &p.spec, &p.stack.o
	add := map[string]string{}
	if o.Env != nil {
		maps.Copy(add, o.Env(s.Name))
	}
	maps.Copy(add, s.Env)
	env := process.Filtered(add)
	path, args := o.Program, s.Args
	if s.own() {
		args = append(append([]string{string(s.Kind)}, args...), "--port", strconv.Itoa(port), Supervised)
	} else {
		var err error
		if path, err = process.Lookup(s.Command, env, s.Dir); err != nil {
			return nil, noCommand(s.Command, s.Dir, err)
		}
		if err := unused(s.URL); err != nil {
			return nil, err
		}
	}
	c := &child{url: make(chan string, 1)}
	var ends []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ends)
			return nil, fmt.Errorf("cannot start: %w", err)
		}
		ends = append(ends, r, w)
	}
	std := [3]*os.File{ends[0], ends[3], ends[5]}
	if !s.own() {
		std[0] = nil // what waits for input has none
	}
	var err error
	c.Process, err = process.Start(process.Spec{Path: path, Args: args, Env: env, Dir: s.Dir, Std: std})
	closeAll([]*os.File{ends[0], ends[3], ends[5]})
	if err != nil {
		closeAll([]*os.File{ends[1], ends[2], ends[4]})
		return nil, fmt.Errorf("cannot start %q: %w", path, process.Reason(err))
	}
	c.lifeline, c.pipes = ends[1], []*os.File{ends[2], ends[4]}
	for i, stream := range []string{Stdout, Stderr} {
		c.readers.Go(func() {
			readLines(c.pipes[i], o.Log.Line, func(line string) { p.output(c, stream, line) })
		})
	}
	return c, nil
}

// noCommand says which command cannot be found, and where it was looked for if it is a relative path.
func noCommand(command, dir string, err error) error {
	where := ""
	if strings.ContainsRune(filepath.ToSlash(command), '/') && !filepath.IsAbs(command) {
		where = " in " + dir
	}
	return fmt.Errorf("cannot start %q%s: %w", command, where, process.Reason(err))
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// output takes a line that the process wrote.
func (p *proc) output(c *child, stream, line string) {
	p.log.add(stream, line)
	if stream == Stderr {
		if url, ok := strings.CutPrefix(line, readyLine); ok && p.spec.own() {
			select {
			case c.url <- strings.TrimSpace(url):
			default: // it said so before
			}
		}
		if strings.TrimSpace(line) != "" {
			c.mu.Lock()
			c.last = line
			c.mu.Unlock()
		}
	}
	p.stack.bump()
}

// end asks the process to leave, and ends it after grace, or at once when now is closed. It returns when the process has
// exited.
func (c *child) end(grace time.Duration, now <-chan struct{}) {
	c.Signal(process.Term)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-c.Exited():
		return
	case <-now:
	case <-t.C:
	}
	c.Signal(process.Kill)
	<-c.Exited()
}

// finish frees what an exited process took, ends what it forked, and says how it ended.
func (c *child) finish() string {
	c.Signal(process.Kill) // its own number is still reserved
	over := make(chan struct{})
	go func() {
		c.readers.Wait()
		close(over)
	}()
	t := time.NewTimer(outputGrace)
	defer t.Stop()
	select {
	case <-over:
	case <-t.C: // a process outside the group holds the pipes
	}
	closeAll(append(c.pipes, c.lifeline))
	<-over
	return c.Reap()
}

// words is what the process said last, as far as it may be why it ended.
func (c *child) words() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasPrefix(c.last, readyLine) {
		return "" // it said so while all was well
	}
	var said struct { // how commands of ours end, and how they log
		Error struct{ Message string }
		Msg   string
		Level string
	}
	_ = json.Unmarshal([]byte(c.last), &said) // most programs say other things
	switch {
	case said.Error.Message != "":
		return said.Error.Message
	case said.Level == "ERROR" || said.Level == "WARN":
		return said.Msg
	case said.Msg != "": // what it did last is no reason
		return ""
	}
	const most = 500
	return text.Clip(c.last, most)
}

// failure joins how a process ended and what it said.
func failure(how, words string) error {
	if words != "" {
		how += ": " + words
	}
	return errors.New(how)
}
