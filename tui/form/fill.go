package form

import "github.com/mcphud/mcphud/session/offer/schema"

// Fill adds what is missing: all that is required, and the next time everything else, as the schema's examples have it. What
// was typed stays; undo takes it back. It reports whether there was anything to add.
func (f *Form) Fill() bool {
	f.settleInput()
	root := f.sch.Root()
	v := schema.Under(f.value, root.Skeleton())
	if schema.Same(v, f.value) {
		v = schema.Under(f.value, root.Example())
	}
	if schema.Same(v, f.value) && f.Err() == nil {
		return false
	}
	f.fresh = false
	if f.raw != nil {
		t := f.raw.text
		t.in.Replace(0, len(t.String()), string(v.Indent()))
		t.in.SetCaret(0)
		f.rawChanged()
		return true
	}
	f.remember("")
	f.assign(v)
	return true
}

// blank is whether nobody filled anything in yet.
func (f *Form) blank() bool {
	return f.Err() == nil && schema.Same(f.value, f.sch.Root().Initial())
}
