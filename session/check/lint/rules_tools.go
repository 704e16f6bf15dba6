package lint

import (
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
)

// toolRules are about what a tool says of itself beside its schemas.
var toolRules = []rule{
	{Rule: check.Rule{
		ID: "lint/not-an-object", Severity: check.Error, Title: "is not an object", Why: "clients that check the list refuse all of it", Fix: "send an object with the members of the protocol",
		Source: specTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/name-missing", Severity: check.Error, Title: "has no name", Why: "it cannot be called, and clients that check the list refuse all of it", Fix: "give it a name",
		Source: specTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/name-duplicate", Severity: check.Error, Title: "has the name of another tool", Why: "a call reaches one of them, and the Claude API refuses a request with both", Fix: "rename one",
		Source: "https://github.com/baguskto/threads-mcp/issues/2", Read: read, Clients: []string{"anthropic", "claude-code"},
	}},
	{Rule: check.Rule{
		ID: "lint/name-collides", Severity: check.Warning, Title: "has a name that another tool has too after clients rewrite it", Why: "clients replace characters that their model's provider refuses, and one of the two disappears",
		Fix: "let names differ in letters and digits, not only in case or punctuation", Source: vscode, Read: read, Clients: []string{"vscode"},
	}, harms: true},
	{Rule: check.Rule{
		ID: "lint/name-characters", Severity: check.Error, Title: "has characters in its name that the protocol does not allow", Why: "providers refuse the request, with all tools in it", Fix: "use A-Z, a-z, 0-9, _ and -",
		Source: specNames, Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "bedrock", "openai", "gemini"},
	}},
	{Rule: check.Rule{
		ID: "lint/name-length", Severity: check.Error, Title: "has a name of more than 128 characters", Why: "it is longer than the protocol and every client allow", Fix: "shorten it",
		Source: specNames, Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "bedrock", "openai", "gemini", "cursor"},
	}},
	{Rule: check.Rule{
		ID: "lint/name-edge", Severity: check.Info, Title: "has a name that begins or ends with a hyphen or dot", Why: "the TypeScript SDK warns of it: it is misread where names are joined or completed", Fix: "remove it",
		Source: "https://github.com/modelcontextprotocol/typescript-sdk/blob/main/packages/core-internal/src/shared/toolNameValidation.ts", Read: read, Clients: []string{"typescript-sdk"},
	}, harms: true},
	{Rule: check.Rule{
		ID: "lint/name-style", Severity: check.Info, Title: "writes its name in another style than most tools of the server", Why: "models mistype names that follow no pattern", Fix: "use one of snake_case, kebab-case and camelCase for all",
		Source: specNames, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/description-missing", Severity: check.Warning, Title: "has no description", Why: "a model has only the name to decide by; VS Code shows it <empty>", Fix: "say what it does, when to use it, and what it returns",
		Source: vscode, Read: read, Clients: []string{"vscode"},
	}, harms: true},
	{Rule: check.Rule{
		ID: "lint/description-repeats-name", Severity: check.Warning, Title: "has a description that says no more than its name", Why: "a model has only the name to decide by", Fix: "say what it does, when to use it, and what it returns",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/description-short", Severity: check.Info, Title: "has a description of less than 15 characters", Why: "it hardly tells the tool from others", Fix: "say what it does, when to use it, and what it returns",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/description-shared", Severity: check.Warning, Title: "has the description of another tool", Why: "a model cannot tell them apart", Fix: "say in each how it differs",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/title-missing", Severity: check.Info, Title: "has tools without a title", Why: "people see the name that is meant for models where they are asked about a call; Claude's directory refuses the server",
		Fix: "give each tool a title of a few words", Source: checklist, Read: "2026-11-27",
	}},
	{Rule: check.Rule{
		ID: "lint/hints-missing", Severity: check.Info, Title: "has tools that do not say whether they change anything", Why: "clients take such a tool for one that writes, destroys and reaches out, and ask before each call; Claude's directory refuses the server",
		Fix: "set readOnlyHint, or destructiveHint where it writes, in the annotations of each tool", Source: checklist, Read: "2026-11-27",
	}},
	{Rule: check.Rule{
		ID: "lint/schema-missing", Severity: check.Error, Title: "has no inputSchema that is an object", Why: "it is required: clients that check the list refuse all of it", Fix: `send {"type":"object","properties":{}} for a tool without parameters`,
		Source: specTools, Read: read, Clients: []string{"typescript-sdk", "python-sdk", "anthropic", "openai", "bedrock"},
	}},
	{Rule: check.Rule{
		ID: "lint/member-type", Severity: check.Error, Title: "has a member of the wrong type", Why: "clients that check the list refuse all of it", Fix: "send what the protocol's schema says, or leave the member out",
		Source: sdkTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk", "go-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/annotation-type", Severity: check.Error, Title: "has an annotation of the wrong type", Why: "clients that check the list refuse all of it", Fix: "send true or false, without quotes",
		Source: sdkTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk", "go-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/annotation-unknown", Severity: check.Warning, Title: "has an annotation that resembles one of the protocol's", Why: "no client reads it, so the default counts: not read-only, destructive, open world", Fix: "spell it as the protocol does",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/annotation-contradiction", Severity: check.Warning, Title: "is called read-only and destructive at once", Why: "clients decide by one of them whether to ask before a call", Fix: "leave out destructiveHint where readOnlyHint is true",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/annotation-name", Severity: check.Warning, Title: "has annotations that contradict its name", Why: "clients run read-only tools without asking", Fix: "correct the hint, or the name",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/icon-source", Severity: check.Warning, Title: "has an icon that is not an https, http or data URL", Why: "no client can show it", Fix: "give the icon as an https: or data: URL",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/icon-size", Severity: check.Warning, Title: `has an icon with a size that is not like 48x48, or "any"`, Why: "clients choose icons by it", Fix: `write WIDTHxHEIGHT, or "any" for SVG`,
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/header-invalid", Severity: check.Error, Title: "has an x-mcp-header that the protocol does not allow", Why: "clients leave the tool out over HTTP", Fix: "see the rules of x-mcp-header",
		Source: specHeader, Read: read, Clients: []string{"typescript-sdk", "python-sdk"},
	}, tool: func(it offer.Item) (found, bool) {
		err := offer.CheckHeaders(it)
		if err == nil {
			return found{}, false
		}
		return found{pointer: "/inputSchema", message: text.FirstLine(err.Error())}, true
	}},
	{Rule: check.Rule{
		ID: "lint/output-schema-type", Severity: check.Error, Title: "has an outputSchema whose root is not of type object", Why: "the TypeScript SDK 1 refuses the whole list; only revision 2026-07-28 allows it", Fix: "wrap the result in an object",
		Source: "https://github.com/opentokenz/mcpx/issues/28", Read: read, Clients: []string{"typescript-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/refs-multiply", Severity: check.Warning, Title: "explodes where its references are written out", Why: "clients that replace each $ref by what it refers to run out of memory, or send the model more than it can read",
		Fix: "refer to each definition from fewer places, or take the inner value as a JSON string", Source: core, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/too-large", Severity: check.Warning, Title: "is too large to examine further", Why: "what follows in it was not looked at, and clients have limits too", Fix: "make the schema smaller, or share parts by $defs",
		Source: core, Read: read,
	}},
}
