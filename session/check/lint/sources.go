package lint

// The day on which the sources of the tables were read, and those that several rules have.
const (
	read = "2026-11-23"

	spec       = "https://modelcontextprotocol.io/specification/2026-07-28/"
	specTools  = spec + "server/tools#tool"
	specNames  = spec + "server/tools#tool-names"
	specHeader = spec + "server/tools#x-mcp-header"
	specSchema = spec + "basic#json-schema-usage"
	specTypes  = "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2026-07-28/schema.ts"
	validation = "https://json-schema.org/draft/2020-12/json-schema-validation"
	core       = "https://json-schema.org/draft/2020-12/json-schema-core"
	sdkTypes   = "https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.29.0/src/types.ts"
	vscode     = "https://github.com/microsoft/vscode/blob/main/src/vs/workbench/contrib/mcp/common/mcpServer.ts"
	checklist  = "https://github.com/anthropics/claude-plugins-official/blob/main/plugins/mcp-server-dev/skills/build-mcp-app/references/directory-checklist.md"
	strictDoc  = "https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai"
)
