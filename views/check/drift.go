package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

// drift lists what the current server offers otherwise than its contract says, or than before it changed its lists, the worst first. Its
// banner stands in the status line of all screens until somebody looked.
type drift struct {
	pane.ListPage
	lock    *contract.Project // nil for none
	servers map[string]*drifted
}

// drifted is the comparison of one server.
type drifted struct {
	stamp           string    // of the state that was compared last, or is being compared
	since           *baseline // what changes are counted from without a lock; nil until the server is connected
	locked          bool      // changes are since the lock
	changes         []contract.Change
	fingerprint     string // of changes
	seenFingerprint string // of the changes that somebody looked at last
}

// baseline is what a server said of itself when somebody last looked. What its lists had then is in their marks.
type baseline struct{ instructions, capabilities string }

func baselineOf(st session.Status) *baseline {
	return &baseline{st.Instructions, string(st.Capabilities)}
}

// comparedOffer is the outcome of a comparison.
type comparedOffer struct {
	server  string
	stamp   string
	locked  bool
	changes []contract.Change
}

// NewDrift is the screen of what a server changed since it was looked at, or since the lock of the project.
func NewDrift(lock *contract.Project) *tui.Screen { return newDrift(lock).screen() }

func newDrift(lock *contract.Project) *drift {
	v := &drift{lock: lock, servers: map[string]*drifted{}}
	v.View, v.Page, v.About = "drift", v.page, v.change
	return v
}

func (v *drift) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "drift", Title: "Drift", Tab: "check", Peer: true, Split: 50, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Drift"}, {ID: "detail", Title: "Change"}},
		Actions: v.actions, Handle: v.handle, CopyText: v.copyText, Banner: v.banner,
	})
}

func (v *drift) actions() []tui.Action {
	accept := acceptAction("drift", "Drift", 3, v.lock)
	accept.Verb = tui.VerbSave
	return []tui.Action{
		{
			ID: "drift.go", Verb: tui.VerbOpen, Title: "go to it", Group: "Drift", Hint: 1,
			Help: "Go to what changed, in its list.", Disabled: v.noSelection, Run: v.open,
		},
		{
			ID: "drift.seen", Word: "seen", Title: "all seen", Group: "Drift", Hint: 2,
			Help: "Say that you saw all changes: the next ones are compared with what there is now. A lock stays as it is.",
			Disabled: func(c *tui.Ctx) string {
				if d := v.current(c); d == nil || len(d.changes) == 0 {
					return "nothing changed"
				} else if d.locked {
					return "the changes are since the lock of the project; " + c.KeyOf("drift.accept") + " accepts them"
				}
				return ""
			},
			Run: v.resetBaseline,
		},
		accept,
	}
}

// driftKey says in parentheses how to come to the changes: by a key of this screen, or of the tools.
func driftKey(c *tui.Ctx) string {
	if key := c.KeyOf(c.View + ".drift"); key != "" {
		return "(" + key + ")"
	}
	return "(d in Tools)"
}

// current is the comparison of the current server, nil before there is one.
func (v *drift) current(c *tui.Ctx) *drifted {
	if c.Server == nil {
		return nil
	}
	return v.servers[c.Server.Name()]
}

func (v *drift) selected(c *tui.Ctx) (contract.Change, bool) {
	if d, i := v.current(c), v.List.Selected(); d != nil && i >= 0 && i < len(d.changes) {
		return d.changes[i], true
	}
	return contract.Change{}, false
}

func (v *drift) noSelection(c *tui.Ctx) string {
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

// resetBaseline makes what the server offers now what changes are counted from.
func (v *drift) resetBaseline(c *tui.Ctx) tea.Cmd {
	d := v.current(c)
	if d == nil {
		return nil
	}
	st := c.Server.Status()
	d.since = baselineOf(st)
	for k := range offer.NumKinds {
		c.Server.Seen(k, "")
	}
	return v.sync(c)
}

// comparedKinds are the lists that are compared.
var comparedKinds = []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates}

// sync compares again where something changed, beside the event loop.
func (v *drift) sync(c *tui.Ctx) tea.Cmd {
	s := c.Server
	if s == nil {
		return nil
	}
	d := v.servers[s.Name()]
	if d == nil {
		d = &drifted{}
		v.servers[s.Name()] = d
	}
	if s.Status().State != session.Connected {
		return nil
	}
	now := v.offered(s)
	if d.since == nil {
		d.since = baselineOf(now.status)
	}
	stamp := now.stamp(d.since)
	if stamp == d.stamp {
		return nil
	}
	d.stamp = stamp
	if now.unchanged(d.since) {
		if len(d.changes) == 0 {
			return nil
		}
		d.changes, d.fingerprint, d.locked = nil, "", false
		return v.show(c)
	}
	for _, k := range comparedKinds {
		now.supports[k] = s.Supports(k.Method())
	}
	since, lock := d.since, v.lock
	// Each server has a slot of its own: a comparison goes on where another server becomes the current one.
	cmd, _ := c.Replace(v.View, compareSlot+s.Name(), "compare with before", func(context.Context) (any, error) {
		out := comparedOffer{server: now.server, stamp: stamp}
		var err error
		out.changes, out.locked, err = now.compare(since, lock)
		return out, err
	})
	return cmd
}

