package lint

import "github.com/mcphud/mcphud/session/check"

// schemaRules are about schemas that are wrong by JSON Schema itself, or say what nobody can have meant.
var schemaRules = []rule{
	{Rule: check.Rule{
		ID: "lint/keyword-type", Severity: check.Error, Title: "has a keyword with a value of the wrong type", Why: "the schema is invalid: the Claude API refuses the request, VS Code leaves the tool out", Fix: "write the keyword as JSON Schema has it",
		Source: "https://github.com/anthropics/claude-code/issues/86665", Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "openai", "vscode"},
	}},
	{Rule: check.Rule{
		ID: "lint/type-unknown", Severity: check.Error, Title: "has a type that JSON Schema does not have", Why: "the schema is invalid: the Claude API refuses the request, VS Code leaves the tool out", Fix: "use string, number, integer, boolean, object, array or null",
		Source: validation + "#section-6.1.1", Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "openai", "gemini", "vscode"},
	}},
	{Rule: check.Rule{
		ID: "lint/required-unknown", Severity: check.Warning, Title: "requires a property that it does not describe", Why: "a model has to guess it; Gemini refuses the request", Fix: "describe it in properties, or do not require it",
		Source: "https://github.com/iBUHub/AIStudioToAPI/issues/154", Read: read, Clients: []string{"gemini"},
	}},
	{Rule: check.Rule{
		ID: "lint/required-duplicate", Severity: check.Error, Title: "names a property twice in required", Why: "the schema is invalid: names have to be unique", Fix: "remove one",
		Source: validation + "#section-6.5.3", Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "vscode"},
	}},
	{Rule: check.Rule{
		ID: "lint/default-invalid", Severity: check.Warning, Title: "has a default that its own schema refuses", Why: "clients fill it in, and the call fails", Fix: "correct the default or the schema",
		Source: validation + "#section-9.2", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/example-invalid", Severity: check.Warning, Title: "has an example that its own schema refuses", Why: "models copy examples, and the call fails", Fix: "correct the example or the schema",
		Source: validation + "#section-9.5", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/enum-duplicate", Severity: check.Warning, Title: "has a value twice in enum", Why: "values should be unique; some validators refuse the schema", Fix: "remove one",
		Source: validation + "#section-6.1.2", Read: read, Clients: []string{"vscode"},
	}, harms: true},
	{Rule: check.Rule{
		ID: "lint/enum-type", Severity: check.Warning, Title: "has a value in enum that its type excludes", Why: "it can never be sent", Fix: "write the value in the type, or correct the type",
		Source: validation + "#section-6.1.2", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/enum-excluded", Severity: check.Warning, Title: "has a value in enum that its other keywords exclude", Why: "a model chooses it, and the call is refused", Fix: "correct the value, or the keyword",
		Source: validation + "#section-6.1.2", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/pattern-explodes", Severity: check.Warning, Title: "has a pattern that can take time without end", Why: "engines that step back try each way to split a value between two repetitions: a few dozen characters stop a client or the server",
		Fix: "repeat only one of the two, as in a+ for (a+)+", Source: core + "#section-6.4", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/pattern-invalid", Severity: check.Error, Title: "has a pattern that is not a regular expression", Why: "validators refuse the schema, or all values", Fix: "correct it: ECMA-262 is the syntax",
		Source: core + "#section-6.4", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/pattern-portability", Severity: check.Info, Title: "has a pattern that not every engine compiles", Why: "validators in Go and Rust lack parts of ECMA-262's syntax, and skip or refuse it", Fix: "say it in a syntax that all have, or in the description",
		Source: core + "#section-6.4", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/bounds-reversed", Severity: check.Error, Title: "has a lower bound above the upper one", Why: "no value is valid", Fix: "swap or correct the bounds",
		Source: validation + "#section-6.2", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/nothing-valid", Severity: check.Error, Title: "contradicts itself: no value is valid", Why: "every call is refused by whoever checks it", Fix: "correct one of the two demands that exclude each other",
		Source: validation + "#section-6", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/ref-missing", Severity: check.Error, Title: "has a $ref that leads nowhere", Why: "validators and providers refuse the schema", Fix: "define what it refers to in $defs, or write the schema in place",
		Source: core + "#section-8.2.3.1", Read: read, Clients: []string{"anthropic", "openai", "gemini"},
	}},
	{Rule: check.Rule{
		ID: "lint/ref-remote", Severity: check.Warning, Title: "has a $ref to another document", Why: "clients must not fetch it, so that part of the schema says nothing", Fix: "copy what it refers to into $defs",
		Source: specSchema, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/ref-loop", Severity: check.Error, Title: "has a $ref that leads to itself", Why: "it means nothing, and validators hang or refuse it", Fix: "define what it refers to",
		Source: core + "#section-9.4.1", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/member-repeated", Severity: check.Error, Title: "has the same member twice in one object", Why: "parsers keep the first or the last: clients see different tools", Fix: "remove one",
		Source: core + "#section-4.2.1", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/keyword-misspelled", Severity: check.Warning, Title: "has a keyword that is probably misspelled", Why: "unknown keywords are ignored, and with them the rule they meant", Fix: "correct it",
		Source: core + "#section-6.5", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/keyword-openapi", Severity: check.Warning, Title: "has a keyword of OpenAPI that JSON Schema ignores", Why: "clients do not see what it says", Fix: `write nullable as a type with "null", example as examples, discriminator as const`,
		Source: "https://github.com/cyanheads/mcp-ts-core/issues/132", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/keyword-idle", Severity: check.Warning, Title: "has a keyword that says nothing about its type", Why: "it is ignored: minLength of a number, minimum of a string", Fix: "remove it, or correct the type",
		Source: core + "#section-7.6.1", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/dialect-unknown", Severity: check.Warning, Title: "is written in a dialect that is not JSON Schema's", Why: "clients need only know 2020-12, and refuse what they do not know", Fix: "remove $schema, or name 2020-12",
		Source: specSchema, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/parameter-description", Severity: check.Warning, Title: "has parameters without description", Why: "a model has only their names to decide by", Fix: "say what to put there, and in which form",
		Source: "https://github.com/cisco-ai-defense/mcp-scanner/pull/152", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/property-names-collide", Severity: check.Info, Title: "has two parameters that differ only in case or punctuation", Why: "models mix them up", Fix: "rename one",
		Source: core + "#section-10.3.2.1", Read: read,
	}},
}
