// Package stack supervises agents, a router and other servers as child processes: it starts them in order, reports when
// they are ready, restarts those that fail, and stops all of them, with everything that they forked, when it is closed.
//
// Children are processes of this very program or third-party commands. Our own have a pipe as standard input that only the
// supervisor holds, and exit when it closes, so that on every system they end with their supervisor, however that ended. A
// third-party command is killed by the kernel on Linux; elsewhere it survives if the supervisor is killed with SIGKILL. On
// every other way out it is stopped, with what it forked.
package stack

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
)

// Kind is the role of a process.
type Kind string

// The kinds. Agents and routers are processes of this program.
const (
	Agent  Kind = "agent"
	Router Kind = "router"
	Server Kind = "server" // a third-party command that serves HTTP
)

// Spec is one process.
type Spec struct {
	Name string
	Kind Kind

	// Command is the program of a Server, looked up in PATH as a shell would; Agent and Router have none. No shell is involved.
	Command string
	Args    []string
	Env     map[string]string // added to the few variables that every program gets; see process.Filtered
	Dir     string            // working folder, "" for ours
	Sandbox *confine.Rules    // what a Server may do; nil for all that we may

	// Port is where an Agent or Router listens, 0 for any port. If it is taken another one is used, unless Fixed.
	Port  int
	Fixed bool
	// Cert is a file with the certificate that an Agent or Router serves HTTPS with, "" for HTTP.
	Cert string
	// URL is where a Server listens, tcp://HOST:PORT for one that speaks no HTTP. It is ready once it accepts connections there; without a URL it is ready at once.
	URL string

	// Drain is the time from SIGTERM to SIGKILL; 0 is Options.Drain.
	Drain time.Duration

	// After names processes that must be ready, failed or stopped before this one is started.
	After []string
}

// isOurs reports whether the process is one of this program.
func (s *Spec) isOurs() bool { return s.Kind != Server }

// callerToken is what an agent requires of its callers, "" for nothing. A router takes others.
func (s *Spec) callerToken() string {
	if s.Kind != Agent {
		return ""
	}
	return s.Env[tokenEnv]
}

// Supervised is the flag with which processes of this program are started: they exit when their standard input ends.
const Supervised = "--supervised"

// Options configures a [Stack]. The zero value is usable.
type Options struct {
	Program string // the program to run as agents and router; "" is os.Executable
	// Env returns variables for a process in addition to its Spec.Env, which wins. It is called at each start; nil adds nothing.
	Env func(name string) map[string]string

	// Event is called for every change of a state, never concurrently. It must not block.
	Event func(Event)
	// Listening is called with the URL of a process of ours before each time it becomes ready. An error becomes the process'
	// Status.Trouble, and Listening is called again until it returns nil.
	Listening func(name, url string) error

	Poll         time.Duration // between health checks of a process; default 1 s
	ProbeTimeout time.Duration // of one health check; default 2 s
	StartTimeout time.Duration // until a process must listen; default 30 s
	Drain        time.Duration // from SIGTERM to SIGKILL for Specs without Drain; default 12 s, more than agents need by default
	Misses       int           // consecutive failed health checks after which a process is restarted; default 3
	Backoff      Backoff
	Log          LogBounds
}

// Event is a change of a process' state.
type Event struct {
	Time   time.Time
	Status Status
	Note   string // what happened, for people
}

func (o *Options) complete() error {
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, 2*time.Second)
	o.StartTimeout = cmp.Or(o.StartTimeout, 30*time.Second)
	o.Drain = cmp.Or(o.Drain, defaultDrain+drainMargin)
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

// levels sorts processes topologically: all of one level start together, after those of the levels before.
func levels(specs []Spec) ([][]string, error) {
	known := map[string]bool{}
	for _, s := range specs {
		switch {
		case s.Name == "":
			return nil, fmt.Errorf("stack: a process has no name")
		case known[s.Name]:
			return nil, fmt.Errorf("stack: two processes are called %q", s.Name)
		case !s.isOurs() && s.Command == "":
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
					return nil, fmt.Errorf("stack: %s depends on %q, which is not in the stack", s.Name, dep)
				}
				ok = ok && placed[dep]
			}
			if ok {
				level = append(level, s.Name)
			}
		}
		if level == nil {
			return nil, fmt.Errorf("stack: processes wait for each other: dependency cycle")
		}
		for _, name := range level {
			placed[name] = true
		}
		out = append(out, slices.Clip(level))
	}
	return out, nil
}