// offered is what a server offers at one moment, and whether there is a lock then.
type offered struct {
	server   string // our name for it
	status   session.Status
	lists    map[offer.Kind]offer.Listing
	supports map[offer.Kind]bool // set before it is compared
	locked   bool
	lockRev  uint64
}

func (v *drift) offered(s *session.Session) *offered {
	o := &offered{server: s.Name(), status: s.Status(), lists: map[offer.Kind]offer.Listing{}, supports: map[offer.Kind]bool{}}
	if v.lock != nil {
		_, o.locked, o.lockRev = v.lock.State()
	}
	for _, k := range comparedKinds {
		o.lists[k] = s.Listing(k)
	}
	return o
}

// unchanged reports whether there is nothing to compare: no lock, and nothing that changed since.
func (o *offered) unchanged(since *baseline) bool {
	return !o.locked && *baselineOf(o.status) == *since && !slices.ContainsFunc(comparedKinds, func(k offer.Kind) bool { return len(o.lists[k].Marks) > 0 })
}

// stamp tells this state from others that have to be compared.
func (o *offered) stamp(since *baseline) string {
	stamp := fmt.Sprintf("%d %q %q %q %q", o.lockRev, o.status.Instructions, o.status.Capabilities, since.instructions, since.capabilities)
	for _, k := range comparedKinds {
		l := o.lists[k]
		stamp += fmt.Sprintf(" %d %d %v", l.Rev, len(l.Marks), l.Loaded)
	}
	return stamp
}

// compare compares with the lock if it has the server, and else with what was there before.
func (o *offered) compare(since *baseline, lock *contract.Project) (changes []contract.Change, locked bool, err error) {
	if o.locked {
		l, err := lock.Read()
		if err != nil {
			return nil, false, err
		}
		if l == nil { // it just went
			l = &contract.Lock{}
		}
		if _, was := l.Find(o.server, jsonrpc.GetString(o.status.ServerInfo, "name")); was != nil {
			return contract.Compare(was, o.contract()), true, nil
		}
	}
	before := &contract.Contract{Instructions: since.instructions, Capabilities: contract.Canonical([]byte(since.capabilities))}
	after := &contract.Contract{Instructions: o.status.Instructions, Capabilities: contract.Canonical(o.status.Capabilities)}
	changes = contract.Compare(before, after)
	for _, k := range comparedKinds {
		changes = append(changes, markedChanges(k, o.lists[k])...)
	}
	contract.Sort(changes)
	return changes, false, nil
}

// compareSlot begins the slots of comparisons; the name of the server follows.
const compareSlot = "compare\x00"

// contract is what the server offers, as far as it is known: a list that was not loaded yet is not compared.
func (o *offered) contract() *contract.Contract {
	out := check.Offer{
		Server: o.server, Info: o.status.ServerInfo, Capabilities: o.status.Capabilities, Instructions: o.status.Instructions, Failed: map[offer.Kind]error{},
	}
	for k, l := range o.lists {
		switch {
		case o.supports[k] && !l.Loaded:
			out.Failed[k] = errNotLoaded
		case k == offer.Tools:
			out.Tools = l.Items
		case k == offer.Prompts:
			out.Prompts = l.Items
		case k == offer.Resources:
			out.Resources = l.Items
		default:
			out.Templates = l.Items
		}
	}
	return contract.Of(&out)
}

var errNotLoaded = errors.New("the list is not loaded")

// markedChanges are the changes that the marks of a list stand for.
func markedChanges(k offer.Kind, l offer.Listing) []contract.Change {
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
	was := d.fingerprint
	d.changes, d.locked, d.fingerprint = out.changes, out.locked, fingerprint(out.changes)
	if c.Server == nil || c.Server.Name() != out.server {
		return nil
	}
	cmd := v.show(c)
	if d.fingerprint != was && d.fingerprint != d.seenFingerprint && c.View != v.View {
		if class := contract.Worst(d.changes); class != "" && class != contract.Compatible {
			cmd = tea.Batch(cmd, c.Toast(tui.Warning, d.heading()+" "+driftKey(c)+": "+summary(d.changes)))
		}
	}
	return cmd
}

// heading says what the changes are counted from.
func (d *drifted) heading() string {
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
	d := v.current(c)
	if d == nil || len(d.changes) == 0 || d.seenFingerprint == d.fingerprint {
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
	d := v.current(c)
	if d != nil && c.View == v.View {
		d.seenFingerprint = d.fingerprint
	}
	return v.Changed(c)
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
	return v.Handle(c, msg, func() tea.Cmd { return v.open(c) })
}

func (v *drift) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	ch, ok := v.selected(c)
	return tui.CopyString(ch.Place.String()+": "+ch.Message, ok && k == tui.CopyValue)
}
