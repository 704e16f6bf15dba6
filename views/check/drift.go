package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// drift lists what the current server offers otherwise than its contract says, or than before it changed its lists, the worst first. Its
// banner stands in the status line of all screens until somebody looked.
type drift struct {
	pane.Rows
	lock    *contract.Project // nil for none
	detail  pane.TextPane
	servers map[string]*drifted
	at      int // whose detail is shown
}

// drifted is what is known of one server.
type drifted struct {
	stamp   string // of what was compared last
	said    string // instructions when somebody last looked
	able    string // capabilities then
	greeted bool   // these two are set
	locked  bool   // changes are since the lock
	changes []contract.Change
	print   string // tells them from others
	seen    string // print of those that somebody looked at
}

// compared is the outcome of a comparison.
type comparedOffer struct {
	server  string
	stamp   string
	locked  bool
	changes []contract.Change
}

// NewDrift is the screen of what a server changed since it was looked at, or since the lock of the project.
func NewDrift(lock *contract.Project) *tui.Screen { return newDrift(lock).screen() }

func newDrift(lock *contract.Project) *drift {
	return &drift{Rows: pane.Rows{View: "drift"}, lock: lock, servers: map[string]*drifted{}}
}

func (v *drift) screen() *tui.Screen {
	return &tui.Screen{
		ID: "drift", Title: "Drift", Hidden: true, Split: 50, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "What changed"}, {ID: "detail", Title: "Change"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		CopyText: v.copyText, Hints: v.hints, Banner: v.banner,
	}
}

func (v *drift) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "drift.go", Keys: []string{"enter"}, Title: "go to it", Group: "Drift", Hint: 1,
			Help: "Go to what changed, in its list.", Disabled: v.none, Run: v.open,
		},
		{
			ID: "drift.seen", Keys: []string{"a"}, Title: "all seen", Group: "Drift", Hint: 2,
			Help: "Say that you saw all changes: the next ones are compared with what there is now. A lock stays as it is.",
			Disabled: func(c *tui.Ctx) string {
				if d := v.of(c); d == nil || len(d.changes) == 0 {
					return "nothing changed"
				} else if d.locked {
					return "the changes are since the lock of the project; " + c.KeyOf("drift.accept") + " accepts them"
				}
				return ""
			},
			Run: v.forget,
		},
		acceptAction("drift", "Drift", 3, v.lock),
	}
}

// driftKey says in parentheses how to come to the changes: by a key of this screen, or of the tools.
func driftKey(c *tui.Ctx) string {
	if key := c.KeyOf(c.View + ".drift"); key != "" {
		return "(" + key + ")"
	}
	return "(D in Tools)"
}

// of is what is known of the current server, nil for nothing.
func (v *drift) of(c *tui.Ctx) *drifted {
	if c.Server == nil {
		return nil
	}
	return v.servers[c.Server.Name()]
}

func (v *drift) selected(c *tui.Ctx) (contract.Change, bool) {
	if d, i := v.of(c), v.List.Selected(); d != nil && i >= 0 && i < len(d.changes) {
		return d.changes[i], true
	}
	return contract.Change{}, false
}

func (v *drift) none(c *tui.Ctx) string {
	if _, ok := v.selected(c); !ok {
		return "nothing is selected"
	}
	return ""
}

// open goes to what changed.
func (v *drift) open(c *tui.Ctx) tea.Cmd {
	ch, ok := v.selected(c)
	if !ok {
		return nil
	}
	switch ch.Place.Kind {
	case check.OfTool:
		return c.Navigate("tools", ch.Place.Name)
	case check.OfPrompt:
		return c.Navigate("prompts", ch.Place.Name)
	case check.OfResource:
		return c.Navigate("resources", ch.Place.Name)
	case check.OfTemplate:
		return c.Navigate("templates", ch.Place.Name)
	}
	return c.Navigate("instructions", nil)
}

// forget makes what there is now what changes are counted from.
func (v *drift) forget(c *tui.Ctx) tea.Cmd {
	d := v.of(c)
	if d == nil {
		return nil
	}
	st := c.Server.Status()
	d.said, d.able = st.Instructions, string(st.Capabilities)
	for k := range offer.NumKinds {
		c.Server.Seen(k, "")
	}
	return v.sync(c)
}

// lists are the kinds that are compared.
func (v *drift) lists() []offer.Kind {
	return []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates}
}

