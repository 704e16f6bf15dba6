package agentlet

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/chat"
)

// maxSampled is how many tokens the client's model may answer with.
const maxSampled = 2048

// canSample reports whether the client declared that it has a model, or a person, to answer sampling requests.
func canSample(ctx context.Context) bool {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		return info.ClientCapabilities != nil && info.ClientCapabilities.Sampling != nil
	}
	if server.InProcessSamplingHandlerFromContext(ctx) != nil {
		return true
	}
	session := server.ClientSessionFromContext(ctx)
	who, ok := session.(server.SessionWithClientInfo)
	if !ok || who.GetClientCapabilities().Sampling == nil {
		return false
	}
	_, ok = session.(server.SessionWithSampling)
	return ok
}

// The names of the two requests that a run may make of the client: the second repairs the answer to the first.
const (
	firstRequest  = "answer"
	repairRequest = "repair"
)

// sample lets the client answer. In the legacy era the server asks it and waits; in the modern one the result is the
// request (again), and the client calls once more with its answer. Which request that answers says which try it is, so
// that nothing has to be remembered or signed in between.
func (r *Registry) sample(ctx context.Context, q *question) (a *answer, again *mcp.CallToolResult, err error) {
	if server.IsModernRequest(ctx) && server.InProcessSamplingHandlerFromContext(ctx) == nil {
		given := q.req.Params.InputResponses
		for _, try := range []string{repairRequest, firstRequest} {
			if got := server.SamplingResponse(given, try); got != nil {
				a, text, why := q.readSample(got)
				if why != nil && try == firstRequest {
					return nil, server.NewInputRequestBuilder("").Sample(repairRequest, q.sampling(text, why)).ToolResult(), nil
				}
				return a, nil, unusable(got, why)
			}
		}
		return nil, server.NewInputRequestBuilder("").Sample(firstRequest, q.sampling("", nil)).ToolResult(), nil
	}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil, nil, refuse("sampling", "sampling is only possible during a request")
	}
	var why error
	var content string
	var got *mcp.CreateMessageResult
	for range 2 {
		//lint:ignore SA1019 the legacy era still has it, and clients of it
		got, err = srv.RequestSampling(ctx, mcp.CreateMessageRequest{
			Request:             mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)},
			CreateMessageParams: q.sampling(content, why),
		})
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			return nil, nil, refuse("sampling", "the client did not answer: %s", text.Clip(err.Error(), 300))
		case got == nil:
			return nil, nil, refuse("sampling", "the client answered without content")
		}
		if a, content, why = q.readSample(got); why == nil {
			return a, nil, nil
		}
	}
	return nil, nil, unusable(got, why)
}

func unusable(got *mcp.CreateMessageResult, why error) error {
	if why == nil {
		return nil
	}
	return refuse(sampledBy(got), "the client gave no usable answer in two attempts: %v", why)
}

func sampledBy(got *mcp.CreateMessageResult) string {
	return strings.TrimSuffix("sampling:"+text.Clip(got.Model, 200), ":")
}

// sampling is the request; content and why are the answer that has to be repaired, if there was one.
func (q *question) sampling(content string, why error) mcp.CreateMessageParams {
	say := func(role mcp.Role, s string) mcp.SamplingMessage {
		return mcp.SamplingMessage{Role: role, Content: mcp.NewTextContent(s)}
	}
	p := mcp.CreateMessageParams{
		SystemPrompt: q.agent.instructions(),
		MaxTokens:    maxSampled,
	}
	for _, m := range q.talk() {
		p.Messages = append(p.Messages, say(mcp.Role(m.Role), *m.Content))
	}
	if why != nil {
		p.Messages = append(p.Messages, say(mcp.RoleAssistant, text.Clip(content, maxToolText)), say(mcp.RoleUser, repair(why)))
	}
	if q.Model != "" {
		p.ModelPreferences = &mcp.ModelPreferences{Hints: []mcp.ModelHint{{Name: q.Model}}}
	}
	return p
}

// readSample takes the client's message for an answer. A person may have written words instead of JSON: where the schema
// lets them stand alone, they do.
func (q *question) readSample(got *mcp.CreateMessageResult) (a *answer, text string, why error) {
	text = sampledText(got.Content)
	response, why := q.agent.accept(text)
	if why != nil && !strings.HasPrefix(stripCodeFence(text), "{") {
		if words, ok := q.agent.wrap(text); ok {
			response, why = words, nil
		}
	}
	if why != nil {
		return nil, text, why
	}
	return &answer{response, sampledBy(got)}, text, nil
}

// sampledText is the text of a message whose content is a block or a list of blocks, decoded or not.
func sampledText(content any) string {
	raw, err := json.Marshal(content)
	if err != nil || len(raw) > chat.MaxAnswer {
		return ""
	}
	type block struct{ Text string }
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		var one block
		if json.Unmarshal(raw, &one) != nil {
			return ""
		}
		list = []block{one}
	}
	var b strings.Builder
	for _, x := range list {
		b.WriteString(x.Text)
	}
	return b.String()
}
