package lint

import "github.com/mcphud/mcphud/session/check"

// refuseRules are about schemas that are right, and that a client or a model provider refuses all the same.
var refuseRules = []rule{
	{Rule: check.Rule{
		ID: "lint/top-level-union", Severity: check.Error, Title: "has oneOf, anyOf or allOf at the root of its schema", Why: "the Claude API and OpenAI refuse the request, with all tools in it", Fix: "describe all properties at the root, and check the combination in the tool",
		Source: "https://github.com/makenotion/notion-mcp-server/issues/340", Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "openai"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/top-level-enum", Severity: check.Error, Title: "has enum or not at the root of its schema", Why: "OpenAI refuses the request, with all tools in it", Fix: "move the rule into a property, or into the tool",
		Source: "https://github.com/langchain-ai/langchainjs/issues/9804", Read: read, Clients: []string{"openai"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/root-type", Severity: check.Error, Title: "has a schema whose root is not of type object", Why: "the protocol requires it: SDKs refuse the whole list, providers the request", Fix: `add "type": "object" at the root`,
		Source: "https://github.com/langfuse/langfuse/pull/13839", Read: read, Clients: []string{"typescript-sdk", "python-sdk", "claude-code", "bedrock", "openai", "anthropic"},
	}},
	{Rule: check.Rule{
		ID: "lint/properties-missing", Severity: check.Warning, Title: "has no properties at the root of its schema", Why: "OpenAI refuses the request unless the client adds them; VS Code and the Agents SDK do", Fix: `add "properties": {}`,
		Source: "https://github.com/openai/openai-agents-python/pull/454", Read: read, Clients: []string{"openai"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/property-key", Severity: check.Error, Title: "has a parameter with a name that the Claude API refuses", Why: "the request is refused, with all tools in it", Fix: "use up to 64 of A-Z, a-z, 0-9, _, . and -",
		Source: "https://github.com/decocms/studio/pull/6874", Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "bedrock"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/name-dot", Severity: check.Warning, Title: "has a dot in its name", Why: "the protocol allows it; providers refuse it unless the client rewrites the name", Fix: "use _ or - instead",
		Source: "https://github.com/openai/codex/issues/8174", Read: read, Clients: []string{"anthropic", "claude-desktop", "bedrock", "openai"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/name-start", Severity: check.Warning, Title: "has a name that does not begin with a letter or underscore", Why: "Gemini refuses the request, with all tools in it", Fix: "begin it with a letter",
		Source: "https://github.com/dust-tt/dust/pull/28212", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/name-too-long", Severity: check.Error, Title: "has a name that is too long with what a client puts before it", Why: "the client leaves the tool out, or its provider refuses the request; a warning where the prefix is only assumed", Fix: "shorten it",
		Source: "https://github.com/sparfenyuk/mcp-proxy/issues/45", Read: read, Clients: []string{"claude-code", "claude-desktop", "bedrock", "openai", "gemini", "cursor"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/too-many-tools", Severity: check.Error, Title: "has more tools than a client takes", Why: "the client leaves some out, or its provider refuses the request", Fix: "offer fewer tools, or groups of them that are switched on",
		Source: "https://github.com/google-gemini/gemini-cli/issues/19083", Read: read, Clients: []string{"cursor", "windsurf", "vscode", "openai", "gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/description-too-long", Severity: check.Warning, Title: "has a description that is longer than a client takes", Why: "the rest is cut; some models of OpenAI have refused it", Fix: "shorten it, or begin with what matters",
		Source: "https://github.com/probelabs/probe/issues/9", Read: read, Clients: []string{"openai", "claude-code"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/schema-too-large", Severity: check.Warning, Title: "has an inputSchema of more bytes than a client takes", Why: "the tool is missing there, and nothing says why", Fix: "shorten descriptions and enums in it, or split the tool",
		Source: "https://github.com/anthropics/claude-code/issues/77296", Read: "2026-11-27", Clients: []string{"claude-desktop"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/array-items", Severity: check.Error, Title: "has an array that does not say what is in it", Why: "OpenAI and Gemini refuse the request, VS Code leaves the tool out", Fix: `add "items"`,
		Source: "https://github.com/agentscope-ai/ReMe/issues/84", Read: read, Clients: []string{"openai", "gemini", "vscode"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/tuple-items", Severity: check.Error, Title: "has items as a list of schemas", Why: "JSON Schema 2020-12 does not allow it, and the Claude API refuses what is not 2020-12", Fix: "write prefixItems, or better one schema for all items",
		Source: core + "#section-10.3.1.2", Read: read, Clients: []string{"anthropic", "claude-code", "claude-desktop", "gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/tuple-prefix", Severity: check.Warning, Title: "has prefixItems without items", Why: "OpenAI and Gemini ask for items, and refuse the request", Fix: "add items, or use an object with named members",
		Source: "https://github.com/spacelift-io/spacectl/issues/402", Read: read, Clients: []string{"openai", "gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/boolean-property", Severity: check.Error, Title: "has true or false as the schema of a property at the root", Why: "the TypeScript SDK 1 refuses the whole list", Fix: "write {} for true, and leave out what is false",
		Source: "https://github.com/modelcontextprotocol/inspector/issues/1005", Read: read, Clients: []string{"typescript-sdk", "claude-code"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/boolean-schema", Severity: check.Warning, Title: "has true or false as the schema of a value", Why: "Gemini refuses the request", Fix: "write {} for true, and leave out what is false",
		Source: "https://github.com/github/copilot-cli/issues/4623", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/items-union", Severity: check.Warning, Title: "has items of several types", Why: "Gemini refuses the request", Fix: "give items one type",
		Source: "https://github.com/github/copilot-cli/issues/4623", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/type-union", Severity: check.Info, Title: "has several types beside null", Why: "providers with one type per schema, as Gemini, refuse or simplify it", Fix: "use anyOf with one type each, or one type",
		Source: "https://github.com/modelcontextprotocol/inspector/pull/2395", Read: read, Clients: []string{"gemini"},
	}, port: true, harms: true},
	{Rule: check.Rule{
		ID: "lint/untyped", Severity: check.Warning, Title: "has a value without a type", Why: "Gemini refuses the request or its client leaves the tool out, other providers guess", Fix: "add a type",
		Source: "https://github.com/google-gemini/gemini-cli/pull/5694", Read: "2026-11-27", Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/union-untyped", Severity: check.Warning, Title: "has a branch of a union without a type", Why: "Gemini refuses the request", Fix: "add a type to each branch",
		Source: "https://github.com/cyanheads/mcp-ts-core/issues/132", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/enum-empty-value", Severity: check.Warning, Title: "has null or an empty string in enum", Why: "Gemini refuses the request", Fix: "leave the value out, and make the parameter optional",
		Source: "https://github.com/router-for-me/CLIProxyAPI/pull/4545", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/enum-not-strings", Severity: check.Warning, Title: "has values in enum that are not strings", Why: "Gemini refuses the request", Fix: "use strings, or minimum and maximum for numbers",
		Source: "https://github.com/weave-os/router/pull/65", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/ref-siblings", Severity: check.Warning, Title: "has keywords beside a $ref", Why: "Gemini allows only description and default there, and refuses the request", Fix: "write the schema in place",
		Source: "https://github.com/anomalyco/opencode/issues/12295", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/ref-recursive", Severity: check.Warning, Title: "describes itself: the schema is recursive", Why: "clients that write references out cannot, and Gemini refuses some of these", Fix: "limit the depth, or take the inner value as a JSON string",
		Source: "https://github.com/google-gemini/gemini-cli/issues/14945", Read: read, Clients: []string{"gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/too-deep", Severity: check.Warning, Title: "has values that are nested more than 10 levels deep", Why: "OpenAI's strict mode ends there, and Gemini refuses what is too deep", Fix: "flatten it",
		Source: "https://github.com/google-gemini/gemini-cli/issues/5923", Read: read, Clients: []string{"openai-strict", "gemini"},
	}, port: true},
	{Rule: check.Rule{
		ID: "lint/format-openai", Severity: check.Info, Title: "has a format that only OpenAI's strict mode refuses", Why: "the request is refused where strict is on, as it is by default in the Responses API, and nowhere else", Fix: "nothing, unless strict is on; there say it in the description instead",
		Source: "https://github.com/cyanheads/git-mcp-server/issues/47", Read: read, Clients: []string{"openai-strict"},
	}, port: true},
}

// chosenRules are about modes that a developer chooses, and that nearly no server fits.
var chosenRules = []rule{
	{Rule: check.Rule{
		ID: "lint/strict-open", Severity: check.Error, Title: "has an object without additionalProperties: false", Why: "OpenAI's strict mode requires it", Fix: "add it, or use the tool without strict",
		Source: "https://github.com/langchain-ai/langchainjs/issues/9496", Read: read, Clients: []string{"openai-strict"},
	}, port: true, chosen: true},
	{Rule: check.Rule{
		ID: "lint/strict-optional", Severity: check.Error, Title: "has a property that is not required", Why: "OpenAI's strict mode requires all of them", Fix: `require it, and allow null: "type": ["string", "null"]`,
		Source: "https://github.com/camel-ai/camel/issues/2629", Read: read, Clients: []string{"openai-strict"},
	}, port: true, chosen: true},
	{Rule: check.Rule{
		ID: "lint/strict-keyword", Severity: check.Error, Title: "has a keyword that OpenAI's strict mode refuses", Why: "the request is refused", Fix: "say it without the keyword, or use the tool without strict",
		Source: strictDoc, Read: read, Clients: []string{"openai-strict"},
	}, port: true, chosen: true},
	{Rule: check.Rule{
		ID: "lint/strict-size", Severity: check.Error, Title: "has more properties or values than OpenAI's strict mode takes", Why: "it ends at 5,000 properties, 1,000 values of enums and 120,000 characters of names and values", Fix: "make the schema smaller",
		Source: strictDoc, Read: read, Clients: []string{"openai-strict"},
	}, port: true, chosen: true},
	{Rule: check.Rule{
		ID: "lint/gemini-keyword", Severity: check.Error, Title: "has a keyword that Gemini's own form of schemas does not have", Why: "a client that passes it on in parameters, not in parametersJsonSchema, is refused", Fix: "say it without the keyword",
		Source: "https://github.com/pizza-bot-app/pizza-bot/issues/62", Read: read, Clients: []string{"gemini-openapi"},
	}, port: true, chosen: true},
	{Rule: check.Rule{
		ID: "lint/gemini-format", Severity: check.Error, Title: "has a format that Gemini's own form of schemas does not have", Why: "only enum and date-time are there for strings", Fix: "remove the format, and say it in the description",
		Source: "https://github.com/google-gemini/gemini-cli/issues/5450", Read: read, Clients: []string{"gemini-openapi"},
	}, port: true, chosen: true},
}
