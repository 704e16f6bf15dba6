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

	"github.com/mcphud/mcphud/session/listen"
	"github.com/mcphud/mcphud/session/process"
)

// The ports that are tried first where a file does not say one: agents count up from FirstAgent.
const (
	FirstAgent    = 7000
	DefaultRouter = 8088
)

// Builtin is the stack of whoever has no file: agents of three profiles, in memory, and a router.
func Builtin() *File {
	agent := func(name string) AgentEntry {
		return AgentEntry{Name: name, Flags: [][2]string{{"profile", name}, {"name", name}, {"ephemeral", "true"}}}
	}
	return &File{Agents: []AgentEntry{agent("demo"), agent("everything"), agent("fault")}, Router: &RouterEntry{}}
}

// Place is where and how a File is to run.
type Place struct {
	Dir   string // private folder for what the processes need to know of each other; has to exist
	State string // folder for the agents' databases, "" to keep everything in memory
	Free  bool   // no default port is tried
}

// Plan is a File that can be run: New(p.Specs, Options{Listening: p.Listening, Env: p.Env, Drain: p.Drain}).
type Plan struct {
	Specs []Spec
	Notes []string      // what is not as one might expect: which ports were taken, and by whom
	Drain time.Duration // how long servers of others may take to leave: what the most patient agent may
	table *table
}

// TakenError says that a port that a file asks for is taken.
type TakenError struct {
	Port int
	Err  error
}

// Error says who asks for it, and who has it.
func (e *TakenError) Error() string { return e.Err.Error() }

// Unwrap is the system's error.
func (e *TakenError) Unwrap() error { return e.Err }

