package agentlet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
)

// MaxSchema is how many bytes of JSON the schema of an agent's answers may have.
const MaxSchema = 64 << 10

const createInput = `{"type":"object","properties":{
"tenant_id":{"type":"string","pattern":"^[!-~]{1,128}$","description":"Whose agent it is; no other tenant sees it"},
"user_id":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$","description":"Who makes the agent"},
"agent_name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$","description":"A name that the user has no other agent under"},
"description":{"type":"string","minLength":1,"maxLength":16384,"description":"What the agent is told to be: its system prompt"},
"output_schema":{"type":"object","description":"JSON Schema that the agent's answers fit; no references to elsewhere"},
"tools":{"type":"array","items":{"type":"string"},"maxItems":64,"uniqueItems":true,"description":"Names of the tools of this server that the agent may use; none if left out"}},
"required":["tenant_id","user_id","agent_name","description","output_schema"]}`

const createOutput = `{"type":"object","properties":{"status":{"type":"string"},"agent_uri":{"type":"string"},"message":{"type":"string"}},"required":["status","agent_uri","message"]}`

func (r *Registry) createTool() []server.ServerTool {
	return []server.ServerTool{kit.Tool("create_agent", "Create an agent",
		"Makes an agent of your own from a system prompt and a JSON Schema for its answers; ask_agent then asks it. It stays until the database is removed.",
		kit.Additive, kit.Args(r.create), createInput, createOutput)}
}

type createArgs struct {
	Tenant      string          `json:"tenant_id"`
	User        string          `json:"user_id"`
	Name        string          `json:"agent_name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"output_schema"`
	Tools       []string        `json:"tools"`
}

func (r *Registry) create(ctx context.Context, _ mcp.CallToolRequest, in createArgs) (*mcp.CallToolResult, error) {
	tenant, err := kit.Tenant(ctx, in.Tenant)
	if err != nil {
		return nil, err
	}
	a := &Agent{User: in.User, Name: in.Name, Description: in.Description, Tools: in.Tools}
	var compact bytes.Buffer
	_ = json.Compact(&compact, in.Schema) // it was decoded
	a.OutputSchema = compact.Bytes()
	if err := r.acceptable(ctx, a); err != nil {
		return nil, err
	}
	switch err := r.insert(ctx, tenant, a.setNames()); {
	case errors.Is(err, errTaken):
		return nil, kit.Invalid("agent_name", fmt.Sprintf("is taken: user %s has an agent called %s already; choose another name", a.User, a.Name))
	case errors.Is(err, errFull):
		return nil, kit.Invalid("agent_name", fmt.Sprintf("is one too many: this tenant has %d agents, and may have no more", maxAgents))
	case store.Busy(err):
		return nil, again("create_agent: another process is writing to the store; call again: %w", err)
	case store.Down(err):
		return nil, again("create_agent: the store cannot be reached, and the agent was not made; call again: %w", err)
	case err != nil:
		return nil, jsonrpc.Errorf(jsonrpc.KindToolExecution, "create_agent: cannot store the agent; see the server's log: %w", err)
	}
	r.o.Updated(tenant, MyAgents)
	r.o.ListChanged(tenant)
	return kit.JSON(map[string]string{"status": "success", "agent_uri": a.URI, "message": "Agent created successfully"})
}

// again is an error that may pass.
func again(format string, err error) error {
	f := jsonrpc.Errorf(jsonrpc.KindToolExecution, format, err)
	f.RetryAfter = time.Second
	return f
}

// acceptable says what of a new agent cannot be, beyond what the input schema says.
func (r *Registry) acceptable(ctx context.Context, a *Agent) error {
	caller := kit.Caller(ctx).User
	switch {
	case strings.TrimSpace(a.Description) == "":
		return kit.Invalid("description", kit.Required)
	case caller != "" && caller != a.User:
		return kit.Invalid("user_id", "is not the token's user; use that user's id")
	case strings.ContainsRune(a.Description, 0):
		return kit.Invalid("description", "has a character that no text has: U+0000")
	case len(a.OutputSchema) > MaxSchema:
		return kit.Invalid("output_schema", fmt.Sprintf("has %d bytes, more than %d", len(a.OutputSchema), MaxSchema))
	}
	if _, err := compileSchema(a.OutputSchema); err != nil {
		return kit.Invalid("output_schema", "is not a usable JSON Schema: "+err.Error())
	}
	for _, t := range a.Tools {
		if _, ok := r.o.Lookup(t); !ok {
			return kit.Invalid("tools", fmt.Sprintf("names %q, which is not a tool of this server; tools/list has those there are", text.Clip(t, 100)))
		}
	}
	return nil
}
