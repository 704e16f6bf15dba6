package running

import "strings"

// tree is processes by their numbers.
type tree struct {
	at    map[int]*Process
	below map[int][]int
}

// deepest bounds how far parents are followed: processes come and go while they are read.
const deepest = 64

// parent is nil at the top, and for what does not belong to this user.
func (t *tree) parent(p *Process) *Process {
	if q := t.at[p.Parent]; q != nil && q != p {
		return q
	}
	return nil
}

// child reports whether a client started a process as it starts servers: directly, by a launcher, and with nothing that says that it
// is another kind of server.
func (t *tree) child(p *Process) bool {
	q := t.parent(p)
	if q == nil || len(p.Argv) == 0 || clientOf(q.Argv) == "" || clientOf(p.Argv) != "" {
		return false
	}
	switch name := program(p.Argv[0]); {
	case !isLauncher(name), name == "sh", name == "bash", name == "dash", name == "zsh":
		return false
	}
	line := strings.ToLower(strings.Join(p.Argv, " "))
	for _, other := range []string{"--type=", "language", "lsp", "tsserver", "extension"} {
		if strings.Contains(line, other) {
			return false
		}
	}
	return len(p.Argv) > 1
}

// inside reports whether a process belongs to a server above it.
func (t *tree) inside(p *Process, servers map[int]bool) bool {
	for n := 0; n < deepest; n++ {
		if p = t.parent(p); p == nil || clientOf(p.Argv) != "" {
			return false
		}
		if servers[p.PID] {
			return true
		}
	}
	return false
}

// memory is that of a process and of all below it.
func (t *tree) memory(pid, depth int) int64 {
	p := t.at[pid]
	if p == nil || depth > deepest {
		return 0
	}
	sum := p.Memory
	for _, c := range t.below[pid] {
		if c != pid {
			sum += t.memory(c, depth+1)
		}
	}
	return sum
}

// client is the program that uses a server: the known client above it, else the program that started it. A stdio server without
// anybody above it is an orphan.
func (t *tree) client(p *Process) (name string, pid int, orphan bool) {
	var first *Process
	top := p
	for range deepest {
		up := t.parent(top)
		if up == nil || isReaper(up) {
			break
		}
		top = up
		if name := clientOf(up.Argv); name != "" {
			return name, up.PID, false
		}
		if first == nil && len(up.Argv) > 0 && !passes(up.Argv) {
			first = up
		}
	}
	if first != nil {
		return nameOf(first.Argv), first.PID, false
	}
	up := t.parent(top)
	return "", 0, p.Pipes && (top.Parent == 1 || up != nil && isReaper(up))
}

// passes reports whether a process is a shell that only runs a command line.
func passes(argv []string) bool {
	switch program(argv[0]) {
	case "sh", "bash", "dash", "zsh":
		return len(argv) > 1
	}
	return false
}

// isReaper reports whether a process only takes those over whose parents are gone.
func isReaper(p *Process) bool {
	if p.PID == 1 {
		return true
	}
	if len(p.Argv) == 0 {
		return false
	}
	name := program(p.Argv[0])
	return name == "systemd" || name == "init" || name == "launchd" || name == "tini" || name == "dumb-init" || name == "catatonit"
}