// sync compares again where something changed, beside the event loop.
func (v *drift) sync(c *tui.Ctx) tea.Cmd {
	s := c.Server
	if s == nil {
		return nil
	}
	st := s.Status()
	d := v.servers[s.Name()]
	if d == nil {
		d = &drifted{}
		v.servers[s.Name()] = d
	}
	if st.State != session.Connected {
		return nil
	}
	if !d.greeted {
		d.greeted, d.said, d.able = true, st.Instructions, string(st.Capabilities)
	}
	var locked bool
	var rev uint64
	if v.lock != nil {
		_, locked, rev = v.lock.State()
	}
	same := !locked && st.Instructions == d.said && string(st.Capabilities) == d.able
	stamp := fmt.Sprintf("%d %q %q %q %q", rev, st.Instructions, st.Capabilities, d.said, d.able)
	now := map[offer.Kind]offer.Listing{}
	for _, k := range v.lists() {
		l := s.Listing(k)
		now[k] = l
		same = same && len(l.Marks) == 0
		stamp += fmt.Sprintf(" %d %d %v", l.Rev, len(l.Marks), l.Loaded)
	}
	if stamp == d.stamp {
		return nil
	}
	d.stamp = stamp
	if same {
		if len(d.changes) == 0 {
			return nil
		}
		d.changes, d.print, d.locked = nil, "", false
		return v.show(c)
	}
	name, own := s.Name(), jsonrpc.GetString(st.ServerInfo, "name")
	said, able, lock, kinds := d.said, d.able, v.lock, v.lists()
	supports := map[offer.Kind]bool{}
	for _, k := range v.lists() {
		supports[k] = s.Supports(k.Method())
	}
	// Each server has a slot of its own: a comparison goes on where another server becomes the current one.
	cmd, _ := c.Replace(v.View, compareSlot+name, "compare with before", func(context.Context) (any, error) {
		out := comparedOffer{server: name, stamp: stamp}
		if locked {
			l, err := lock.Read()
			if err != nil {
				return out, err
			}
			if l == nil { // it just went
				l = &contract.Lock{}
			}
			if _, was := l.Find(name, own); was != nil {
				out.locked, out.changes = true, contract.Compare(was, offeredNow(name, st, now, supports))
				return out, nil
			}
		}
		before := &contract.Contract{Instructions: said, Capabilities: contract.Canonical([]byte(able))}
		after := &contract.Contract{Instructions: st.Instructions, Capabilities: contract.Canonical(st.Capabilities)}
		out.changes = contract.Compare(before, after)
		for _, k := range kinds {
			out.changes = append(out.changes, marked(k, now[k])...)
		}
		contract.Sort(out.changes)
		return out, nil
	})
	return cmd
}

// compareSlot begins the slots of comparisons; the name of the server follows.
const compareSlot = "compare\x00"

// offeredNow is what a server offers, as far as it is known: a list that was not loaded yet is not compared.
func offeredNow(name string, st session.Status, now map[offer.Kind]offer.Listing, supports map[offer.Kind]bool) *contract.Contract {
	o := check.Offer{Server: name, Info: st.ServerInfo, Capabilities: st.Capabilities, Instructions: st.Instructions, Failed: map[offer.Kind]error{}}
	for k, l := range now {
		switch {
		case supports[k] && !l.Loaded:
			o.Failed[k] = errNotLoaded
		case k == offer.Tools:
			o.Tools = l.Items
		case k == offer.Prompts:
			o.Prompts = l.Items
		case k == offer.Resources:
			o.Resources = l.Items
		default:
			o.Templates = l.Items
		}
	}
	return contract.Of(&o)
}

var errNotLoaded = errors.New("the list is not loaded")

// marked is what the marks of a list mean.
func marked(k offer.Kind, l offer.Listing) []contract.Change {
	before, after := map[string][]byte{}, map[string][]byte{}
	for key, m := range l.Marks {
		if !m.Added {
			before[key] = []byte(m.Was)
		}
	}
	for _, it := range l.Items {
		key := k.Key(it)
		if m, ok := l.Marks[key]; ok && !m.Removed {
			if _, twice := after[key]; !twice { // clients take the first
				after[key] = it.Raw
			}
		}
	}
	return contract.CompareList(k, before, after)
}

