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

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/process"
)

// readyLine precedes the URL on stderr when a process of ours listens.
const readyLine = "listening on "

// outputGrace bounds the wait for the rest of a process' output after its exit.
const outputGrace = 250 * time.Millisecond

// child is a running process.
type child struct {
	*process.Process
	parentPipe *os.File // the process exits when it closes
	pipes      []*os.File
	readers    sync.WaitGroup
	url        chan string // where a process of ours listens; capacity 1

	mu   sync.Mutex
	last string // last line of stderr
}

// spawn starts the process of a spec.
func (p *proc) spawn(port int) (*child, error) {
	s, o := &p.spec, &p.stack.o
	env := process.Filtered(p.stack.noteAdded(p))
	path, args := o.Program, s.Args
	if s.isOurs() {
		args = append(append([]string{string(s.Kind)}, args...), "--port", strconv.Itoa(port), Supervised)
	} else {
		var err error
		if path, err = process.Lookup(s.Command, env, s.Dir); err != nil {
			return nil, noCommand(s.Command, s.Dir, err)
		}
		if err := checkFree(s.URL); err != nil {
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
	if !s.isOurs() {
		std[0] = nil // the null device
	}
	var err error
	c.Process, err = process.Start(process.Spec{Path: path, Args: args, Env: env, Dir: s.Dir, Std: std, Confine: s.Sandbox})
	closeAll([]*os.File{ends[0], ends[3], ends[5]})
	if err != nil {
		closeAll([]*os.File{ends[1], ends[2], ends[4]})
		return nil, fmt.Errorf("cannot start %q: %w", path, process.Reason(err))
	}
	c.parentPipe, c.pipes = ends[1], []*os.File{ends[2], ends[4]}
	for i, stream := range []string{Stdout, Stderr} {
		c.readers.Go(func() {
			readLines(c.pipes[i], o.Log.Line, func(line string) { p.output(c, stream, line) })
		})
	}
	return c, nil
}

// noteAdded returns the variables of a start, and keeps them for renew.
func (s *Stack) noteAdded(p *proc) map[string]string {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	add := p.addedVariables()
	s.mu.Lock()
	defer s.mu.Unlock()
	p.env = add
	return add
}

// addedVariables returns the variables that a start adds now.
func (p *proc) addedVariables() map[string]string {
	add := map[string]string{}
	if p.stack.o.Env != nil {
		maps.Copy(add, p.stack.o.Env(p.spec.Name))
	}
	maps.Copy(add, p.spec.Env)
	return add
}

// noCommand is the error for a command that cannot be found, with the folder that a relative path starts from.
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

// output handles a line of the process' output.
func (p *proc) output(c *child, stream, line string) {
	p.log.add(stream, line)
	if stream == Stderr {
		if url, ok := strings.CutPrefix(line, readyLine); ok && p.spec.isOurs() {
			select {
			case c.url <- strings.TrimSpace(url):
			default: // reported before
			}
		}
		if strings.TrimSpace(line) != "" {
			c.mu.Lock()
			c.last = line
			c.mu.Unlock()
		}
	}
	p.stack.notify()
}

// stop sends SIGTERM, and SIGKILL after grace, or at once when now is closed. It returns when the process has exited.
func (c *child) stop(grace time.Duration, now <-chan struct{}) {
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

// finish kills what an exited process forked, releases its resources, and returns how it ended.
func (c *child) finish() string {
	c.Signal(process.Kill) // its pid is still reserved
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
	closeAll(append(c.pipes, c.parentPipe))
	<-over
	return c.Reap()
}

// lastWords is the last line of stderr if it may be the reason for the exit, "" otherwise.
func (c *child) lastWords() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasPrefix(c.last, readyLine) {
		return ""
	}
	var said struct { // an error or a log record of our own commands
		Error struct{ Message string }
		Msg   string
		Level string
	}
	_ = json.Unmarshal([]byte(c.last), &said) // other programs write text
	switch {
	case said.Error.Message != "":
		return said.Error.Message
	case said.Level == "ERROR" || said.Level == "WARN":
		return said.Msg
	case said.Msg != "": // an ordinary record is not a reason
		return ""
	}
	const most = 500
	return text.Clip(c.last, most)
}

// withWords joins how a process ended with its last words.
func withWords(how, words string) error {
	if words != "" {
		how += ": " + words
	}
	return errors.New(how)
}
