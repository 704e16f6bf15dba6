package form

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// inline is how long a check may have taken last time to be made on the event loop, between a key and its frame.
const inline = 500 * time.Microsecond

// Checked carries the result of a check made by a command of [Form.Cmd]. Hand
// it to [Form.Handle] of every form it may be for.
type Checked struct {
	form     *Form
	gen      int
	value    *schema.Value
	problems []schema.Problem
	took     time.Duration
}

// wantCheck sees to it that the value is checked: at once if that is quick,
// else by a command, of which one runs at a time.
func (f *Form) wantCheck() {
	if f.checked == f.gen {
		return
	}
	if f.checked >= 0 && f.took < inline && !f.running {
		f.apply(f.examine())
		return
	}
	if f.running {
		return // when it comes back it finds that the value moved on
	}
	f.running = true
	c := Checked{form: f, gen: f.gen, value: f.value}
	sch, chosen := f.sch, f.chosen
	f.cmds = append(f.cmds, func() tea.Msg {
		sch.Unchecked() // compiles, which is not a measure of a check
		start := time.Now()
		c.problems = sch.ValidateChosen(c.value, chosen)
		c.took = time.Since(start)
		return c
	})
}

func (f *Form) examine() Checked {
	start := time.Now()
	ps := f.sch.ValidateChosen(f.value, f.chosen)
	return Checked{form: f, gen: f.gen, problems: ps, took: time.Since(start)}
}

// Handle takes the messages of the form's own commands and reports whether msg was one.
func (f *Form) Handle(msg tea.Msg) bool {
	c, ok := msg.(Checked)
	if !ok || c.form != f {
		return false
	}
	f.running = false
	f.apply(c)
	if c.gen != f.gen {
		f.wantCheck()
	}
	return true
}

// apply shows the problems a check found. Those of an older value are shown
// too, until the next result: it is on its way.
func (f *Form) apply(c Checked) {
	f.took, f.checked = c.took, c.gen
	f.unchecked = strings.Join(f.sch.Unchecked(), "; ")
	if slices.Equal(f.problems, c.problems) {
		return
	}
	f.problems, f.fresh = c.problems, false
	f.placeProblems()
}

// Check validates the value now, however long it takes, and returns what is
// wrong: call it before sending. Malformed raw JSON is a problem at the root.
func (f *Form) Check() []schema.Problem {
	f.settleInput()
	if f.raw != nil {
		f.parseRaw()
	}
	if f.checked != f.gen {
		f.apply(f.examine())
	}
	f.shout, f.fresh = true, false
	f.placeProblems()
	return f.Problems()
}

// leave notes that the focus leaves a field: from now on what it lacks is a problem.
func (f *Form) leave() {
	if r := f.row(); r != nil && !f.touched[r.ptr] {
		f.touched[r.ptr] = true
		if f.quiet > 0 {
			f.placeProblems()
		}
	}
}

// toFill reports whether a problem is only that nobody came to a field yet.
func (f *Form) toFill(p schema.Problem) bool {
	if f.shout || f.touched[p.Pointer] {
		return false
	}
	path, ok := schema.SplitPointer(p.Pointer)
	if !ok {
		return false
	}
	if p.Keyword == "minProperties" && len(f.touched) == 0 {
		return true
	}
	v := f.value.At(path...)
	switch v.Kind() {
	case schema.Unset:
		return true
	case schema.Object, schema.Array:
		return v.Len() == 0
	}
	return v.Kind() == schema.String && v.Text() == ""
}

// ToFill is how many problems there are only because nobody came to their fields yet.
func (f *Form) ToFill() int {
	f.ready()
	return f.quiet
}

// Problems returns what the last check found, in the order of pointers.
func (f *Form) Problems() []schema.Problem {
	if err := f.Err(); err != nil {
		return []schema.Problem{{Message: "is not valid JSON: " + err.Error()}}
	}
	return f.problems
}

// Unchecked says in a sentence or more what a check leaves out, "" if nothing.
func (f *Form) Unchecked() string { return f.unchecked }

// NextProblem moves the focus to the next field with a problem; false if there is none.
func (f *Form) NextProblem() bool {
	if f.raw != nil || len(f.problems) == 0 {
		return false
	}
	f.ready()
	for i := 1; i <= len(f.rows); i++ {
		j := (f.cur + i) % len(f.rows)
		if f.rows[j].problems > 0 || f.rows[j].quiet {
			f.settleInput()
			f.leave()
			f.setCur(min(j, len(f.rows)-1))
			return true
		}
	}
	return false
}

// dropProblem forgets what was wrong with a value that changed, until the next check.
func (f *Form) dropProblem(ptr string) {
	if len(f.problems) == 0 || f.took < inline && !f.running {
		return // the check is made at once
	}
	kept := slices.DeleteFunc(slices.Clone(f.problems), func(p schema.Problem) bool { return p.Pointer == ptr })
	if len(kept) != len(f.problems) {
		f.problems = kept
		f.placeProblems()
	}
}

// placeProblems gives each problem to the row of its pointer, or to the nearest visible row around it.
func (f *Form) placeProblems() {
	for i := range f.rows {
		f.rows[i].problems, f.rows[i].quiet = 0, false
	}
	f.quiet = 0
	if len(f.problems) == 0 || f.stale {
		return
	}
	if i := f.restRow(); i >= 0 && !f.rows[i].open && f.wrongBehind() {
		f.build() // comes back with the row open
		return
	}
	at := make(map[string]int, len(f.rows))
	for i := range f.rows {
		r := &f.rows[i]
		if r.bare() {
			continue
		}
		// A variant's row gives way to the field below it, which is edited.
		if _, dup := at[r.ptr]; !dup || r.kind == rowField {
			at[r.ptr] = i
		}
	}
	for i, p := range f.problems {
		ptr := p.Pointer
		quiet := f.toFill(p)
		if quiet {
			f.quiet++
		}
		for {
			if row, ok := at[ptr]; ok {
				r := &f.rows[row]
				if quiet {
					r.quiet = true
					break
				}
				if r.problems == 0 {
					r.first = i
				}
				r.problems++
				break
			}
			cut := strings.LastIndexByte(ptr, '/')
			if cut < 0 {
				break
			}
			ptr = ptr[:cut]
		}
	}
}
