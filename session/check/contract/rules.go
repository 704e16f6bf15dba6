package contract

import "github.com/mcphud/mcphud/session/check"

// Class is what a change means for those who use a server, from the worst to the harmless.
type Class string

// The classes.
const (
	Security   Class = "security"         // what protects a person became weaker
	Breaking   Class = "breaking"         // calls or readers that work now may fail
	Behaviour  Class = "behaviour change" // a model may do something else with it
	Review     Class = "review"           // nobody can say without knowing the server
	Compatible Class = "compatible"       // whoever works now goes on working
)

// Classes are all of them, the worst first.
func Classes() []Class { return []Class{Security, Breaking, Behaviour, Review, Compatible} }

func (c Class) severity() check.Severity {
	switch c {
	case Security, Breaking:
		return check.Error
	case Behaviour, Review:
		return check.Warning
	}
	return check.Info
}

// The sections of the specification that say what a member is for.
const (
	specTools     = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool"
	specHints     = "https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations"
	specOutput    = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema"
	specPrompts   = "https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#prompt"
	specResources = "https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource"
	specTemplates = "https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates"
	specLifecycle = "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation"
	specSchema    = "https://json-schema.org/draft/2020-12/json-schema-validation"
	read          = "2026-11-23"
)

// rule is one entry of the table.
type rule struct {
	id         string
	class      Class
	title, why string
	fix        string
	source     string
}

const (
	keep    = "keep the old one beside the new one until nobody calls it; or accept the change in the lock"
	loosen  = "accept what was accepted before, or accept the change in the lock and say so in the release"
	lookAt  = "look at the change, and accept it in the lock if it is meant"
	nothing = "accept it in the lock, so that the next change shows"
)

func table() []rule {
	return []rule{
		{"tool-removed", Breaking, "a tool is gone", "calls of it fail, and so do allowlists, prompts and saved calls that name it", keep, specTools},
		{"tool-added", Compatible, "a tool is new", "a model has one more to choose from, and pays for its definition", nothing, specTools},
		{"parameter-removed", Breaking, "a parameter is gone", "what callers say with it is refused, or silently ignored", keep, specTools},
		{"parameter-required", Breaking, "a parameter became required", "calls that leave it out are refused", "give it a default, and leave it optional", specTools},
		{"parameter-added", Compatible, "a parameter is new, and optional", "calls that leave it out go on working", nothing, specTools},
		{"parameter-description", Behaviour, "a parameter is described differently", "models fill it in by its description", lookAt, specTools},
		{"default-changed", Behaviour, "a default changed", "the same call, without the parameter, now means something else", lookAt, specTools},
		{"input-narrowed", Breaking, "arguments that were accepted are refused", "calls that work now fail", loosen, specSchema},
		{"input-widened", Compatible, "more arguments are accepted", "calls that work now go on working", nothing, specSchema},
		{"constraint-review", Review, "a constraint changed, and nobody can say in which direction", "it may refuse calls that work now, or answer what readers do not expect", lookAt, specSchema},
		{"output-widened", Breaking, "results may be what they were not before", "programs that read results by the old schema fail on them", "keep results within the old schema, or accept the change in the lock", specOutput},
		{"output-removed", Breaking, "a part of the output schema is gone", "programs that read it find nothing", keep, specOutput},
		{"output-added", Compatible, "results say more", "programs read what they read before", nothing, specOutput},
		{"output-narrowed", Compatible, "results are said more exactly", "each of them was allowed before", nothing, specOutput},
		{"description", Behaviour, "is described differently", "models choose tools and prompts by their descriptions; a changed one may change when and how it is called, or carry orders", lookAt, specTools},
		{"instructions", Behaviour, "the instructions of the server changed", "clients put them into the system prompt of the model", lookAt, specLifecycle},
		{"hint-flipped", Security, "an annotation says that the tool became more dangerous", "clients that run it without asking, since it was called harmless, go on doing so", "ask people again, and accept the change in the lock only after that", specHints},
		{"hint-relaxed", Review, "an annotation says that the tool became harmless", "clients ask less before they run it; an attacker would say so too", lookAt, specHints},
		{"not-idempotent", Behaviour, "a tool is no longer called idempotent", "clients that repeat a call which failed do it twice", lookAt, specHints},
		{"app-changed", Review, "the page that shows the tool as an app is another one", "clients render what it refers to", lookAt, specTools},
		{"execution-changed", Review, "how the tool runs as a task changed", "clients that cannot do tasks fail where they become required, and the other way round", lookAt, specTools},
		{"metadata", Compatible, "a title, icon or note changed", "only people see it", nothing, specTools},
		{"unreadable", Review, "changed, and is too large or too broken to be compared", "anything may be different", lookAt, specTools},
		{"prompt-removed", Breaking, "a prompt is gone", "who gets it by its name fails", keep, specPrompts},
		{"prompt-added", Compatible, "a prompt is new", "nobody is harmed", nothing, specPrompts},
		{"argument-removed", Breaking, "an argument of a prompt is gone", "what callers say with it is ignored or refused", keep, specPrompts},
		{"argument-required", Breaking, "an argument of a prompt became required", "requests that leave it out are refused", "leave it optional", specPrompts},
		{"argument-optional", Compatible, "an argument of a prompt is new and optional, or need not be given any more", "requests go on working", nothing, specPrompts},
		{"resource-removed", Breaking, "a resource is gone", "who reads it by its URI fails", keep, specResources},
		{"resource-added", Compatible, "a resource is new", "nobody is harmed", nothing, specResources},
		{"mime-type", Behaviour, "a resource has another MIME type", "clients show it differently, or cannot", lookAt, specResources},
		{"template-removed", Breaking, "a resource template is gone", "URIs that are made by it lead nowhere", keep, specTemplates},
		{"template-added", Compatible, "a resource template is new", "nobody is harmed", nothing, specTemplates},
		{"capability-removed", Breaking, "the server no longer declares a capability", "clients stop using what it is about", keep, specLifecycle},
		{"capability-added", Compatible, "the server declares a new capability", "nobody has to use it", nothing, specLifecycle},
		{"capability-changed", Behaviour, "a capability is declared differently", "clients stop, or begin, to be notified", lookAt, specLifecycle},
		{"not-locked", Review, "the lock has no contract of this server", "nothing was compared", "accept what it offers now", specTools},
		{"recorded-calls-refused", Breaking, "calls that clients really made would be refused now", "these clients fail with the next release", loosen, specTools},
	}
}

// rules are the table as a section has it, and the classes by id.
func rules() (all []*check.Rule, classes map[string]Class) {
	classes = map[string]Class{}
	for _, r := range table() {
		id := "contract/" + r.id
		classes[id] = r.class
		all = append(all, &check.Rule{
			ID: id, Severity: r.class.severity(), Title: r.title, Why: r.why, Fix: r.fix, Source: r.source, Read: read,
		})
	}
	return all, classes
}
