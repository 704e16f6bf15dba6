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
	`"abandoned":{"type":"integer","description":"Calls that were cancelled and still run"},` +
	`"shared":{"type":"object","description":"What all replicas have together, where several share the queue"}},` +
	`"required":["queued","running","concurrency"]}`

// Face is how clients see a queue, of whatever engine.
type Face func() Status

// Tools is queue_status.
func (f Face) Tools() []server.ServerTool {
	t := kit.Tool(ToolName, "Queue status", "How many tool calls wait, run, and may run at a time.", kit.ReadOnly,
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return kit.JSON(f()) },
		`{"type":"object","properties":{}}`, statusSchema)
	t.Tool.Execution = &mcp.ToolExecution{TaskSupport: mcp.TaskSupportForbidden}
	return []server.ServerTool{t}
}

// Resources is status://queue.
func (f Face) Resources() []server.ServerResource {
	return []server.ServerResource{{
		Resource: mcp.NewResource(URI, "queue", mcp.WithResourceDescription("How many tool calls wait, run, and may run at a time"), mcp.WithMIMEType("application/json")),
		Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			raw, err := json.Marshal(f())
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: URI, MIMEType: "application/json", Text: string(raw)}}, nil
		},
	}}
}

// Page is GET /queue: the status as JSON.
func (f Face) Page() http.Handler {
	return kit.Page(func(*http.Request) (int, any) { return http.StatusOK, f() })
}

// Tools is queue_status.
func (q *Queue) Tools() []server.ServerTool { return Face(q.Status).Tools() }

// Resources is status://queue.
func (q *Queue) Resources() []server.ServerResource { return Face(q.Status).Resources() }

// Page is GET /queue: the status as JSON.
func (q *Queue) Page() http.Handler { return Face(q.Status).Page() }
