package cost

import "github.com/mcphud/mcphud/session/check"

// From which numbers on the rules speak.
const (
	heavyList        = 25_000 // tokens of all tools
	heavyTool        = 2000
	quarterOf        = 5 // tools are as many at least where one may be said to take a quarter
	quarterTokens    = 500
	longDescription  = 500
	longParameter    = 150
	longInstructions = 500
	largeEnum        = 100 // values
	largeEnumTokens  = 300
	longExamples     = 100
	repeatedAt       = 3   // places with the same description
	repeatedSaves    = 100 // tokens
	repeatedSchema   = 60  // tokens of a schema that is there more than once
	idleTokens       = 50  // tokens of titles or keywords that say nothing
)

// The documents that the rules rest on, and the day they were read.
const (
	read       = "2026-11-23"
	tools      = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool"
	lifecycle  = "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization"
	warned     = "https://github.com/anthropics/claude-code/issues/12241"
	draft      = "https://json-schema.org/draft/2020-12/json-schema-core"
	annotation = "https://json-schema.org/draft/2020-12/json-schema-validation#section-9"
	enumerated = "https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1.2"
)

// Rules are those of the section.
func (*Section) Rules() []*check.Rule {
	return []*check.Rule{
		{
			ID: "cost/over-budget", Severity: check.Error, Title: "the tools cost more than the budget", Why: "whoever set the budget has no room for more of the model's context",
			Fix: "shorten or drop what the table shows first, or split the server", Source: tools, Read: read,
		},
		{
			ID: "cost/heavy-list", Severity: check.Warning, Title: "the tools take a large part of the context", Why: "they are given to the model in each conversation, before anything is asked; Claude Code warns from 25,000 tokens on",
			Fix: "shorten or drop what the table shows first, split the server, or list fewer tools until one asks for more", Source: warned, Read: read, Clients: []string{"Claude Code"},
		},
		{
			ID: "cost/one-tool", Severity: check.Info, Title: "one tool takes more than a quarter of all", Why: "everybody pays for it, also who never calls it",
			Fix: "move the manual into a resource or prompt, or split the tool", Source: tools, Read: read,
		},
		{
			ID: "cost/heavy-tool", Severity: check.Warning, Title: "the definition is larger than a page of text", Why: "models choose worse among tools whose definitions they must search",
			Fix: "split the tool by what it does, and drop parameters that nobody sets", Source: tools, Read: read,
		},
		{
			ID: "cost/long-description", Severity: check.Warning, Title: "has a long description", Why: "it is paid for in each conversation, and some clients cut it",
			Fix: "say what the tool does, when to use it and what it returns; the rest belongs into a resource or prompt", Source: tools, Read: read,
		},
		{
			ID: "cost/long-parameter", Severity: check.Info, Title: "a parameter has a long description", Why: "it is paid for in each conversation",
			Fix: "say what the value is; format, limits and defaults have keywords of their own", Source: tools, Read: read,
		},
		{
			ID: "cost/long-instructions", Severity: check.Warning, Title: "the server's instructions are long", Why: "clients put them into the system prompt, and some cut them",
			Fix: "keep what helps to choose among the tools", Source: lifecycle, Read: read,
		},
		{
			ID: "cost/repeated-description", Severity: check.Info, Title: "the same description stands at several places", Why: "the model reads it each time",
			Fix: "say it once, in the tool's description or the server's instructions, and a few words at each place", Source: annotation, Read: read,
		},
		{
			ID: "cost/repeated-schema", Severity: check.Info, Title: "the same schema stands at several places of one tool", Why: "the model reads it each time",
			Fix: "put it into $defs and refer to it by $ref, where your clients take $ref; else make it one parameter", Source: draft + "#section-8.2.4", Read: read,
		},
		{
			ID: "cost/unused-definition", Severity: check.Warning, Title: "definitions that nothing refers to", Why: "the model reads them in each conversation, for nothing",
			Fix: "give each tool the definitions that its own schema refers to", Source: draft + "#section-8.2.4", Read: read,
		},
		{
			ID: "cost/large-enum", Severity: check.Warning, Title: "an enum has very many values", Why: "all of them are read in each conversation, to choose one",
			Fix: "take a string, name a few values in the description, and have a tool or a completion that lists the others", Source: enumerated, Read: read,
		},
		{
			ID: "cost/long-examples", Severity: check.Info, Title: "examples in the schema are long", Why: "they are paid for in each conversation",
			Fix: "keep one short example", Source: annotation, Read: read,
		},
		{
			ID: "cost/idle-titles", Severity: check.Info, Title: "titles in schemas say what the names say", Why: "generators add them to each property, and no model needs them",
			Fix: "have the generator leave titles out", Source: annotation, Read: read,
		},
		{
			ID: "cost/idle-keywords", Severity: check.Info, Title: "schemas have keywords that say nothing to a model", Why: "$schema, $id and $comment are for programs, and paid for all the same",
			Fix: "leave them out: the protocol says which dialect holds where there is no $schema", Source: draft + "#section-8", Read: read,
		},
	}
}
