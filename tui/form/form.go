// Package form draws the field tree of a JSON Schema and edits a value in it.
//
// A form and its raw JSON mode are two editors of one value ([schema.Value]): switching between them loses nothing,
// unknown keys, number literals and the order of keys included. Unset, empty and null are three states of every field.
//
// [Form] is a plain struct: keys, pastes and clicks go in through methods, rows come out of Lines. Only visible rows
// are drawn. Slow work (compiling and checking large schemas) is handed out as a command by [Form.Cmd] and comes back
// through [Form.Handle].
package form

import (
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/paint"
)

// Form edits one value of one schema.
type Form struct {
	// Complete, if set, is asked for completions whenever the text of a field changes. Its command asks the server
	// (after a pause of its choice) and hands the answer to [Form.Suggest].
	Complete func(pointer, text string) tea.Cmd

	sch    *schema.Schema
	theme  *paint.Theme
	w, h   int
	focus  bool
	value  *schema.Value
	clean  *schema.Value // what Dirty compares with
	recall *schema.Value // of an earlier run; what is still the same in value is marked
	edits  int           // of the text of the raw editor
	undos  []undo
	undoAt string // field that the last change was in, so that typing undoes as one

	rows    []row
	nameW   int  // cells that the names of rows want
	stale   bool // rows have to be built again
	cur     int
	top     int // first visible line
	manual  bool
	folds   map[string]bool
	front   []string // members before the row of further fields; nil where there is none
	picks   map[string]int
	stash   map[string]*schema.Value // of variants that were left
	heights []int                    // line at which each row begins, and the total

	input    *textInput // of the focused row
	deferred bool       // the input holds JSON that becomes a container on leaving
	pop      *popup
	refused  refusal
	accepted string // the last suggestion that was taken: the next ones wait to be chosen
	rename   *rename
	raw      *rawMode
	rawOld   *rawMode

	chosen    map[string][]int // of unions, by pointer: the variant that is meant
	problems  []schema.Problem
	quiet     int             // how many of them are only still to fill in
	touched   map[string]bool // fields that were left or changed
	shout     bool            // the rest was asked for too
	unchecked string
	gen       int
	checked   int // generation the problems belong to; -1 never
	running   bool
	took      time.Duration
	cmds      []tea.Cmd

	builds int // how often rows were built
	calm   calm
	types  calm // the width of the column of types
	lines  []string
	cx, cy int
	cursor bool
	fresh  bool
}

// refusal is what was wrong with the last question for completions.
type refusal struct{ ptr, why string }

// undo is one state to go back to.
type undo struct {
	value *schema.Value
	focus string
}

// New returns a form whose value is what the schema requires and determines ([schema.Field.Initial]).
func New(sch *schema.Schema, theme *paint.Theme) *Form {
	f := &Form{
		sch: sch, theme: theme, focus: true, checked: -1, stale: true,
		folds: map[string]bool{}, touched: map[string]bool{}, picks: map[string]int{}, stash: map[string]*schema.Value{},
	}
	f.value = sch.Root().Initial()
	f.clean = f.value
	if sch.Err() != nil {
		f.openRaw()
	}
	return f
}

// Schema returns the schema of the form.
func (f *Form) Schema() *schema.Schema { return f.sch }

// SetTheme sets the styles to draw with.
func (f *Form) SetTheme(t *paint.Theme) {
	if f.theme != t {
		f.theme, f.fresh = t, false
	}
}

// SetSize sets width and height in cells.
func (f *Form) SetSize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if f.w != w || f.h != h {
		f.w, f.h, f.fresh = w, h, false
	}
}

// SetFocus says whether the form has the keyboard.
func (f *Form) SetFocus(on bool) {
	if f.focus != on {
		f.focus, f.fresh = on, false
	}
}

// Value returns the value as it stands, unset (nil) if there is none. Text in
// a raw editor that is not JSON is not in it; see Err.
func (f *Form) Value() *schema.Value {
	f.settleInput()
	return f.value
}

// JSON returns the value as JSON, nil if it is unset. Numbers, strings and
// the order of keys are as they were typed or set.
func (f *Form) JSON() json.RawMessage { return f.Value().JSON() }

// Err says why the raw JSON cannot be used, nil outside the raw editor. It is a *[schema.SyntaxError].
func (f *Form) Err() error {
	f.settleInput()
	if f.raw == nil || f.raw.err == nil {
		return nil
	}
	return f.raw.err
}

// SetJSON replaces the value. Text that is not JSON is kept in the raw editor,
// which opens, and the error (a *[schema.SyntaxError]) says where it is wrong.
func (f *Form) SetJSON(raw []byte) error {
	v, err := schema.ParseValue(raw)
	if err != nil {
		f.openRawText(string(raw))
		return err
	}
	f.remember("")
	f.assign(v)
	if f.raw != nil {
		f.openRaw()
	}
	return nil
}

