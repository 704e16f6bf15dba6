package agentlet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxPrompt is how many characters a prompt may have.
const maxPrompt = 100_000

// maxDepth is how many agents may wait for one another: an agent that may use ask_agent can ask itself.
const maxDepth = 4

const askProperties = `"agent_uri":{"type":"string","minLength":1,"maxLength":1000,"description":"Which agent: NAME, system/NAME, user/USER/NAME or agentlet://…; system-agents://list and my-agents://list have them","examples":["researcher","system/summarizer"]},
"prompt":{"type":"string","minLength":1,"maxLength":100000,"description":"What to ask"},
"user_id":{"type":"string","description":"Who asks; whose agent a bare name means"},
"session_id":{"type":"string","description":"A name for the conversation, for traces"},
"model":{"type":"string","description":"Model to ask instead of the configured one"},
` + historyProperty

const (
	askInput    = `{"type":"object","properties":{"tenant_id":{"type":"string","pattern":"^[!-~]{1,128}$","description":"Whose agents and knowledge to use"},` + askProperties + `},"required":["agent_uri","tenant_id","prompt"]}`
	streamInput = `{"type":"object","properties":{"tenant_id":{"type":"string","pattern":"^[!-~]{1,128}$","description":"Whose agents and knowledge to use; the caller's own if left out"},` + askProperties + `,
"calls":{"type":"boolean","description":"Also tell of each call on the way, in mcphud/call of the _meta of progress messages"}},"required":["agent_uri","prompt"]}`
	askOutput = `{"type":"object","properties":{
"status":{"type":"string"},
"response":{"type":"object","properties":{"answer":{"type":"string"},"confidence":{"type":["number","null"]},"tags":{"type":"array","items":{"type":"string"}}},"description":"Valid against the agent's output_schema; system agents answer with answer, confidence and tags"},
"trace_id":{"type":"string"},
"model":{"type":"string","description":"Who answered: a model, sampling:MODEL for the client's own, or extractive for passages quoted without any model"}},
"required":["status","response","trace_id","model"]}`
)

func (r *Registry) askTools() []server.ServerTool {
	tools := []server.ServerTool{
		kit.Tool("ask_agent", "Ask an agent",
			"Runs an agent on a prompt. A configured model answers, else the client's own by sampling, else system agents quote the knowledge base; the result's model says which.",
			kit.Additive, kit.Args(r.ask), askInput, askOutput),
		kit.Tool("ask_agent_stream", "Ask an agent, streaming",
			"Like ask_agent, and sends the answer in pieces as progress messages while it is made, if the call has a progress token; put together they are response.answer of the result (the whole response as JSON where the agent's schema has no answer in words).",
			kit.Additive, kit.Args(r.askStreaming), streamInput, askOutput),
	}
	// As a task it would end its stream in the middle of the answer. Who wants a task has ask_agent.
	tools[1].Tool.Execution = &mcp.ToolExecution{TaskSupport: mcp.TaskSupportForbidden}
	return tools
}

// question is one call of ask_agent.
type question struct {
	req    mcp.CallToolRequest
	tenant string
	agent  *Agent
	trace  string
	out    *stream // nil if the answer is wanted in one piece

	Tenant  string `json:"tenant_id"`
	Agent   string `json:"agent_uri"`
	Prompt  string `json:"prompt"`
	User    string `json:"user_id"`
	Session string `json:"session_id"`
	Model   string `json:"model"`
	History []said `json:"history"`
	Calls   bool   `json:"calls"` // whether the client wants to know what is called on the way
}

// answer is what a back end found: JSON that fits the agent's schema, and who said so.
type answer struct {
	response json.RawMessage
	model    string
}

// refusal is why an agent that exists did not answer; it becomes a result with isError.
type refusal struct {
	message string
	model   string // the back end that failed, "" if there was none
}

// Error is the message.
func (r *refusal) Error() string { return r.message }

func refuse(model, format string, args ...any) error {
	return &refusal{message: fmt.Sprintf(format, args...), model: model}
}

