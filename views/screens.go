package views

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/check/contract"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// Deps is what screens need besides the sessions.
type Deps struct {
	// Trust remembers which servers of project files may start; nil starts all.
	Trust *config.Trust
	// Inputs keeps what was sent for the next start; nil keeps nothing.
	Inputs *inputs.Store
	// Secrets keeps what servers ask for; nil keeps nothing.
	Secrets Secrets
	// History is the calls that were made before; nil for none.
	History *history.History
	// Consent is which tools ask before they are called; nil asks before each call of a destructive one.
	Consent *consent.Policy
	// Registry is the tools of all servers; nil for none.
	Registry *toolset.Registry
	// Pool limits connections and closes idle ones; nil for no limits.
	Pool *toolset.Pool
	// Configs is where servers come from besides the command line; nil where none can be written or read again.
	Configs *Configs
	// Browse opens a page in the user's browser; nil where there is none.
	Browse func(ctx context.Context, url string) error
	// AutoBrowse opens the page of a login by itself, once its URL was shown.
	AutoBrowse bool
	// Model is a language model that may answer sampling; nil for none.
	Model *chat.Client
	// Release is the version that runs.
	Release Release
	// Published is where servers are found that others have published; nil for nowhere.
	Published *Published
	// Doctor says how diagnoses are made.
	Doctor doc.Options
	// Lock is what the servers of the project offered when somebody accepted that; nil for no project.
	Lock *contract.Project
	// TokenBudget is how many tokens the tools of a server may take together; 0 is any number.
	TokenBudget int
	// Checks is how servers are examined.
	Checks Checks
	// Stack is the processes that run below this program; nil for none.
	Stack Stack
}

// All returns new screens, in the order of their number keys. It is the one place where screens are listed.
func All(d Deps) []tui.View {
	var where config.Options
	if d.Configs != nil {
		where = d.Configs.Where
	}
	d.Consent = cmp.Or(d.Consent, &consent.Policy{}) // one for all screens
	calls, asked, said := &pane.Calls{}, newQuestions(), newTraffic()
	return []tui.View{
		newServers(d.Trust, d.Pool, d.Configs, d.Secrets),
		newAdder(d.Configs, d.Trust, d.Published),
		newEntry(d.Configs, d.Trust),
		newTools(calls, d.TokenBudget),
		newResources(calls),
		newPrompts(calls),
		newCall(d.Inputs, d.Consent, asked),
		said,
		newLogs(),
		newInbox(asked),
		newTasks(),
		newAnswer(asked, d.Browse, d.Model),
		newRoots(),
		newSetup(),
		newRegistry(d.Published),
		newTemplates(calls),
		newSkills(calls),
		newSkill(),
		newTemplate(d.Inputs, asked),
		newPrompt(d.Inputs, asked),
		newAllTools(d.Registry, calls),
		newSubscriptions(),
		newPersonas(),
		newInstructions(),
		newDrift(d.Lock),
		newHistory(d.History),
		newWhatsNew(d.Release),
		newTrace(),
		newTimeline(nil),
		newStack(d.Stack),
		newDoctor(d.Doctor, where),
		newCheck(d.Checks, d.Lock),
		newTreemap(),
		newLogin(d.Trust, d.Pool, d.Browse, d.AutoBrowse),
		newResend(Targets{Where: where, Consent: d.Consent, Pool: d.Pool}),
		newEditor(),
		newExperts(said, nil),
	}
}

// Foreign is traffic between others, of which the journal is all that there is.
type Foreign struct {
	// Empty is shown while the journal is empty: why it is, and what to do. It must be quick.
	Empty func() (what, next string)
	// Over is whether nothing comes any more, so that what waits for an answer never gets one; nil is no. It must be quick.
	Over func() bool
	// Targets is where its requests can be sent again.
	Targets Targets
}

// Watch returns new screens for a journal that somebody else fills: what is said, and what is logged. There is no server to
// drive but those that requests are sent to again.
func Watch(f Foreign) []tui.View {
	t, l := newTraffic(), newLogs()
	t.foreign, l.foreign = &f, true
	return []tui.View{t, l, newResend(f.Targets), newEditor(), newExperts(t, f.Over), newTrace(), newTimeline(&f)}
}

// stackUnder is the columns below which a form is above its result: beside it both would be cut.
const stackUnder = 110

func formInfo(id, title string, hidden bool, aliases ...string) tui.Info {
	return tui.Info{ID: id, Title: title, Aliases: aliases, Hidden: hidden, Split: 50, StackUnder: stackUnder, Panes: []tui.PaneSpec{
		{ID: "form", Title: title}, {ID: "result", Title: "Result"},
	}}
}