// fingerprint tells whether changes are others than those that were seen.
func fingerprint(changes []contract.Change) string {
	var b strings.Builder
	for _, ch := range changes {
		fmt.Fprintf(&b, "%s %s %s\n", ch.Rule, ch.Place, ch.Message)
	}
	return b.String()
}

// done takes the outcome of a comparison.
func (v *drift) done(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	out, ok := m.Value.(comparedOffer)
	switch {
	case errors.Is(m.Err, context.Canceled) && ok:
		if d := v.servers[out.server]; d != nil && d.stamp == out.stamp {
			d.stamp = "" // it is compared when something changes next
		}
		return nil
	case m.Err != nil && ok:
		return c.Toast(tui.Warning, "cannot compare with the lock: "+m.Err.Error())
	case !ok || v.servers[out.server] == nil:
		return nil
	}
	d := v.servers[out.server]
	if out.stamp != d.stamp {
		return nil // the next comparison is on its way
	}
	was := d.print
	d.changes, d.locked, d.print = out.changes, out.locked, fingerprint(out.changes)
	if c.Server == nil || c.Server.Name() != out.server {
		return nil
	}
	cmd := v.show(c)
	if d.print != was && d.print != d.seen && c.View != v.View {
		if class := contract.Worst(d.changes); class != "" && class != contract.Compatible {
			cmd = tea.Batch(cmd, c.Toast(tui.Warning, d.since()+" "+driftKey(c)+": "+summary(d.changes)))
		}
	}
	return cmd
}

// since says what the changes are counted from.
func (d *drifted) since() string {
	if d.locked {
		return "changed since " + contract.FileName
	}
	return "changed since you looked"
}

// summary counts changes by class, the worst first.
func summary(changes []contract.Change) string {
	count := map[contract.Class]int{}
	for _, ch := range changes {
		count[ch.Class]++
	}
	var out []string
	for _, class := range contract.Classes() {
		if n := count[class]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, class))
		}
	}
	return strings.Join(out, ", ")
}

// banner is what stands in the status line while nobody looked at the changes of the current server, "" for nothing.
func (v *drift) banner(c *tui.Ctx) string {
	d := v.of(c)
	if d == nil || len(d.changes) == 0 || d.seen == d.print {
		return ""
	}
	class := contract.Worst(d.changes)
	if class == contract.Compatible {
		return ""
	}
	n := 0
	for _, ch := range d.changes {
		if ch.Class == class {
			n++
		}
	}
	return fmt.Sprintf("%d %s %s", n, class, driftKey(c))
}

// show lists the changes of the current server.
func (v *drift) show(c *tui.Ctx) tea.Cmd {
	d := v.of(c)
	var changes []contract.Change
	if d != nil {
		changes = d.changes
	}
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(changes), func(i int) (name, about string) { return changes[i].Place.Name, changes[i].Message }
	}
	if d != nil && c.View == v.View {
		d.seen = d.print
	}
	return v.SetRows(c, driftRows{changes, c})
}

func (v *drift) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		return v.sync(c), true
	case tui.ServerChanged, tui.Navigate, tui.ThemeChanged:
		return tea.Batch(v.sync(c), v.show(c)), true
	case tui.OpDone:
		if strings.HasPrefix(m.Slot, compareSlot) {
			return v.done(c, m), true
		}
		if cmd, ok := acceptDone(c, m); ok {
			return tea.Batch(cmd, v.sync(c)), true
		}
		return v.Filtered(c, m)
	}
	return pane.ListAndText(c, &v.Rows, &v.detail, msg, func() tea.Cmd { return v.open(c) })
}

// hints say how to leave the screen, which has no number.
func (v *drift) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

func (v *drift) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	ch, ok := v.selected(c)
	return tui.CopyString(ch.Place.String()+": "+ch.Message, ok && k == tui.CopyValue)
}

func (v *drift) plain(c *tui.Ctx, w io.Writer) {
	d := v.of(c)
	if d == nil || len(d.changes) == 0 {
		fmt.Fprintln(w, "nothing changed")
		return
	}
	fmt.Fprintln(w, d.since()+": "+summary(d.changes))
	for _, ch := range d.changes {
		fmt.Fprintf(w, "%s: %s: %s\n", ch.Class, safe.Line(ch.Place.String(), 200), safe.Line(ch.Message, 300))
	}
}
