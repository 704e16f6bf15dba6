package views

import (
	"cmp"
	"context"

	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/check/contract"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
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
	calls, asked, said := &pane.Calls{}, NewQuestions(), NewTraffic(nil)
	return []tui.View{
		NewServers(d.Trust, d.Pool, d.Configs, d.Secrets),
		NewAdder(d.Configs, d.Trust, d.Published),
		NewEntry(d.Configs, d.Trust),
		NewTools(calls, d.TokenBudget),
		NewResources(calls),
		NewPrompts(calls),
		NewCall(d.Inputs, d.Consent, asked.OfCall),
		said,
		NewLogs(false),
		NewInbox(asked),
		NewTasks(),
		NewAnswer(asked, d.Browse, d.Model),
		NewRoots(),
		NewSetup(),
		NewRegistry(d.Published),
		NewTemplates(calls),
		NewSkills(calls),
		NewSkill(),
		NewTemplate(d.Inputs, asked.OfCall),
		NewPrompt(d.Inputs, asked.OfCall),
		NewAllTools(d.Registry, calls),
		NewSubscriptions(),
		NewPersonas(),
		NewInstructions(),
		NewDrift(d.Lock),
		NewHistory(d.History),
		newWhatsNew(d.Release),
		NewTrace(),
		NewTimeline(nil),
		NewStack(d.Stack),
		NewDoctor(d.Doctor, where),
		NewCheck(d.Checks, d.Lock),
		NewTreemap(),
		NewLogin(d.Trust, d.Pool, d.Browse, d.AutoBrowse),
		NewResend(Targets{Where: where, Consent: d.Consent, Pool: d.Pool}),
		NewEditor(),
		NewExperts(said, nil),
	}
}

// Watch returns new screens for a journal that somebody else fills: what is said, and what is logged. There is no server to
// drive but those that requests are sent to again.
func Watch(f Foreign) []tui.View {
	t, l := NewTraffic(&f), NewLogs(true)
	return []tui.View{t, l, NewResend(f.Targets), NewEditor(), NewExperts(t, f.Over), NewTrace(), NewTimeline(&f)}
}
