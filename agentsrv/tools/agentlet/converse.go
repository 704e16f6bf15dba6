package agentlet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/chat"
)

const (
	maxRounds     = 8 // turns of the model in one run
	parallelTools = 4 // tool calls of one turn that run at a time
	maxToolText   = 32 << 10
)

// converse lets the configured model answer: it may use the agent's tools for some rounds, and gets one chance to repair
// an answer that does not fit.
func (r *Registry) converse(ctx context.Context, q *question) (*answer, error) {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, r.chat.Model.Timeout)
	defer cancel()
	asked := cmp.Or(q.Model, r.chat.Model.Name)
	tools := r.offer(q.agent)
	talk := append([]chat.Message{chat.Says("system", q.agent.instructions())}, q.talk()...)
	repaired := false
	start := time.Now()
	for range maxRounds {
		turn, used, err := r.chat.Complete(ctx, chat.Request{Model: asked, Messages: talk, Tools: tools}, q.emitter(repaired))
		switch {
		case outer.Err() != nil:
			return nil, outer.Err() // cancelled, or out of the time that the call has
		case ctx.Err() != nil:
			return nil, refuse(asked, "%s did not answer within %v; ask for less, or give it more time", r.chat.Name(asked), time.Since(start).Round(time.Second))
		case err != nil:
			return nil, refuse(asked, "%s %v; check the configured endpoint", r.chat.Name(asked), err)
		case len(turn.ToolCalls) > chat.MaxCalls:
			return nil, refuse(asked, "%s wants %d tool calls at a time, more than %d", r.chat.Name(asked), len(turn.ToolCalls), chat.MaxCalls)
		}
		turn.Role = "assistant"
		if len(turn.ToolCalls) > 0 {
			talk = append(talk, turn)
			talk = append(talk, r.callAll(ctx, q, turn.ToolCalls)...)
			continue
		}
		content := ""
		if turn.Content != nil {
			content = *turn.Content
		}
		response, err := q.agent.accept(content)
		if err == nil {
			return &answer{response, text.Clip(cmp.Or(used, asked), 200)}, nil
		}
		if repaired {
			return nil, refuse(asked, "%s gave no usable answer in two attempts: %v", r.chat.Name(asked), err)
		}
		repaired = true
		talk = append(talk, chat.Says("assistant", content), chat.Says("user", repair(err)))
	}
	return nil, refuse(asked, "%s gave no answer after %d rounds of tool calls; ask for less at a time", r.chat.Name(asked), maxRounds)
}

// emitter passes on the words of an answer as they arrive; nil if the answer is wanted in one piece. A repaired answer
// does not stream: what came of the first one is with the client.
func (q *question) emitter(repaired bool) func(string) error {
	if q.out == nil || repaired || !q.agent.answersInWords() {
		return nil
	}
	return (&answerText{emit: q.out.write}).write
}

// offer describes the agent's tools to the model. tenant_id is left out of their parameters: it is not the model's to choose.
func (r *Registry) offer(a *Agent) []chat.Tool {
	var all []chat.Tool
	for _, name := range a.Tools {
		t, ok := r.o.Lookup(name)
		if !ok {
			continue
		}
		schema, _ := parameters(t)
		delete(schema.properties, "tenant_id")
		schema.all["properties"] = schema.properties
		if req, ok := schema.all["required"].([]any); ok {
			schema.all["required"] = slices.DeleteFunc(req, func(v any) bool { return v == "tenant_id" })
		}
		raw, err := kit.Marshal(schema.all)
		if err != nil {
			continue
		}
		spec := chat.Tool{Type: "function"}
		spec.Function.Name, spec.Function.Description, spec.Function.Parameters = t.Name, t.Description, raw
		all = append(all, spec)
	}
	return all
}

type inputSchema struct {
	all        map[string]any
	properties map[string]any
}

// parameters is a tool's input schema, and whether the tool works for a tenant.
func parameters(t mcp.Tool) (s inputSchema, tenant bool) {
	raw := t.RawInputSchema
	if raw == nil {
		raw, _ = json.Marshal(t.InputSchema)
	}
	if json.Unmarshal(raw, &s.all) != nil || s.all == nil {
		s.all = map[string]any{"type": "object"}
	}
	if s.properties, _ = s.all["properties"].(map[string]any); s.properties == nil {
		s.properties = map[string]any{}
	}
	_, tenant = s.properties["tenant_id"]
	return s, tenant
}

// callAll runs the tool calls of one turn at the same time, and answers them in order.
func (r *Registry) callAll(ctx context.Context, q *question, calls []chat.ToolCall) []chat.Message {
	out := make([]chat.Message, len(calls))
	slots := make(chan struct{}, parallelTools)
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ended := q.began(c.Function.Name, c.Function.Arguments)
			result, err := r.callTool(ctx, q, c.Function)
			if err == nil {
				ended(result, false)
			} else {
				ended(err.Error(), true)
				result = "error: " + err.Error()
			}
			out[i] = chat.Says("tool", text.Clip(result, maxToolText))
			out[i].ToolCallID = c.ID
		})
	}
	wg.Wait()
	return out
}

// callTool runs one tool for a model; an agent's tools are all that it gets, for the tenant that asked.
func (r *Registry) callTool(ctx context.Context, q *question, f chat.Function) (string, error) {
	if !slices.Contains(q.agent.Tools, f.Name) {
		return "", fmt.Errorf("refused: this agent may not use the tool %q; its tools are: %s", text.Clip(f.Name, 100), cmp.Or(strings.Join(q.agent.Tools, ", "), "none"))
	}
	tool, ok := r.o.Lookup(f.Name)
	if !ok {
		return "", fmt.Errorf("the tool %q was removed", f.Name)
	}
	args := map[string]json.RawMessage{}
	if strings.TrimSpace(f.Arguments) != "" {
		if err := json.Unmarshal([]byte(f.Arguments), &args); err != nil || args == nil {
			return "", errors.New("the arguments are not a JSON object")
		}
	}
	if _, scoped := parameters(tool); scoped {
		tenant, err := json.Marshal(q.tenant)
		if err != nil {
			return "", err
		}
		args["tenant_id"] = tenant
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	res, err := r.o.Call(ctx, f.Name, raw)
	switch {
	case err != nil:
		return "", err
	case res.NeedsInput():
		return "", errors.New("the tool needs user input, which an agent cannot give")
	case res.IsError:
		return "", errors.New(resultText(res))
	}
	return resultText(res), nil
}

// resultText is what a model can read of a tool's result.
func resultText(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if t, ok := c.(mcp.TextContent); ok {
			b.WriteString(t.Text)
			continue
		}
		fmt.Fprintf(&b, "[%T is left out: only text can be read]", c)
	}
	return b.String()
}