// Reset puts the value back to what the schema determines. Undo brings the old one back.
func (f *Form) Reset() {
	f.remember("")
	f.recall = nil
	f.assign(f.sch.Root().Initial())
}

// Prefill fills in what an earlier run left: it is marked, and the first key typed into a field replaces what is there. Text
// that is not JSON opens the raw editor.
func (f *Form) Prefill(value []byte, text string) error {
	if text != "" {
		f.openRawText(text)
		return nil
	}
	v, err := schema.ParseValue(value)
	if err != nil {
		return err
	}
	f.assign(v)
	f.recall, f.undos, f.undoAt = v, nil, ""
	if f.raw != nil {
		f.openRaw()
	}
	f.MarkClean()
	return nil
}

// Recalled reports whether something that [Form.Prefill] filled in is still there as it was.
func (f *Form) Recalled() bool { return f.recall != nil }

// recalled reports whether the value at a row is of an earlier run. Values are shared until they change.
func (f *Form) recalled(r *row) bool {
	if f.recall == nil || !r.val.IsSet() {
		return false
	}
	path, ok := schema.SplitPointer(r.ptr)
	return ok && f.recall.At(path...) == r.val
}

// Continue takes over what was typed into a form of another schema, for a tool that changed.
func (f *Form) Continue(old *Form) {
	if err := old.Err(); err != nil {
		f.openRawText(old.raw.text.String())
		return
	}
	if v := old.Value(); !schema.Same(v, old.sch.Root().Initial()) {
		f.assign(v)
		f.recall = old.recall
	}
}

// Revision changes with what is typed.
func (f *Form) Revision() int { return f.gen + f.edits }

// Text is what the raw editor holds where that is not JSON, "" otherwise.
func (f *Form) Text() string {
	if f.Err() == nil {
		return ""
	}
	return f.raw.text.String()
}

// Dirty reports whether the value differs from the last MarkClean.
func (f *Form) Dirty() bool {
	f.settleInput()
	return !schema.Same(f.value, f.clean) || f.Err() != nil
}

// MarkClean makes the value the one that Dirty compares with.
func (f *Form) MarkClean() { f.clean = f.Value() }

// Sent makes the value one of this run: nothing of it is marked any more.
func (f *Form) Sent() {
	f.MarkClean()
	f.recall = nil
	f.fresh = false
}

// Strings returns the members of an object as text: the arguments of
// prompts/get, the variables of a URI template. Unset ones are left out.
func (f *Form) Strings() map[string]string {
	out := map[string]string{}
	for _, m := range f.Value().Members() {
		text := m.Value.Text()
		if k := m.Value.Kind(); k == schema.Array || k == schema.Object {
			text = m.Value.String()
		}
		out[m.Name] = text
	}
	return out
}

// assign replaces the whole value.
func (f *Form) assign(v *schema.Value) {
	f.value = v
	f.input, f.pop, f.rename, f.deferred = nil, nil, nil, false
	clear(f.picks)
	clear(f.touched)
	f.shout = false
	f.touch("")
	f.stale = true
}

// touch notes that the value at ptr changed.
func (f *Form) touch(ptr string) {
	f.gen++
	f.fresh = false
	f.dropProblem(ptr)
	f.wantCheck()
}

// remember keeps the state before a change of the field at ptr.
func (f *Form) remember(ptr string) {
	if ptr != "" && ptr == f.undoAt {
		return
	}
	f.undoAt = ptr
	if len(f.undos) == 200 {
		f.undos = append(f.undos[:0:0], f.undos[1:]...)
	}
	key := ""
	if f.cur < len(f.rows) {
		key = f.rows[f.cur].key()
	}
	f.undos = append(f.undos, undo{f.value, key})
}

// Undo takes the last change back; false if there is none.
func (f *Form) Undo() bool {
	if len(f.undos) == 0 {
		return false
	}
	u := f.undos[len(f.undos)-1]
	f.undos = f.undos[:len(f.undos)-1]
	f.undoAt = ""
	f.assign(u.value)
	f.build()
	f.focusKey(u.focus)
	return true
}

// Cmd returns the work that came up since the last call, nil if none did.
// Call it after every method that changes the form, and once after New.
func (f *Form) Cmd() tea.Cmd {
	if f.checked < 0 && !f.running {
		f.wantCheck()
	}
	cmds := f.cmds
	f.cmds = nil
	return tea.Batch(cmds...)
}

// Typing reports whether letters go into a text now, that which narrows a list of values included, rather than being commands.
func (f *Form) Typing() bool {
	if f.raw != nil || f.pop != nil || f.rename != nil {
		return true
	}
	r := f.row()
	return r != nil && (r.textual() || r.selectable())
}
