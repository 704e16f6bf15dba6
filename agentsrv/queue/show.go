package queue

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

const (
	// ToolName is the tool that tells the queue's status. It is never queued itself.
	ToolName = "queue_status"
	// URI is the resource that holds the queue's status as JSON. Clients that subscribe to it hear of changes if
	// Options.Changed passes them on.
	URI = "status://queue"
)

const statusSchema = `{"type":"object","properties":{` +
	`"queued":{"type":"integer","description":"Calls that wait for a slot"},` +
	`"running":{"type":"integer","description":"Calls that have one"},` +
	`"concurrency":{"type":"integer","description":"Slots there are"},` +
	`"waiting":{"type":"integer","description":"Calls that gave up their slot while they wait for a client or another agent"},` +
	`"capacity":{"type":"integer","description":"Calls that may be queued, -1 for any number"},` +
	`"abandoned":{"type":"integer","description":"Calls that were cancelled and still run"}},` +
	`"required":["queued","running","concurrency"]}`

// Tools is queue_status.
func (q *Queue) Tools() []server.ServerTool {
	t := kit.Tool(ToolName, "Queue status", "How many tool calls wait, run, and may run at a time.", kit.ReadOnly,
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return kit.JSON(q.Status()) },
		`{"type":"object","properties":{}}`, statusSchema)
	t.Tool.Execution = &mcp.ToolExecution{TaskSupport: mcp.TaskSupportForbidden}
	return []server.ServerTool{t}
}

// Resources is status://queue.
func (q *Queue) Resources() []server.ServerResource {
	return []server.ServerResource{{
		Resource: mcp.NewResource(URI, "queue", mcp.WithResourceDescription("How many tool calls wait, run, and may run at a time"), mcp.WithMIMEType("application/json")),
		Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			raw, err := json.Marshal(q.Status())
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: URI, MIMEType: "application/json", Text: string(raw)}}, nil
		},
	}}
}

// Page is GET /queue: the status as JSON.
func (q *Queue) Page() http.Handler {
	return kit.Page(func(*http.Request) (int, any) { return http.StatusOK, q.Status() })
}
