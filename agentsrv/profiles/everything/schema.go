package everything

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

const (
	// modernSchema uses what JSON Schema 2020-12 has beyond types and properties (SEP-1613, SEP-2106). It is written as
	// the conformance suite gives it.
	modernSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
		`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
		`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
		`"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
		`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},` +
		`"additionalProperties":false}`

	// headerSchema marks parameters that travel in Mcp-Param-* headers as well (SEP-2243).
	headerSchema = `{"type":"object","properties":{` +
		`"region":{"type":"string","description":"Sent as the header Mcp-Param-Region too","x-mcp-header":"Region"},` +
		`"priority":{"type":"integer","description":"Sent as the header Mcp-Param-Priority too","x-mcp-header":"Priority"},` +
		`"query":{"type":"string","description":"Sent in the body only"}},"required":["region"]}`

	structuredOutput = `{"type":"object","properties":{"temperature":{"type":"number"},"unit":{"type":"string","enum":["celsius"]},"conditions":{"type":"array","items":{"type":"string"}}},"required":["temperature","unit","conditions"]}`
)

func schemaTools() []server.ServerTool {
	return []server.ServerTool{
		kit.Tool("json_schema_2020_12_tool", "JSON Schema 2020-12", "Tool with JSON Schema 2020-12 features; returns its arguments.",
			kit.ReadOnly, returnArguments, modernSchema, ""),
		kit.Tool("test_header_params", "Parameters in headers", "Shows parameters that travel in HTTP headers as well as in the body; returns its arguments.",
			kit.ReadOnly, returnArguments, headerSchema, ""),
		kit.Tool("test_structured_content", "Structured content", "Shows a result that fits an output schema, with the same value as text.",
			kit.ReadOnly, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return kit.JSON(struct {
					Temperature float64  `json:"temperature"`
					Unit        string   `json:"unit"`
					Conditions  []string `json:"conditions"`
				}{21.5, "celsius", []string{"sunny", "windy"}})
			}, none, structuredOutput),
	}
}

func returnArguments(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	raw := kit.RawArguments(r)
	if len(raw) == 0 {
		return text("{}")
	}
	return text(string(raw))
}