// Plan finds a port for every process and writes routing.json for the router. A port that the file asks for and that is
// taken, also by a server's URL, is a *TakenError.
func (f *File) Plan(ctx context.Context, at Place) (*Plan, error) {
	ports := &ports{ctx: ctx, free: at.Free}
	defer ports.close()
	p := &Plan{table: newTable(f, at.Dir)}
	// Those that were asked for first, so that no default takes one of them.
	for _, fixed := range []bool{true, false} {
		for i, a := range f.Agents {
			if fixed == (a.Port != 0) {
				ports.pick(a.Name, a.Port, FirstAgent+i)
			}
		}
		for _, e := range f.Servers {
			if fixed && e.supervised() {
				ports.claim(e.Name, e.URL)
			}
		}
		if r := f.Router; r != nil && fixed == (r.Port != 0) {
			ports.pick(routerName, r.Port, DefaultRouter)
		}
	}
	if ports.err != nil {
		return nil, ports.err
	}
	p.Notes = ports.notes
	var all []string
	for _, a := range f.Agents {
		s := Spec{Name: a.Name, Kind: Agent, Dir: f.folder(), Env: ownEnv(a.Env), Port: ports.of[a.Name], Fixed: a.Port != 0}
		s.Args, s.Drain = arguments(f.stored(a, at.State)), leave(a.Flags)
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
		if !e.supervised() {
			p.Notes = append(p.Notes, absent(e, dir)...)
			continue
		}
		p.Specs = append(p.Specs, Spec{Name: e.Name, Kind: Server, Command: e.Command, Args: e.Args, Env: e.Env, Dir: dir, URL: e.URL})
		all = append(all, e.Name)
	}
	p.Drain = cmp.Or(p.Drain, usualDrain+margin)
	if r := f.Router; r != nil {
		pins := "" // the routes are in a folder that goes away, so that what is remembered of them needs a place
		if at.State != "" {
			pins = filepath.Join(at.State, "router.json")
		}
		args := append([]string{"--routes=" + p.table.path, "--pins=" + pins}, arguments(r.Flags)...)
		p.Specs = append(p.Specs, Spec{
			Name: routerName, Kind: Router, Args: args, Dir: f.folder(), Env: ownEnv(r.Env), Cert: r.cert(),
			Port: ports.of[routerName], Fixed: r.Port != 0, Drain: leave(r.Flags), After: all,
		})
		p.table.ports[routerName] = ports.of[routerName]
		if err := p.table.write(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// absent says that the command of a server that the router starts when it is called is not there.
func absent(e ServerEntry, dir string) []string {
	if e.Command == "" {
		return nil
	}
	if _, err := process.Lookup(e.Command, process.Filtered(e.Env), dir); err != nil {
		return []string{fmt.Sprintf("warning: %s fails when it is called: %v", e.Name, noCommand(e.Command, dir, err))}
	}
	return nil
}

// Listening takes note of where a process listens, and tells the router if that is another port than before.
func (p *Plan) Listening(name, url string) error {
	if err := p.table.listening(name, portOf(url)); err != nil {
		return fmt.Errorf("the router has not been told that %s is at port %d: %w; it is tried again", name, portOf(url), err)
	}
	return nil
}

// Env tells an agent where the router is, through which it calls others. The agents start before it, and ask again each time
// that they start.
func (p *Plan) Env(name string) map[string]string {
	port := p.table.port(routerName)
	i := slices.IndexFunc(p.table.file.Agents, func(a AgentEntry) bool { return a.Name == name })
	if port == 0 || i < 0 {
		return nil
	}
	env := map[string]string{"ROUTER_HOST": loopback, "ROUTER_PORT": strconv.Itoa(port)}
	// The certificate is this router's: an agent that is given another one does not trust that one by it.
	if cert := p.table.file.Router.cert(); cert != "" && !p.table.file.Agents[i].hasRouter() {
		env["ROUTER_HOST"], env["ROUTER_CA"] = p.table.file.Router.Scheme()+"://"+loopback, cert
	}
	return env
}

// hasRouter reports whether the file says where the agent finds a router.
func (a *AgentEntry) hasRouter() bool {
	return a.Env["ROUTER_HOST"] != "" || slices.ContainsFunc(a.Flags, func(f [2]string) bool { return f[0] == "router-host" })
}

// folder is where paths of the file begin, "" for the built-in one.
func (f *File) folder() string {
	if f.Path == "" {
		return ""
	}
	return filepath.Dir(f.Path)
}

// stored adds to an agent's flags where it keeps what it has to remember, unless the file says.
func (f *File) stored(a AgentEntry, state string) [][2]string {
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

// arguments are flags as a process gets them.
func arguments(flags [][2]string) (args []string) {
	for _, f := range flags {
		args = append(args, "--"+f[0]+"="+f[1])
	}
	return args
}

const (
	usualDrain = 10 * time.Second // how long agents and routers drain that are not told
	margin     = 2 * time.Second  // which processes get beyond it
)

// leave is how long a process with these flags gets from TERM to KILL.
func leave(flags [][2]string) time.Duration {
	drain := usualDrain
	for _, f := range flags {
		if f[0] != "drain-timeout" {
			continue
		}
		if ms, err := strconv.Atoi(f[1]); err == nil { // as agents and routers take it
			drain = time.Duration(ms) * time.Millisecond
		} else if d, err := time.ParseDuration(f[1]); err == nil {
			drain = d
		}
	}
	return drain + margin
}

// ownEnv is the environment of a process of this program: where to send traces, variables of its own, and what the file
// says.
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

// ports finds free ports and keeps them until all are found.
type ports struct {
	ctx   context.Context
	free  bool // any will do
	of    map[string]int
	held  []net.Listener
	notes []string
	err   error
}

func (p *ports) pick(name string, fixed, usual int) {
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
			p.err = p.taken(name, fixed)
		}
		return
	case err != nil && want != 0:
		if lns, err = listen.Listen(p.ctx, loopback, 0); err == nil {
			port := lns[0].Addr().(*net.TCPAddr).Port
			p.notes = append(p.notes, fmt.Sprintf("port %d is taken%s; %s uses %d", usual, p.by(usual), name, port))
		}
	}
	if err != nil {
		p.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	p.hold(name, lns[0].Addr().(*net.TCPAddr).Port, lns)
}

// hold keeps a port for a process until all are found.
func (p *ports) hold(name string, port int, lns []net.Listener) {
	p.held = append(p.held, lns...)
	if p.of == nil {
		p.of = map[string]int{}
	}
	p.of[name] = port
}

// by says who has a port.
func (p *ports) by(port int) string {
	for name, n := range p.of {
		if n == port {
			return " by " + name + " of the same stack"
		}
	}
	return holder(port)
}

func (p *ports) close() { closeListeners(p.held) }
