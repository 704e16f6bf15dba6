package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/wire/process"
)

// Default ports; agents count up from FirstAgent.
const (
	FirstAgent    = 7000
	DefaultRouter = 8088
)

// Builtin is the stack without a file: agents of three profiles, in memory, and a router.
func Builtin() *File {
	agent := func(name string) AgentEntry {
		return AgentEntry{Name: name, Of: name, Flags: [][2]string{{"profile", name}, {"name", name}, {"ephemeral", "true"}}}
	}
	return &File{Agents: []AgentEntry{agent("demo"), agent("everything"), agent("fault")}, Router: &RouterEntry{}}
}

// Place is where and how a File is to run.
type Place struct {
	Dir   string // private folder for the router's routes; must exist
	State string // folder for the agents' databases, "" to keep everything in memory
	Free  bool   // any free ports instead of the default ones
}

// Plan is a File that can be run: New(p.Specs, Options{Listening: p.Listening, Env: p.Env, Drain: p.Drain}).
type Plan struct {
	Specs []Spec
	Notes []string      // for the user: ports that were taken, commands that are missing
	Drain time.Duration // for third-party servers: the longest of any agent's
	table *table
}

// TakenError is a port of the file that is taken.
type TakenError struct {
	Port int
	Err  error
}

// Error names the process that needs the port, and the one that has it.
func (e *TakenError) Error() string { return e.Err.Error() }

// Unwrap returns an error that wraps the system's.
func (e *TakenError) Unwrap() error { return e.Err }

