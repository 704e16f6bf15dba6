package agentlet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/test/require"
)

// human answers sampling requests with the given texts, one after the other; "" declines.
type human struct {
	texts []string
	asked []mcp.CreateMessageRequest
}

func (h *human) CreateMessage(_ context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	h.asked = append(h.asked, r)
	text := h.texts[min(len(h.asked), len(h.texts))-1]
	if text == "" {
		return nil, errors.New("the user said no")
	}
	return &mcp.CreateMessageResult{Model: "human", SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(text)}}, nil
}

// asks runs ask_agent through a client with a human, in one of the eras.
func asks(t *testing.T, r *rig, h *human, legacy bool, agent string) (result struct {
	envelope
	isError bool
},
) {
	t.Helper()
	tr, err := transport.NewStreamableHTTP(r.url)
	require.NoError(t, err)
	options := []client.ClientOption{client.WithSamplingHandler(h)}
	if legacy {
		//lint:ignore SA1019 the legacy era still has it, and clients of it
		options = append(options, client.WithLegacyProtocolOnly())
	} else {
		options = append(options, client.WithProtocolVersion(modern))
	}
	c := client.NewClient(tr, options...)
	defer c.Close()
	require.NoError(t, c.Start(t.Context()))
	var init mcp.InitializeRequest
	if legacy {
		init.Params.ProtocolVersion = "2025-11-25"
	}
	if _, err := c.Initialize(t.Context(), init); err != nil {
		t.Fatal(err)
	}
	var q mcp.CallToolRequest
	q.Params.Name, q.Params.Arguments = "ask_agent", asking(agent, "How many?")
	res, err := c.CallTool(t.Context(), q)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(res.Content[0].(mcp.TextContent).Text), &result.envelope))
	result.isError = res.IsError
	return result
}

func TestT2_TheClientAnswers(t *testing.T) {
	for era, legacy := range map[string]bool{"legacy": true, "modern": false} {
		t.Run(era, func(t *testing.T) {
			r := serve(t, "", Options{})
			r.make(t, "default", "ada", "counter")
			for _, c := range []struct {
				agent string
				texts []string
				want  string
				asked int
			}{
				{"system/researcher", []string{fine}, fine, 1},
				{"system/researcher", []string{"I count 12."}, `{"answer":"I count 12.","confidence":null,"tags":[]}`, 1},
				{"counter", []string{`{"answer":12}`, `{"answer":"12"}`}, `{"answer":"12"}`, 2},
			} {
				h := &human{texts: c.texts}
				got := asks(t, r, h, legacy, c.agent)
				if got.isError || string(got.Response) != c.want || got.Model != "sampling:human" || len(h.asked) != c.asked {
					t.Errorf("%q: asked %d times, %+v %s", c.texts, len(h.asked), got, got.Response)
				}
				if q := h.asked[0]; q.MaxTokens != maxSampled || !strings.Contains(q.SystemPrompt, "JSON Schema") || len(q.Messages) != 1 {
					t.Errorf("%+v", q)
				}
				if c.asked == 2 && len(h.asked[1].Messages) != 3 {
					t.Errorf("the repair: %+v", h.asked[1])
				}
			}
			h := &human{texts: []string{`{"answer":12}`}}
			if got := asks(t, r, h, legacy, "counter"); !got.isError || !strings.Contains(got.Message, "in two attempts") || len(h.asked) != 2 {
				t.Errorf("%d %+v", len(h.asked), got)
			}
		})
	}
	t.Run("declined", func(t *testing.T) {
		r := serve(t, "", Options{})
		if got := asks(t, r, &human{texts: []string{""}}, true, "researcher"); !got.isError || !strings.Contains(got.Message, "the client did not answer") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a configured model comes first", func(t *testing.T) {
		r := serve(t, "", Options{Model: fakeModel(t, replyText(fine)).model()})
		h := &human{texts: []string{"me"}}
		if got := asks(t, r, h, true, "researcher"); got.Model != "tiny-7b" || len(h.asked) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestT2_ModernClientIsAskedInTheResult(t *testing.T) {
	r := serve(t, "", Options{})
	params := map[string]any{
		"name": "ask_agent", "arguments": asking("researcher", "x"),
		"_meta": map[string]any{"io.modelcontextprotocol/clientCapabilities": map[string]any{"sampling": map[string]any{}}},
	}
	first := r.post(t, "", modern, "tools/call", params)
	if first.Result.ResultType != "input_required" || !strings.Contains(string(first.Result.InputRequests[firstRequest]), "sampling/createMessage") {
		t.Fatal(first.raw)
	}
	params["inputResponses"] = map[string]any{firstRequest: map[string]any{"role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": fine}}}}
	if got := r.post(t, "", modern, "tools/call", params); got.answer() != "Forty-two." || got.Result.StructuredContent.Model != "sampling:m" {
		t.Error(got.raw)
	}
	for _, content := range []any{nil, 7, "text", []any{}, []any{1}, map[string]any{"type": "image", "data": "AAAA", "mimeType": "image/png"}} {
		params["inputResponses"] = map[string]any{repairRequest: map[string]any{"role": "assistant", "model": "m", "content": content}}
		if got := r.post(t, "", modern, "tools/call", params); got.Error == nil && !got.Result.IsError {
			t.Errorf("%v: %s", content, got.raw)
		}
	}
}