type envelope struct {
	Status   string          `json:"status"`
	Message  string          `json:"message,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	Trace    string          `json:"trace_id"`
	Model    string          `json:"model,omitempty"`
}

type depthKey struct{}

func (r *Registry) askStreaming(ctx context.Context, req mcp.CallToolRequest, q question) (*mcp.CallToolResult, error) {
	q.out = &stream{ctx: ctx, req: req}
	q.Tenant = cmp.Or(q.Tenant, kit.TenantOf(ctx))
	return r.ask(ctx, req, q)
}

func (r *Registry) ask(ctx context.Context, req mcp.CallToolRequest, asked question) (*mcp.CallToolResult, error) {
	q := &asked
	q.req = req
	if err := r.prepare(ctx, q); err != nil {
		return nil, err
	}
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxDepth {
		return q.result(nil, refuse("", "the chain of agents is longer than %d; ask the last one directly", maxDepth))
	}
	attributes := map[string]string{"agent.uri": q.agent.URI, "mcp.tenant_id": q.tenant}
	for name, value := range map[string]string{"mcp.user_id": cmp.Or(q.User, kit.Caller(ctx).User), "agent.session_id": q.Session} {
		if value != "" {
			attributes[name] = text.Clip(value, 200)
		}
	}
	ctx, done := r.o.Trace(context.WithValue(ctx, depthKey{}, depth+1), "agent.run", attributes)
	a, again, err := r.run(ctx, q)
	done(err)
	if again != nil {
		return again, nil
	}
	return q.result(a, err)
}

// prepare checks the arguments and finds the agent.
func (r *Registry) prepare(ctx context.Context, q *question) (err error) {
	if q.tenant, err = kit.Tenant(ctx, q.Tenant); err != nil {
		return err
	}
	caller := kit.Caller(ctx)
	if caller.User != "" && q.User != "" && caller.User != q.User {
		return kit.Invalid("user_id", "is not the token's user; use that user's id")
	}
	if err := q.checkHistory(); err != nil {
		return err
	}
	ref, ok := parseReference(q.Agent)
	if !ok {
		return kit.Invalid("agent_uri", "names no agent; "+forms)
	}
	q.agent, err = r.find(ctx, q.tenant, cmp.Or(q.User, caller.User), ref)
	switch {
	case errors.Is(err, errAmbiguous):
		return kit.Invalid("agent_uri", "is ambiguous: several users have an agent of this name; write user/USER/NAME")
	case err != nil:
		return unreadable(err)
	case q.agent == nil:
		return jsonrpc.Errorf(jsonrpc.KindAgentNotFound, "Agent not found: %s", text.Clip(q.Agent, 200)).With("field", "agent_uri")
	}
	if q.trace = caller.Trace; q.trace == "" {
		var id [16]byte
		_, _ = rand.Read(id[:]) // never fails
		q.trace = hex.EncodeToString(id[:])
	}
	return nil
}

// run lets the first back end that there is answer. again is the result that asks the client for more before the answer
// can be had.
func (r *Registry) run(ctx context.Context, q *question) (a *answer, again *mcp.CallToolResult, err error) {
	switch {
	case r.chat != nil:
		a, err = r.converse(ctx, q)
	case canSample(ctx):
		a, again, err = r.sample(ctx, q)
	case q.agent.Extract != "":
		a, err = r.extract(ctx, q)
	default:
		err = refuse("", "no model configured: %s needs one. Configure an OpenAI-compatible endpoint for this server, or use a client that offers sampling; "+
			"the agents of system-agents://list answer without a model", q.agent.FullName)
	}
	if err != nil || again != nil || q.out == nil {
		return a, again, err
	}
	err = q.out.finish(q.agent, a)
	return a, nil, err
}

// result makes of an answer or an error what the client gets.
func (q *question) result(a *answer, err error) (*mcp.CallToolResult, error) {
	var no *refusal
	switch {
	case errors.As(err, &no):
		return kit.ErrorJSON(envelope{Status: "error", Message: no.message, Trace: q.trace, Model: no.model})
	case err != nil:
		return nil, err
	}
	return kit.JSON(envelope{Status: "success", Response: a.response, Trace: q.trace, Model: a.model})
}

// instructions are the system prompt of a model that answers for an agent.
func (a *Agent) instructions() string {
	return a.Description + "\n\nAnswer with one JSON object that is valid against this JSON Schema, and with nothing else:\n" + string(a.OutputSchema)
}
