package offer

import "github.com/mcphud/mcphud/session/base/jsonrpc"

// Destructive reports whether a tool's annotations have destructiveHint true. The protocol's default (true) does not count, since
// nearly every server leaves the hint out.
func (it Item) Destructive() bool { return it.hint("destructiveHint") }

// ReadOnly reports whether a tool's annotations have readOnlyHint true, and do not call it destructive all the same. The protocol's
// default (false) counts: a tool that says nothing may change something.
func (it Item) ReadOnly() bool { return it.hint("readOnlyHint") && !it.Destructive() }

// Idempotent reports whether a tool's annotations have idempotentHint true.
func (it Item) Idempotent() bool { return it.hint("idempotentHint") }

// hint reports whether any member of that name is true.
func (it Item) hint(name string) (on bool) {
	_ = jsonrpc.Members(it.Annotations, func(key string, value []byte) bool {
		on = key == name && string(value) == "true"
		return !on
	})
	return on
}
