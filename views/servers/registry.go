package servers

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// Published is where servers are found that others have published.
type Published struct {
	// Open gives the registry and the list of it that is kept on disk.
	Open func() (*registry.Client, *registry.Cache, error)
	// Host is where bundles are kept on this machine.
	Host func() (described.Host, error)
	// Look reports whether a command is on this machine.
	Look func(command string) bool
	// Recall is what the keychain has of the secrets of a scope, by input; Keep puts some there.
	Recall func(ctx context.Context, scope string) (map[string]string, error)
	Keep   func(ctx context.Context, scope string, in []setup.Input, values map[string]string) error
}

// registryScreen searches the list of a registry, which is kept on disk and brought up to date beside the screen.
type registryScreen struct {
	pane.Rows
	detail pane.TextPane
	bring  bringer
	from   *Published
	client *registry.Client
	cache  *registry.Cache
	list   registry.List
	name   string // of the registry

	loaded  bool
	syncing bool
	got     *atomic.Int64 // entries that came so far
	err     error         // of the last attempt to load or to sync
	bad     int           // entries that could not be read

	entry   registry.Entry // that the details are of
	entryOf string
	badOf   error
	nameCol int
}

// NewRegistry is the screen of published servers; nil for nowhere.
func NewRegistry(from *Published) *tui.Screen { return newRegistry(from).screen() }

func newRegistry(from *Published) *registryScreen {
	return &registryScreen{Rows: pane.Rows{View: "registry"}, bring: bringer{"registry", "From the registry", from}, from: from, got: &atomic.Int64{}}
}

func (v *registryScreen) screen() *tui.Screen {
	return &tui.Screen{
		ID: "registry", Title: "Registry", Aliases: []string{"reg"}, Hidden: true, NoRail: true, AllServers: true, Split: 42,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "Registry"}, {ID: "detail", Title: "Server"}},
		Actions:    v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, CopyText: v.copyText, Hints: v.hints, Breadcrumb: v.breadcrumb, Close: v.close,
	}
}

func (v *registryScreen) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "registry.open", Keys: []string{"enter"}, Title: "open or save", Group: "Server", Hint: 1,
			Help:     "Choose how to reach the server, fill in what it asks for, then open it or keep it in a file.",
			Disabled: v.none, Run: v.choose,
		},
		{
			ID: "registry.sync", Keys: []string{"r"}, Title: "refresh", Group: "Server", Hint: 2,
			Help: "Ask the registry what changed.",
			Disabled: func(*tui.Ctx) string {
				if v.syncing || v.client == nil && v.err == nil {
					return "the list is being fetched"
				}
				return ""
			},
			Run: v.sync,
		},
	}
}

func (v *registryScreen) none(*tui.Ctx) string {
	if v.selected() == nil {
		return "no server is selected"
	}
	return ""
}

func (v *registryScreen) selected() *registry.Summary {
	if i := v.List.Selected(); i >= 0 && i < len(v.list.Servers) {
		return &v.list.Servers[i]
	}
	return nil
}

// Outcomes of operations.
type (
	registryLoaded struct {
		client *registry.Client
		cache  *registry.Cache
		list   registry.List
	}
	registrySynced struct {
		list registry.List
		bad  int
	}
	registryEntry struct {
		name  string
		entry registry.Entry
	}
)

// fresh is how long the list is not asked for again by itself.
const fresh = 10 * time.Minute

func (v *registryScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		if v.loaded || v.client != nil {
			return tea.Batch(v.read(c), c.Search("registry")), true
		}
		return tea.Batch(v.load(c), c.Search("registry")), true
	case tui.OpDone:
		return v.finished(c, m), true
	case tui.Beat:
		return nil, true
	}
	cmd, ok := pane.ListAndText(c, &v.Rows, &v.detail, msg, func() tea.Cmd { return v.choose(c) })
	return tea.Batch(cmd, v.read(c)), ok
}

func (v *registryScreen) load(c *tui.Ctx) tea.Cmd {
	if v.from == nil {
		v.err, v.loaded = fmt.Errorf("no registry is known here"), true
		return nil
	}
	cmd, _ := c.Replace("registry", "load", "read the list of servers", func(context.Context) (any, error) {
		client, cache, err := v.from.Open()
		if err != nil {
			return nil, err
		}
		list, err := cache.Load()
		return registryLoaded{client, cache, list}, err
	})
	return cmd
}

