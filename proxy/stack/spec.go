// Package stack runs agents, a router and other servers as child processes: it starts them in order, says when they are
// ready, restarts what fails, and ends all of them, with everything that they forked, whenever it ends itself.
//
// Children are processes of this very program, or commands of others. Ours have a pipe as their standard input that only
// this process holds, and leave when it closes, so that they live no longer than their supervisor on any system, however
// that ended. Commands of others are killed by the kernel then on Linux; elsewhere they stay if this process is killed
// without warning. On every other way out they are ended, with what they forked.
package stack

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"
)

// Kind is what a process is for.
type Kind string

// The kinds. Agents and routers are processes of this program.
const (
	Agent  Kind = "agent"
	Router Kind = "router"
	Server Kind = "server" // a command of somebody else's that serves HTTP
)

// Spec is one process.
type Spec struct {
	Name string
	Kind Kind

	// Command is the program of a Server, found as a shell would; Agent and Router have none. No shell is involved.
	Command string
	Args    []string
	Env     map[string]string // added to the few variables that every program gets; see process.Filtered
	Dir     string            // working folder, "" for ours

	// Port is what an Agent or Router is to listen on, 0 for any. Where it is taken another one is used, unless Fixed.
	Port  int
	Fixed bool
	// Cert is a file with the certificate that an Agent or Router serves HTTPS with, "" for HTTP.
	Cert string
	// URL is where a Server listens. It is ready once something accepts connections there; "" is ready at once.
	URL string

	// Drain is from TERM to KILL; 0 is what Options say.
	Drain time.Duration

	// After are the processes to wait for, until they are ready, have failed, or are stopped.
	After []string
}

// own reports whether the process is one of this program.
func (s *Spec) own() bool { return s.Kind != Server }

// Supervised is the flag with which processes of this program are started: they leave when their standard input ends.
const Supervised = "--supervised"

// Options are how to supervise. The zero value is usable.
type Options struct {
	Program string // the program to run as agents and router; "" is os.Executable
	// Env is what a process gets beside its Spec.Env, which wins. It is asked each time that the process starts; nil adds nothing.
	Env func(name string) map[string]string

	// Event is told of every change of a state, one at a time. It must return soon.
	Event func(Event)
	// Listening is told where a process of ours listens, each time before it is ready. What it returns as an error is shown as
	// the process' trouble, and it is told again until it returns none.
	Listening func(name, url string) error

	Poll         time.Duration // between two looks at a process; default 1 s
	StartTimeout time.Duration // until a process has to listen; default 30 s
	Drain        time.Duration // from TERM to KILL where a Spec says nothing; default 12 s, which is more than agents take by themselves
	Misses       int           // looks in a row that may fail before a process is restarted; default 3
	Backoff      Backoff
	Log          LogBounds
}

// Event is a change of a process' state.
type Event struct {
	Time   time.Time
	Status Status
	Note   string // what happened, in words
}

func (o *Options) complete() error {
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.StartTimeout = cmp.Or(o.StartTimeout, 30*time.Second)
	o.Drain = cmp.Or(o.Drain, usualDrain+margin)
	o.Misses = cmp.Or(o.Misses, 3)
	o.Backoff.complete()
	o.Log.complete()
	if o.Program == "" {
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("stack: cannot find this program: %w", err)
		}
		o.Program = exe
	}
	return nil
}

// levels sorts processes so that each comes after those that it waits for: all of one level start together. The error
// names what cannot be.
func levels(specs []Spec) ([][]string, error) {
	known := map[string]bool{}
	for _, s := range specs {
		switch {
		case s.Name == "":
			return nil, fmt.Errorf("stack: a process has no name")
		case known[s.Name]:
			return nil, fmt.Errorf("stack: two processes are called %q", s.Name)
		case !s.own() && s.Command == "":
			return nil, fmt.Errorf("stack: %s has no command", s.Name)
		}
		known[s.Name] = true
	}
	var out [][]string
	placed := map[string]bool{}
	for len(placed) < len(specs) {
		var level []string
		for _, s := range specs {
			if placed[s.Name] {
				continue
			}
			ok := true
			for _, dep := range s.After {
				if !known[dep] {
					return nil, fmt.Errorf("stack: %s waits for %q, which is not in the stack", s.Name, dep)
				}
				ok = ok && placed[dep]
			}
			if ok {
				level = append(level, s.Name)
			}
		}
		if level == nil {
			return nil, fmt.Errorf("stack: processes wait for each other in a circle")
		}
		for _, name := range level {
			placed[name] = true
		}
		out = append(out, slices.Clip(level))
	}
	return out, nil
}
