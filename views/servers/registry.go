package servers

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui"
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
	pane.ListPage
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
	v := &registryScreen{bring: bringer{"registry", "From the registry", from}, from: from, got: &atomic.Int64{}}
	v.View, v.Page, v.About, v.Pick = "registry", v.page, v.about, v.pick
	v.show(registry.List{})
	v.Inputs = func(*tui.Ctx) any { return [4]any{v.got.Load(), v.syncing, v.loaded, v.entryOf} }
	return v
}

func (v *registryScreen) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "registry", Title: "Registry", Aliases: []string{"reg"}, Tab: "servers", NoRail: true, AllServers: true, Split: 42,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "Registry"}, {ID: "detail", Title: "Server"}},
		Actions:    v.actions, Handle: v.handle, CopyText: v.copyText, Breadcrumb: v.breadcrumb, Close: v.close,
	})
}

func (v *registryScreen) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "registry.open", Verb: tui.VerbOpen, Title: "open or save", Group: "Server", Hint: 1,
			Help:     "Choose how to reach the server, fill in what it asks for, then open it or keep it in a file.",
			Disabled: v.none, Run: v.choose,
		},
		{
			ID: "registry.sync", Verb: tui.VerbRun, Title: "refresh", Group: "Server", Hint: 2,
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
	cmd, ok := v.Handle(c, msg, func() tea.Cmd { return v.choose(c) })
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
			v.entry, v.entryOf, v.badOf, v.Detail.Top = r.entry, r.name, m.Err, 0
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
	cmd := v.Changed(c)
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

// pick opens a server by its description, which is on disk.
func (v *registryScreen) pick(c *tui.Ctx, i int) tea.Cmd {
	s := v.list.Servers[i]
	e, err := v.list.Entry(s)
	if err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	v.entry, v.entryOf = e, s.Name
	return v.choose(c)
}

// close ends the connections to the registry.
func (v *registryScreen) close() {
	if v.client != nil {
		v.client.Close()
	}
}