// sync brings the list up to date; what is there stays until that is done.
func (v *registryScreen) sync(c *tui.Ctx) tea.Cmd {
	if v.client == nil {
		return v.load(c)
	}
	v.syncing, v.err = true, nil
	v.got.Store(0)
	client, cache, old, got := v.client, v.cache, v.list, v.got
	cmd, _ := c.Replace("registry", "sync", "fetch the list of servers", func(ctx context.Context) (any, error) {
		list, bad, err := cache.Sync(ctx, client, old, func(n int) { got.Store(int64(n)) })
		client.Close()
		return registrySynced{list, bad}, err
	})
	return cmd
}

func (v *registryScreen) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	switch m.Slot {
	case "load":
		v.loaded, v.err = true, m.Err
		r, ok := m.Value.(registryLoaded)
		if !ok {
			return nil
		}
		v.client, v.cache, v.name = r.client, r.cache, r.client.Base()
		cmd := v.take(c, r.list)
		if time.Since(r.list.Synced) > fresh {
			cmd = tea.Batch(cmd, v.sync(c))
		}
		return cmd
	case "sync":
		v.syncing, v.err = false, m.Err
		v.Rev++
		if r, ok := m.Value.(registrySynced); ok && m.Err == nil {
			v.bad = r.bad
			return v.take(c, r.list)
		}
		if m.Err != nil && !v.list.Synced.IsZero() {
			return c.Toast(tui.Warning, m.Err.Error())
		}
		return nil
	case "entry":
		if r, ok := m.Value.(registryEntry); ok {
			v.entry, v.entryOf, v.badOf, v.detail.Top = r.entry, r.name, m.Err, 0
			v.Rev++
		}
		return nil
	}
	if cmd, ok := v.bring.finished(c, m); ok {
		return cmd
	}
	if cmd, ok := v.Filtered(c, m); ok {
		return tea.Batch(cmd, v.read(c))
	}
	if m.Err != nil {
		return c.Toast(tui.Failure, m.Err.Error())
	}
	return nil
}

// take shows another list, with the cursor on the server that it was on.
func (v *registryScreen) take(c *tui.Ctx, l registry.List) tea.Cmd {
	at := ""
	if s := v.selected(); s != nil {
		at = s.Name
	}
	v.show(l)
	cmd := v.SetRows(c, registryRows{v, c})
	for i := range l.Servers {
		if l.Servers[i].Name == at {
			v.List.Select(i)
		}
	}
	return tea.Batch(cmd, v.read(c))
}

func (v *registryScreen) show(l registry.List) {
	v.list, v.entryOf = l, ""
	v.nameCol = pane.Widest(min(len(l.Servers), 2000), 44, func(i int) string { return l.Servers[i].Name })
	abouts := make([]string, len(l.Servers)) // made once: a search goes through all of them at each key
	for i := range l.Servers {
		abouts[i] = l.Servers[i].About()
	}
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(abouts), func(i int) (name, about string) { return l.Servers[i].Name, abouts[i] }
	}
}

// read gets the details of the server under the cursor.
func (v *registryScreen) read(c *tui.Ctx) tea.Cmd {
	s := v.selected()
	if s == nil || s.Name == v.entryOf {
		return nil
	}
	v.entryOf = s.Name
	list, at := v.list, *s
	cmd, _ := c.Replace("registry", "entry", "read "+safe.Line(s.Name, 80), func(context.Context) (any, error) {
		e, err := list.Entry(at)
		return registryEntry{at.Name, e}, err
	})
	return cmd
}

// choose asks in which way to reach the server, where there are several.
func (v *registryScreen) choose(c *tui.Ctx) tea.Cmd {
	v.Settle()
	s := v.selected()
	if s == nil {
		return nil
	}
	if v.entry.Document == nil || v.entry.Name != s.Name {
		return tea.Batch(v.read(c), c.Toast(tui.Note, "its description is being read: press enter again"))
	}
	return v.bring.choose(c, described.Listed(v.client, v.entry))
}