// newCall calls a tool.
func newCall(store *inputs.Store, agreed *consent.Policy, asked *questions) *formScreen {
	return newFormScreen(store, asked, formKind{
		info: formInfo("call", "Call", false, "c"), verb: "call", list: "tools", kind: offer.Tools, name: itemName, consent: agreed,
		fields: func(it offer.Item) *schema.Schema { return schema.ParseArguments(it.InputSchema) },
		sessionCall: func(ctx context.Context, s *session.Session, it offer.Item, args []byte, _ map[string]string, o session.CallOptions) (rpc.Reply, error) {
			return s.CallTool(ctx, it.Name, args, o)
		},
		command: func(d *draft) shell.Invocation {
			return shell.Invocation{Verb: "tools call", Operands: []string{d.item.Name}, Flags: []string{"--args", string(d.form.JSON())}}
		},
	})
}

// newPrompt gets a prompt.
func newPrompt(store *inputs.Store, asked *questions) *formScreen {
	return newFormScreen(store, asked, formKind{
		info: formInfo("prompt", "Prompt", true), verb: "get", list: "prompts", kind: offer.Prompts, name: itemName,
		fields: func(it offer.Item) *schema.Schema {
			args := make([]schema.Argument, len(it.Args))
			for i, a := range it.Args {
				args[i] = schema.Argument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required}
			}
			return schema.FromArguments(args)
		},
		sessionCall: func(ctx context.Context, s *session.Session, it offer.Item, _ []byte, given map[string]string, o session.CallOptions) (rpc.Reply, error) {
			return s.GetPrompt(ctx, it.Name, given, o)
		},
		ref: func(it offer.Item) []byte { return reference("ref/prompt", "name", it.Name) },
		command: func(d *draft) shell.Invocation {
			operands := []string{d.item.Name}
			for k, val := range shell.Sorted(d.form.Strings()) {
				operands = append(operands, k+"="+val)
			}
			return invoke("prompts get", operands...)
		},
	})
}

// newTemplate fills in a resource template and reads the resource.
func newTemplate(store *inputs.Store, asked *questions) *formScreen {
	return newFormScreen(store, asked, formKind{
		info: formInfo("template", "Template", true), verb: "read", list: "templates", kind: offer.Templates,
		name: func(it offer.Item) string { return it.URI },
		fields: func(it offer.Item) *schema.Schema {
			t, err := offer.ParseTemplate(it.URI)
			if err != nil {
				return schema.FromArguments(nil)
			}
			var args []schema.Argument
			for _, n := range t.Varnames() {
				args = append(args, schema.Argument{Name: n})
			}
			return schema.FromArguments(args)
		},
		sessionCall: func(ctx context.Context, s *session.Session, it offer.Item, _ []byte, given map[string]string, o session.CallOptions) (rpc.Reply, error) {
			uri, err := offer.Expand(it.URI, given)
			if err != nil {
				return rpc.Reply{}, fmt.Errorf("%w; read the URI itself on the resources screen", err)
			}
			return s.ReadResource(ctx, uri, o)
		},
		ref: func(it offer.Item) []byte { return reference("ref/resource", "uri", it.URI) },
		command: func(d *draft) shell.Invocation {
			uri, err := offer.Expand(d.item.URI, d.form.Strings())
			if err != nil {
				return invoke("resources templates")
			}
			return invoke("resources read", uri)
		},
	})
}

// reference is what completion/complete completes for.
func reference(kind, key, value string) []byte {
	b, err := json.Marshal(map[string]string{"type": kind, key: value})
	if err != nil { // strings only: cannot happen
		return nil
	}
	return b
}

// isBack is whether a message is the key that leaves a screen which was opened from another, and quits on all others.
func isBack(msg tea.Msg) bool {
	k, ok := msg.(tea.KeyPressMsg)
	return ok && k.String() == "q"
}

// listAndText gives what is meant for them to the panes of a screen that has no number, a list and a text; open is what enter does.
func listAndText(c *tui.Ctx, list *pane.Rows, detail *pane.TextPane, msg tea.Msg, open func() tea.Cmd) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.FilterChanged:
		return list.SetFilter(c, m.Text), true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return nil, detail.Handle(msg)
		}
	}
	if isBack(msg) {
		return c.Back(), true
	}
	if c.Focus == "detail" {
		return nil, detail.Handle(msg)
	}
	consumed, opened := list.MoveCursor("list", msg)
	if opened {
		return open(), true
	}
	return nil, consumed
}

// backHint is what isBack does, where it does it.
func backHint(does bool) []tui.Hint {
	if !does {
		return nil
	}
	return []tui.Hint{{Key: "q", Title: "back"}}
}
