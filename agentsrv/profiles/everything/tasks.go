package everything

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const (
	// InputFirst is the member of a tool's _meta that says when a tool that runs as a task asks its client: "before" means
	// that the call is answered with input_required until it has what it needs, and only then becomes a task. Without it
	// the task itself asks.
	InputFirst = "mcphud/taskInput"

	deleteForm = `{"type":"object","properties":{"confirm":{"type":"boolean","description":"Delete it?"}},"required":["confirm"]}`
)

// taskTools run as tasks for clients that want that (extension io.modelcontextprotocol/tasks; tasks of 2025-11-25).
func taskTools() []server.ServerTool {
	before := kit.Tool("test_tool_with_task", "Task after a question", "Asks for the user's name first, and goes on as a task then.", kit.ReadOnly, nameThenWork, none, "")
	before.Tool.Meta = &mcp.Meta{AdditionalFields: map[string]any{InputFirst: "before"}}
	return []server.ServerTool{
		support(mcp.TaskSupportForbidden, kit.Tool("greet", "Greet", "Greets at once; never runs as a task.", kit.ReadOnly, kit.Args(greet),
			`{"type":"object","properties":{"name":{"type":"string","description":"Whom to greet"}},"required":["name"]}`, "")),
		support(mcp.TaskSupportOptional, kit.Tool("slow_compute", "Slow computation", "Takes its time, as a task for clients that know tasks.", kit.ReadOnly, kit.ArgsOver(work{Seconds: 1}, compute),
			`{"type":"object","properties":{"seconds":{"type":"number","minimum":0,"maximum":3600,"default":1,"description":"How long"},"label":{"type":"string","description":"Returned with the result"}}}`, "")),
		support(mcp.TaskSupportRequired, kit.Tool("failing_job", "Failing task", "A task whose result says isError.", kit.ReadOnly, failJob, none, "")),
		support(mcp.TaskSupportRequired, kit.Tool("protocol_error_job", "Broken task", "A task that ends in a JSON-RPC error instead of a result.", kit.ReadOnly, breakJob, none, "")),
		support(mcp.TaskSupportOptional, kit.Tool("confirm_delete", "Task with a question", "Asks for a confirmation while it runs, and deletes nothing either way.", kit.ReadOnly, kit.Args(confirmDelete),
			`{"type":"object","properties":{"filename":{"type":"string","description":"What not to delete"}},"required":["filename"]}`, "")),
		support(mcp.TaskSupportOptional, tool("multi_input", "Task with two questions", "Asks two things at once while it runs.", twoQuestions)),
		support(mcp.TaskSupportRequired, before),
	}
}

func support(s mcp.TaskSupport, t server.ServerTool) server.ServerTool {
	t.Tool.Execution = &mcp.ToolExecution{TaskSupport: s}
	return t
}

func greet(_ context.Context, _ mcp.CallToolRequest, in struct{ Name string }) (*mcp.CallToolResult, error) {
	return text("Hello, " + in.Name + "!")
}

type work struct {
	Seconds float64
	Label   string
}

func compute(ctx context.Context, _ mcp.CallToolRequest, in work) (*mcp.CallToolResult, error) {
	if err := kit.Sleep(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
		return nil, fmt.Errorf("slow_compute: %w", err)
	}
	return text(fmt.Sprintf("computed %q in %v s", in.Label, in.Seconds))
}

func failJob(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := kit.Sleep(ctx, time.Second); err != nil {
		return nil, fmt.Errorf("failing_job: %w", err)
	}
	return mcp.NewToolResultError("failing_job: failed, as it always does"), nil
}

func breakJob(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := kit.Sleep(ctx, pause); err != nil {
		return nil, fmt.Errorf("protocol_error_job: %w", err)
	}
	return nil, &jsonrpc.RequestError{Kind: jsonrpc.KindInternal, Message: "protocol_error_job: broke, as it always does", Err: errors.New("asked for")}
}

func confirmDelete(ctx context.Context, r mcp.CallToolRequest, in struct{ Filename string }) (*mcp.CallToolResult, error) {
	return form("confirm", "Delete "+in.Filename+"?", deleteForm, func(a *mcp.ElicitationResult) string {
		content, _ := a.Content.(map[string]any)
		if yes, _ := content["confirm"].(bool); !yes || a.Action != mcp.ElicitationResponseActionAccept {
			return "kept " + in.Filename
		}
		return "deleted " + in.Filename + ", had it existed"
	}).put(ctx, r)
}

func twoQuestions(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := r.Params.InputResponses
	name, sure := answer(in, "name", nameForm), answer(in, "confirm", deleteForm)
	if name != nil && sure != nil {
		return text(fmt.Sprintf("name=%s (%s), confirmation: %s", field(name, "name"), name.Action, sure.Action))
	}
	if bad, err := require(ctx, elicitation); bad != nil || err != nil {
		return bad, err
	}
	b := server.NewInputRequestBuilder("")
	if name == nil {
		b.Elicit("name", formParams("What is your name?", nameForm))
	}
	if sure == nil {
		b.Elicit("confirm", formParams("Are you sure?", deleteForm))
	}
	return b.ToolResult(), nil
}

func nameThenWork(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	q := form("user_name", "What is your name?", nameForm, func(a *mcp.ElicitationResult) string { return "Task done for " + field(a, "name") })
	if _, ok := q.said(r.Params.InputResponses); ok {
		if err := kit.Sleep(ctx, 4*pause); err != nil {
			return nil, fmt.Errorf("test_tool_with_task: %w", err)
		}
	}
	return q.put(ctx, r)
}
