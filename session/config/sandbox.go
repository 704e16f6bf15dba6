package config

import (
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

// sandboxMembers is what a sandbox can be, for messages.
const sandboxMembers = "write true, false, or an object with read, write (lists of paths) and network (true or false)"

// sandbox reads what the process may do. Whatever is not understood is a problem of the entry: it would not be enforced.
func (e *entry) sandbox(n node) {
	if e.dialect != mcphudDialect && e.dialect != generic && !isSandbox(n) {
		line, col := n.pos()
		e.doc.warnAt(line, col, "server %q: sandbox is written as %s has it, and is not enforced here; %s", clip(e.Name), e.dialect.program(), sandboxMembers)
		return
	}
	switch {
	case n.kind() == object:
	case n.text() == "true" && n.kind() != null:
		e.Sandbox = &confine.Rules{}
		return
	case n.text() == "false" && n.kind() != null:
		e.Sandbox = nil
		return
	default:
		e.problem("sandbox", "is %s; %s", n.kind(), sandboxMembers)
		return
	}
	r := &confine.Rules{}
	for _, m := range n.members() {
		field := "sandbox." + m.key
		e.note(field, m.value)
		switch m.key {
		case confine.Read:
			r.Read = e.list(field, m.value)
		case confine.Write:
			r.Write = e.list(field, m.value)
		case confine.Network:
			r.Network = e.bool(field, m.value, false)
		default:
			e.problem(field, "is nothing that a sandbox can enforce; %s", sandboxMembers)
		}
	}
	e.Sandbox = r
}

// isSandbox reports whether a sandbox has the form that is enforced here. Other programs have sandboxes of their own.
func isSandbox(n node) bool {
	if n.kind() != object {
		return n.text() == "true" || n.text() == "false"
	}
	for _, m := range n.members() {
		list := m.key == confine.Read || m.key == confine.Write
		if list && m.value.kind() != array || !list && (m.key != confine.Network || m.value.kind() == object) {
			return false
		}
	}
	return true
}

// expandSandbox replaces the variables in the paths of the sandbox.
func (e *entry) expandSandbox(x *expander) {
	if e.Sandbox == nil {
		return
	}
	for i, p := range e.Sandbox.Read {
		e.Sandbox.Read[i] = x.expand(index("sandbox.read", i), p)
	}
	for i, p := range e.Sandbox.Write {
		e.Sandbox.Write[i] = x.expand(index("sandbox.write", i), p)
	}
}

// checkSandbox refuses one that could not do what it says.
func (e *entry) checkSandbox() {
	switch {
	case e.Sandbox == nil:
	case e.Command == "":
		e.problem("sandbox", "applies only to a server that is started by its command")
	case e.Launch && !e.Sandbox.Network:
		e.problem("sandbox", "a server that is started to serve a url needs network: true")
	default:
		if err := e.Sandbox.Check(); err != nil {
			e.problem("sandbox", "%v", err)
		}
	}
}

// encodedSandbox is a sandbox as a file has it.
func encodedSandbox(r *confine.Rules, t *translation) any {
	if len(r.Read)+len(r.Write) == 0 && !r.Network {
		return true
	}
	o := rewrite.Object{}
	for _, l := range []struct {
		key   string
		paths []string
	}{{confine.Read, r.Read}, {confine.Write, r.Write}} {
		if len(l.paths) == 0 {
			continue
		}
		out := make([]any, len(l.paths))
		for i, p := range l.paths {
			out[i] = t.text(index("sandbox."+l.key, i), p)
		}
		o = append(o, rewrite.Member{Key: l.key, Value: out})
	}
	if r.Network {
		o = append(o, rewrite.Member{Key: confine.Network, Value: true})
	}
	return o
}
