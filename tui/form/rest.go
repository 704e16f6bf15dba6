package form

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/safe"
)

// Front says which members of the value stand in front. The others are behind one row, which is closed at first; it opens where one of
// them has a value that is not its default, or is wrong.
func (f *Form) Front(names ...string) {
	f.front, f.stale = names, true
}

// behind reports whether a member of the root is behind the row of further fields.
func (f *Form) behind(name string) bool { return f.front != nil && !slices.Contains(f.front, name) }

// rest adds the row of further fields, and those where it is open.
func (b *rows) rest(all []schema.Child, v *schema.Value) {
	if len(all) == 0 {
		return
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	r := row{kind: rowRest, parent: -1, item: -1, lost: len(all), name: strings.Join(names, ", ")}
	r.open = b.f.restOpen(&r, all, v)
	b.add(r)
	for _, c := range all {
		if r.open {
			b.place(-1, 1, 0, "/"+jsonrpc.EscapeToken(c.Name), c, c.Field(), v.Get(c.Name), -1)
		}
	}
}

// restOpen tells whether the further fields show: where one of them is wrong, else as the user left it, else where one has a value.
func (f *Form) restOpen(r *row, all []schema.Child, v *schema.Value) bool {
	if f.wrongBehind() {
		return true
	}
	if open, set := f.folds[r.key()]; set {
		return open
	}
	return slices.ContainsFunc(all, func(c schema.Child) bool {
		kid := v.Get(c.Name)
		return kid.IsSet() && !schema.Equal(kid, c.Field().Active(kid).Default)
	})
}

// wrongBehind reports whether a problem is behind the row of further fields.
func (f *Form) wrongBehind() bool {
	return f.front != nil && slices.ContainsFunc(f.problems, func(p schema.Problem) bool {
		path, ok := schema.SplitPointer(p.Pointer)
		return ok && len(path) > 0 && f.behind(path[0]) && !f.toFill(p)
	})
}

// restRow is the row of further fields, -1 where there is none.
func (f *Form) restRow() int {
	return slices.IndexFunc(f.rows, func(r row) bool { return r.kind == rowRest })
}

// openRest shows the further fields where what is looked for is one of them.
func (f *Form) openRest(name string) {
	if i := f.restRow(); i >= 0 && !f.rows[i].open && f.behind(name) {
		f.fold(i, true)
	}
}

// Unfold shows the further fields, or folds them again.
func (f *Form) Unfold() {
	f.ready()
	if i := f.restRow(); i >= 0 {
		f.fold(i, !f.rows[i].open)
	}
}

// restLabel names the row of further fields.
func (r *row) restLabel() string {
	if r.lost == 1 {
		return "1 more field"
	}
	return strconv.Itoa(r.lost) + " more fields"
}

// restNames are what is behind it, where it is closed.
func (r *row) restNames() string {
	if r.open {
		return ""
	}
	return "  " + safe.Line(r.name, 400)
}