func (v *registryScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.Same(c, v.Rev, v.detail.Top, v.List.Selected(), v.got.Load(), v.syncing, v.loaded, v.entryOf) {
		return nil
	}
	if p.ID == "detail" {
		p.Title = "Server"
		v.detail.Draw(p, v.details(c, p.W))
		return nil
	}
	p.Title = "Registry"
	p.Badge = ""
	p.Foot = paint.Cut(safe.Line(v.state(), 300), max(p.W-4, 0))
	if len(v.list.Servers) == 0 {
		p.Lines, p.Scroll = v.empty(c, p.W), tui.Scroll{}
		return nil
	}
	v.List.SetRows(registryRows{v, c})
	v.DrawList(c, p, func(w int) []string { return pane.NothingMatches(c.Theme, w, v.Typed) })
	p.Badge = pane.CountBadge(v.List.Len(), len(v.list.Servers))
	return nil
}

// state is where the list comes from, and how old it is.
func (v *registryScreen) state() string {
	switch {
	case v.syncing && v.got.Load() > 0:
		return fmt.Sprintf("fetching %s: %d so far", v.name, v.got.Load())
	case v.syncing:
		return "fetching " + v.name
	case v.err != nil && !v.list.Synced.IsZero():
		return "! not refreshed; as of " + v.list.Synced.Local().Format(time.DateTime)
	case v.list.Synced.IsZero():
		return ""
	}
	return v.name + " as of " + v.list.Synced.Local().Format(time.DateTime)
}

// empty is what the list says while there is none.
func (v *registryScreen) empty(c *tui.Ctx, w int) []string {
	switch {
	case v.syncing && v.got.Load() > 0:
		return pane.Message(c.Theme, w, fmt.Sprintf("Fetching the list of %s: %d servers so far.", v.name, v.got.Load()), "It is kept on this machine, and searched without a network from then on.")
	case v.syncing || !v.loaded:
		return pane.Message(c.Theme, w, "Fetching the list of servers.", "It is kept on this machine, and searched without a network from then on.")
	case v.err != nil:
		return pane.Message(c.Theme, w, "✗ "+v.err.Error(), "Press r to try again. Which registry is asked is registry.url in config.yaml.")
	}
	return pane.Message(c.Theme, w, v.name+" lists no servers.", "Press r to ask again.")
}

func (v *registryScreen) breadcrumb(*tui.Ctx) string {
	if s := v.selected(); s != nil {
		return safe.Line(s.Name, 60)
	}
	return ""
}

func (v *registryScreen) copyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	s := v.selected()
	if s == nil {
		return nil
	}
	switch k {
	case tui.CopyValue:
		return tui.CopyString(s.Name, true)
	case tui.CopyCommand:
		return tui.CopyString("mcphud open "+s.Name, true)
	case tui.CopyJSON:
		return tui.CopyBytes(v.entry.Raw)
	}
	return nil
}

// hints say how to leave the screen, which has no number.
func (v *registryScreen) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

func (v *registryScreen) plain(_ *tui.Ctx, w io.Writer) {
	if text := v.state(); text != "" {
		fmt.Fprintln(w, safe.Line(text, 200))
	}
	if v.err != nil && len(v.list.Servers) == 0 {
		fmt.Fprintln(w, safe.Line(v.err.Error(), 300))
	}
	if v.Typed != "" && v.List.Len() == 0 {
		fmt.Fprintln(w, pane.NothingListed(v.Typed))
	}
}

// choices are the servers that the filter leaves.
func (v *registryScreen) choices(*tui.Ctx) (out []tui.Choice) {
	const most = 100
	for i := range v.List.Listed() {
		if len(out) == most {
			break
		}
		s := v.list.Servers[i]
		out = append(out, tui.Choice{
			Label: safe.Line(s.Name+" "+s.Version+" "+s.Description, 160),
			Run: func(c *tui.Ctx) tea.Cmd {
				v.List.Select(i)
				e, err := v.list.Entry(s)
				if err != nil {
					return c.Toast(tui.Failure, err.Error())
				}
				v.entry, v.entryOf = e, s.Name
				return v.choose(c)
			},
		})
	}
	return out
}

// close ends the connections to the registry.
func (v *registryScreen) close() {
	if v.client != nil {
		v.client.Close()
	}
}