// Plan finds a port for every process and writes routing.json for the router. A port that the file asks for and that is
// taken, also by a server's URL, is a *TakenError.
func (f *File) Plan(ctx context.Context, at Place) (*Plan, error) {
	ports := &ports{ctx: ctx, free: at.Free}
	defer ports.close()
	p := &Plan{table: newTable(f, at.Dir)}
	// Fixed ports first, so that no default takes one of them.
	for _, fixed := range []bool{true, false} {
		for i, a := range f.Agents {
			if fixed == (a.Port != 0) {
				ports.choose(a.Name, a.Port, FirstAgent+i)
			}
		}
		for _, e := range f.Servers {
			if fixed && e.stackStarts() {
				ports.claim(e.Name, e.URL)
			}
		}
		if r := f.Router; r != nil && fixed == (r.Port != 0) {
			ports.choose(routerName, r.Port, DefaultRouter)
		}
	}
	if ports.err != nil {
		return nil, ports.err
	}
	p.Notes = append(ports.notes, f.openNotes(p.table.tokens)...)
	var all, started []string
	for _, e := range f.Servers {
		if e.stackStarts() {
			started = append(started, e.Name)
		}
	}
	for _, a := range f.Agents {
		s := Spec{Name: a.Name, Kind: Agent, Dir: f.folder(), Env: ownEnv(a.Env), Port: ports.of[a.Name], Fixed: a.Port != 0}
		s.Args, s.Drain = arguments(f.databaseFlags(a, at.State)), drainTime(a.Flags)
		if token := p.table.tokens[a.Of]; token != "" {
			s.Env[tokenEnv], s.Env[anonymousEnv] = token, "true"
		}
		if a.Env[queueEnv] != "" || a.Env[storeEnv] != "" { // which may be at a server of the stack
			s.After = started
		}
		p.Drain = max(p.Drain, s.Drain)
		p.table.ports[a.Name] = s.Port
		p.Specs = append(p.Specs, s)
		all = append(all, a.Name)
	}
	for _, e := range f.Servers {
		dir := e.Dir
		if dir == "" {
			dir = f.folder()
		}
		if !e.stackStarts() {
			p.Notes = append(p.Notes, missingCommand(e, dir)...)
			continue
		}
		p.Specs = append(p.Specs, Spec{Name: e.Name, Kind: Server, Command: e.Command, Args: e.Args, Env: e.Env, Dir: dir, Sandbox: e.Sandbox, URL: e.listens()})
		all = append(all, e.Name)
	}
	p.Drain = cmp.Or(p.Drain, defaultDrain+drainMargin)
	if r := f.Router; r != nil {
		pins := "" // routing.json is in a temporary folder, and tool pins must outlive it
		if at.State != "" {
			pins = filepath.Join(at.State, "router.json")
		}
		args := append([]string{"--routes=" + p.table.path, "--pins=" + pins}, arguments(r.Flags)...)
		p.Specs = append(p.Specs, Spec{
			Name: routerName, Kind: Router, Args: args, Dir: f.folder(), Env: ownEnv(r.Env), Cert: r.cert(),
			Port: ports.of[routerName], Fixed: r.Port != 0, Drain: drainTime(r.Flags), After: all,
		})
		p.table.ports[routerName] = ports.of[routerName]
		if err := p.table.write(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// missingCommand warns of a server whose command is not found by the time that the router starts it, on its first call.
func missingCommand(e ServerEntry, dir string) []string {
	if e.Command == "" {
		return nil
	}
	if _, err := process.Lookup(e.Command, process.Filtered(e.Env), dir); err != nil {
		return []string{fmt.Sprintf("warning: calls of %s will fail: %v", e.Name, noCommand(e.Command, dir, err))}
	}
	if e.Sandbox != nil {
		if err := confine.Supported(); err != nil {
			return []string{fmt.Sprintf("warning: calls of %s will fail: %v", e.Name, err)}
		}
	}
	return nil
}

// Listening records where a process listens, and rewrites the router's routes if the port changed.
func (p *Plan) Listening(name, url string) error {
	if err := p.table.listening(name, portOf(url)); err != nil {
		return fmt.Errorf("cannot route to %s at its new port %d: %w; retrying", name, portOf(url), err)
	}
	return nil
}

// Env returns an agent's variables with the address of the router, through which it calls other agents. Since agents start
// before the router, it is called at each start.
func (p *Plan) Env(name string) map[string]string {
	port := p.table.port(routerName)
	i := slices.IndexFunc(p.table.file.Agents, func(a AgentEntry) bool { return a.Name == name })
	if port == 0 || i < 0 {
		return nil
	}
	env := map[string]string{"ROUTER_HOST": loopback, "ROUTER_PORT": strconv.Itoa(port)}
	// The certificate is this router's: an agent that is configured to use another router must not trust that one by it.
	if cert := p.table.file.Router.cert(); cert != "" && !p.table.file.Agents[i].hasRouter() {
		env["ROUTER_HOST"], env["ROUTER_CA"] = p.table.file.Router.Scheme()+"://"+loopback, cert
	}
	return env
}

// Token is what a process of the plan requires of those who call it directly, "" for nothing. The router sends it by itself.
func (p *Plan) Token(name string) string {
	for _, a := range p.table.file.Agents {
		if a.Name == name {
			return p.table.token(a)
		}
	}
	return ""
}

// hasRouter reports whether the file configures the agent's router.
func (a *AgentEntry) hasRouter() bool {
	return a.Env["ROUTER_HOST"] != "" || a.flag("router-host") != ""
}

// folder is the folder of the file, "" for the built-in stack.
func (f *File) folder() string {
	if f.Path == "" {
		return ""
	}
	return filepath.Dir(f.Path)
}

// databaseFlags adds to an agent's flags where its database is, unless the file configures that.
func (f *File) databaseFlags(a AgentEntry, state string) [][2]string {
	if a.Env["AGENT_STORE"] != "" {
		return a.Flags
	}
	for _, flag := range a.Flags {
		if flag[0] == "store" || flag[0] == "ephemeral" && flag[1] == "true" {
			return a.Flags
		}
	}
	if state == "" {
		return append(a.Flags[:len(a.Flags):len(a.Flags)], [2]string{"ephemeral", "true"})
	}
	return append(a.Flags[:len(a.Flags):len(a.Flags)], [2]string{"store", filepath.Join(state, a.Name+".db")})
}

// arguments returns flags as arguments of a command line.
func arguments(flags [][2]string) (args []string) {
	for _, f := range flags {
		args = append(args, "--"+f[0]+"="+f[1])
	}
	return args
}

const (
	defaultDrain = 10 * time.Second // of agents and routers without drainTimeout
	drainMargin  = 2 * time.Second  // on top of it, until SIGKILL
)

// drainTime is the time from SIGTERM to SIGKILL for a process with these flags.
func drainTime(flags [][2]string) time.Duration {
	drain := defaultDrain
	for _, f := range flags {
		if f[0] != "drain-timeout" {
			continue
		}
		if ms, err := strconv.Atoi(f[1]); err == nil { // a number is milliseconds, as in their flags
			drain = time.Duration(ms) * time.Millisecond
		} else if d, err := time.ParseDuration(f[1]); err == nil {
			drain = d
		}
	}
	return drain + drainMargin
}

// ownEnv returns the variables of a process of this program: telemetry, settings of mcphud, and those of the file.
func ownEnv(env map[string]string) map[string]string {
	out := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, _ := strings.Cut(kv, "="); strings.HasPrefix(k, "OTEL_") || strings.HasPrefix(k, "MCPHUD_") {
			out[k] = v
		}
	}
	maps.Copy(out, env)
	return out
}

// ports chooses free ports and listens on them until all are chosen, so that no two are the same.
type ports struct {
	ctx   context.Context
	free  bool // any port instead of the default
	of    map[string]int
	held  []net.Listener
	notes []string
	err   error
}

func (p *ports) choose(name string, fixed, usual int) {
	if p.err != nil {
		return
	}
	want := fixed
	if want == 0 && !p.free {
		want = usual
	}
	lns, err := listen.Listen(p.ctx, loopback, want)
	switch {
	case err != nil && fixed != 0:
		p.err = &TakenError{fixed, fmt.Errorf("%s: %w", name, err)}
		if errors.Is(err, syscall.EADDRINUSE) {
			p.err = p.takenError(name, fixed)
		}
		return
	case err != nil && want != 0:
		if lns, err = listen.Listen(p.ctx, loopback, 0); err == nil {
			port := lns[0].Addr().(*net.TCPAddr).Port
			p.notes = append(p.notes, fmt.Sprintf("port %d is taken%s; %s uses %d", usual, p.holder(usual), name, port))
		}
	}
	if err != nil {
		p.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	p.keep(name, lns[0].Addr().(*net.TCPAddr).Port, lns)
}

// keep reserves a port for a process.
func (p *ports) keep(name string, port int, lns []net.Listener) {
	p.held = append(p.held, lns...)
	if p.of == nil {
		p.of = map[string]int{}
	}
	p.of[name] = port
}

// holder names the process that has a port.
func (p *ports) holder(port int) string {
	for name, n := range p.of {
		if n == port {
			return " by " + name + " of the same stack"
		}
	}
	return holder(port)
}

func (p *ports) close() { closeListeners(p.held) }
