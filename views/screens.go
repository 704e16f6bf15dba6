package views

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/check/contract"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/call"
	"github.com/mcphud/mcphud/views/check"
	"github.com/mcphud/mcphud/views/inbox"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/servers"
	"github.com/mcphud/mcphud/views/settings"
	"github.com/mcphud/mcphud/views/stack"
	"github.com/mcphud/mcphud/views/traffic"
)

// Deps is what screens need besides the sessions.
type Deps struct {
	// Trust remembers which servers of project files may start; nil starts all.
	Trust *config.Trust
	// Inputs keeps what was sent for the next start; nil keeps nothing.
	Inputs *inputs.Store
	// Secrets keeps what servers ask for; nil keeps nothing.
	Secrets servers.Secrets
	// History is the calls that were made before; nil for none.
	History *calls.History
	// Consent is which tools ask before they are called; nil asks before each call of a destructive one.
	Consent *consent.Policy
	// Registry is the tools of all servers; nil for none.
	Registry *toolset.Registry
	// Pool limits connections and closes idle ones; nil for no limits.
	Pool *toolset.Pool
	// Configs is where servers come from besides the command line; nil where none can be written or read again.
	Configs *servers.Configs
	// Browse opens a page in the user's browser; nil where there is none.
	Browse func(ctx context.Context, url string) error
	// AutoBrowse opens the page of a login by itself, once its URL was shown.
	AutoBrowse bool
	// Model is a language model that may answer sampling; nil for none.
	Model *chat.Client
	// Release is the version that runs.
	Release Release
	// Published is where servers are found that others have published; nil for nowhere.
	Published *servers.Published
	// Doctor says how diagnoses are made.
	Doctor doc.Options
	// Lock is what the servers of the project offered when somebody accepted that; nil for no project.
	Lock *contract.Project
	// TokenBudget is how many tokens the tools of a server may take together; 0 is any number.
	TokenBudget int
	// Checks is how servers are examined.
	Checks check.Checks
	// Settings is the file of the settings of the user.
	Settings settings.File
	// Stack is the processes that run below this program; nil for none.
	Stack stack.Stack
	// Shared says that the journal also has what others say to the server, of a session that is kept for many commands.
	Shared bool
}

// All returns new screens: the tabs in the order of their number keys, each before its sections. It is the one place where screens are listed.
func All(d Deps) []*tui.Screen {
	var where config.Options
	if d.Configs != nil {
		where = d.Configs.Where
	}
	d.Consent = cmp.Or(d.Consent, &consent.Policy{}) // one for all screens
	calls, asked, broken := pane.NewCalls(d.History), inbox.NewQuestions(), &traffic.Broken{}
	diagnoses := servers.Diagnoses{}
	all := []*tui.Screen{
		servers.NewServers(d.Trust, d.Pool, d.Configs, d.Secrets, servers.Beside{Diagnoses: diagnoses, Process: d.process}),
		stack.NewStack(d.Stack),
		servers.NewAdder(d.Configs, d.Trust, d.Published),
		servers.NewEntry(d.Configs, d.Trust),
		servers.NewRegistry(d.Published),
		servers.NewSetup(),
		servers.NewDoctor(d.Doctor, where, diagnoses),
		servers.NewLogin(d.Trust, d.Pool, d.Browse, d.AutoBrowse),
		servers.NewPersonas(),
		servers.NewRoots(),
		call.NewInstructions(),
		call.NewSkills(calls),
		call.NewSkill(),
		settings.New(d.Settings),
		settings.NewKeys(d.Settings),
		newWhatsNew(d.Release),
		call.NewTools(calls, d.TokenBudget),
		call.NewAllTools(d.Registry, calls),
		call.NewResources(calls),
		call.NewTemplates(calls),
		call.NewTemplate(d.Inputs, asked.OfCall, calls),
		inbox.NewSubscriptions(),
		call.NewPrompts(calls),
		call.NewPrompt(d.Inputs, asked.OfCall, calls),
		call.NewCall(d.Inputs, d.Consent, asked.OfCall, calls),
		traffic.NewHistory(d.History),
		traffic.NewTraffic(nil, broken, d.Shared),
		traffic.NewTimeline(nil),
		traffic.NewTrace(),
		traffic.NewLogs(false),
		traffic.NewResend(traffic.Targets{Where: where, Consent: d.Consent, Pool: d.Pool}),
		traffic.NewEditor(),
		check.NewCheck(d.Checks, d.Lock),
		check.NewDrift(d.Lock),
		traffic.NewExperts(broken, nil, "check"),
		inbox.NewInbox(asked),
		inbox.NewTasks(),
		inbox.NewAnswer(asked, d.Browse, d.Model),
	}
	if d.Stack != nil {
		all = append(all, servers.NewDemo())
	}
	return all
}

// process is the process of the stack that a server is, "" for none.
func (d Deps) process(server string) string {
	if d.Stack == nil {
		return ""
	}
	for _, p := range d.Stack.Processes() {
		if slices.Contains(p.Servers, server) {
			return fmt.Sprintf("%s · %s · process %d", p.Name, p.State, p.PID)
		}
	}
	return ""
}

// Watch returns new screens for a journal that somebody else fills: what is said, and what is logged. There is no server to
// drive but those that requests are sent to again.
func Watch(f traffic.Foreign) []*tui.Screen {
	broken := &traffic.Broken{}
	return []*tui.Screen{
		traffic.NewTraffic(&f, broken, true),
		traffic.NewTimeline(&f),
		traffic.NewTrace(),
		traffic.NewLogs(true),
		traffic.NewExperts(broken, f.Over, "traffic"),
		traffic.NewResend(f.Targets),
		traffic.NewEditor(),
	}
}
