package lint

// client is a client, an SDK or a model provider, as the tools of a server reach it.
type client struct {
	name  string // in rules, options and figures; it does not change
	title string // in texts
	// whole says that one tool that it refuses makes it lose the whole list: a request with it, or the answer to tools/list, is refused.
	whole bool
}

// The clients, in the order in which they are listed. A provider stands for each client that passes definitions on to it as they are.
var clients = []client{
	{"anthropic", "Claude API", true},
	{"claude-code", "Claude Code", true},
	{"claude-desktop", "Claude Desktop, claude.ai", true},
	{"bedrock", "Amazon Bedrock Converse", true},
	{"openai", "OpenAI function calling", true},
	{"openai-strict", "OpenAI, strict", true},
	{"gemini", "Gemini API", true},
	{"gemini-openapi", "Gemini API, parameters field", true},
	{"cursor", "Cursor", false},
	{"vscode", "VS Code, Copilot", false},
	{"windsurf", "Windsurf", false},
	{"typescript-sdk", "TypeScript SDK 1", true},
	{"python-sdk", "Python SDK", true},
	{"go-sdk", "Go SDK", true},
}

// Clients are the names of the clients that are known, in the order in which they are listed. The slice is the caller's.
func Clients() (out []string) {
	for _, c := range clients {
		out = append(out, c.name)
	}
	return out
}

// What a limit is about.
const (
	ofName         = "name"         // of a tool, with what the client puts before it, in characters
	ofTools        = "tools"        // how many
	ofDescription  = "description"  // of a tool, in characters
	ofInstructions = "instructions" // of the server, in characters
	ofSchema       = "schema"       // of the input of a tool, in bytes as compact JSON
)

// limit is one number that a client has.
type limit struct {
	client string // by name
	about  string // one of those above
	most   int    // in the unit of about; the client takes that many
	prefix string // what a client puts before the name of a tool: %s is the server
	errs   bool   // beyond it tools are lost
	then   string // what happens beyond it
	source string // URL of who says so: a vendor's page, or an issue where users met it
	read   string // the day that was read, YYYY-MM-DD
}

// limits are all that are known. Clients change them without a word, so that each has its source and the day.
var limits = []limit{
	{"claude-code", ofName, 64, "mcp__%s__", false, "its older versions, and some providers behind it, refuse it", "https://github.com/ChromeDevTools/chrome-devtools-mcp/issues/1169", "2026-11-23"},
	{"claude-code", ofName, 128, "mcp__%s__", true, "the tool is left out", "https://github.com/xsyetopz/claudetto/wiki/Claude-Code-MCP-Runtime", "2026-11-23"},
	{"claude-desktop", ofName, 64, "", true, "no tool can be used", "https://github.com/mims-harvard/ToolUniverse/issues/3", "2026-11-23"},
	{"bedrock", ofName, 64, "", true, "a request with it is refused", "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html", "2026-11-23"},
	{"openai", ofName, 64, "", true, "a request with it is refused", "https://github.com/nanbingxyz/5ire/issues/403", "2026-11-23"},
	{"gemini", ofName, 64, "", true, "a request with it is refused", "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/java/latest/com.google.cloud.vertexai.api.FunctionDeclarationOrBuilder", "2026-11-23"},
	{"cursor", ofName, 59, "%s", true, "the tool is left out", "https://github.com/ComposioHQ/composio/issues/2788", "2026-11-23"},

	{"cursor", ofTools, 80, "", false, "it warns, and leaves the others out", "https://github.com/Snowflake-Labs/mcp/issues/77", "2026-11-23"},
	{"windsurf", ofTools, 100, "", false, "the others cannot be switched on", "https://docs.windsurf.com/windsurf/cascade/mcp", "2026-11-23"},
	{"vscode", ofTools, 128, "", true, "a request with all of them is refused", "https://github.com/microsoft/vscode/issues/337428", "2026-11-23"},
	{"openai", ofTools, 128, "", true, "a request with all of them is refused", "https://github.com/microsoft/vscode-copilot-release/issues/9375", "2026-11-23"},
	{"gemini", ofTools, 512, "", true, "a request with all of them is refused", "https://github.com/google-gemini/gemini-cli/issues/19083", "2026-11-23"},

	{"claude-desktop", ofSchema, 16_384, "", false, "a connector that is added leaves the tool out without a word, until its list is read anew", "https://github.com/anthropics/claude-code/issues/77296", "2026-11-27"},

	{"openai", ofDescription, 1024, "", false, "some of its models have refused it", "https://github.com/CherryHQ/cherry-studio/issues/3698", "2026-11-23"},
	{"claude-code", ofDescription, 2048, "", false, "the rest is cut", "https://github.com/anthropics/claude-code/issues/87650", "2026-11-23"},
	{"claude-code", ofInstructions, 2048, "", false, "the rest is cut", "https://dev.to/rulestack/20-of-20-runs-sent-serverdiscover-to-our-stdio-mcp-server-off-by-default-per-the-docs-and-its-12m2", "2026-11-23"},
}
