package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/tui"
)

// modelSaid is what a language model answered: the form's value.
type modelSaid struct {
	d     *answerDraft
	value json.RawMessage
}

func (v *answer) noModel(c *tui.Ctx) string {
	switch {
	case v.over(c) != "":
		return v.over(c)
	case v.cur.Kind != pending.Sampling:
		return "only sampling asks for a language model"
	case v.model == nil:
		return "no language model is configured"
	}
	return ""
}

// modelTitle says of the model what the status line says of a server.
func (v *answer) modelTitle() string {
	if v.model != nil && v.model.Model.Unverified() {
		return "ask the model (insecure)"
	}
	return "ask the model"
}

// askModel lets the configured model answer. What it says goes into the form, for a person to read before it is sent.
func (v *answer) askModel(c *tui.Ctx) tea.Cmd {
	d, q, model := v.draft, v.cur.Question, v.model
	cmd, _ := c.Go("answer", "ask "+model.Name(model.Model.Name), func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, model.Model.Timeout)
		defer cancel()
		turn, used, err := model.Complete(ctx, chatRequest(q, model.Model.Name), nil)
		if err != nil {
			return nil, fmt.Errorf("%s %w", model.Name(model.Model.Name), err)
		}
		if len(turn.ToolCalls) > chat.MaxCalls {
			return nil, fmt.Errorf("%s wants %d tool calls at a time; answer it yourself", model.Name(model.Model.Name), len(turn.ToolCalls))
		}
		return modelSaid{d, formOfTurn(turn, used)}, nil
	})
	return cmd
}

// filled puts what the model said into the form.
func (v *answer) filled(c *tui.Ctx, m modelSaid) tea.Cmd {
	if err := m.d.form.SetJSON(m.value); err != nil {
		return c.Toast(tui.Failure, "the model's answer does not fit into the form: "+err.Error())
	}
	return tea.Batch(m.d.form.Cmd(), c.FocusPane("form"), c.Toast(tui.Success, "the model answered: "+c.KeyOf("answer.accept")+" sends it"))
}

// formOfTurn is a turn of a model as the value of the form.
func formOfTurn(turn chat.Message, used string) json.RawMessage {
	set := []jsonrpc.Change{jsonrpc.Set([]byte(`"assistant"`), "role"), jsonrpc.Set(jsonrpc.Quote(text.Clip(used, 200)), "model"), jsonrpc.Set([]byte(`"endTurn"`), "stopReason")}
	if turn.Content != nil && *turn.Content != "" {
		set = append(set, jsonrpc.Set(jsonrpc.Quote(*turn.Content), "text"))
	}
	var calls []json.RawMessage
	for _, t := range turn.ToolCalls {
		input := json.RawMessage(t.Function.Arguments)
		if jsonrpc.Valid(input) != nil {
			input = jsonrpc.Quote(t.Function.Arguments) // the form says what is wrong with it
		}
		calls = append(calls, append(append(append(append([]byte(`{"name":`), jsonrpc.Quote(t.Function.Name)...), `,"input":`...), input...), '}'))
	}
	if b, err := json.Marshal(calls); err == nil && calls != nil {
		set = append(set, jsonrpc.Set(b, "tool_use"), jsonrpc.Set([]byte(`"toolUse"`), "stopReason"))
	}
	out, err := jsonrpc.Update([]byte("{}"), set...)
	if err != nil { // strings and valid JSON only
		return []byte("{}")
	}
	return out
}

// chatRequest is a sampling request in the words of a chat API. Pictures and sounds are named, not sent.
func chatRequest(q pending.Question, model string) chat.Request {
	var limits struct {
		MaxTokens     int
		Temperature   *float64
		StopSequences []string
	}
	_ = json.Unmarshal(settingsOnly(q.Params), &limits) // what is not as it should be is left out
	r := chat.Request{Model: model, MaxTokens: limits.MaxTokens, Temperature: limits.Temperature, Stop: limits.StopSequences}
	if s := jsonrpc.GetString(q.Params, "systemPrompt"); s != "" {
		r.Messages = append(r.Messages, chat.Says("system", s))
	}
	_ = jsonrpc.Elements(jsonrpc.Get(q.Params, "messages"), func(m []byte) bool { // no array: nothing was said
		r.Messages = append(r.Messages, turnsOf(m)...)
		return true
	})
	_ = jsonrpc.Elements(jsonrpc.Get(q.Params, "tools"), func(t []byte) bool {
		tool := chat.Tool{Type: "function"}
		tool.Function.Name, tool.Function.Description = jsonrpc.GetString(t, "name"), jsonrpc.GetString(t, "description")
		if tool.Function.Parameters = jsonrpc.Get(t, "inputSchema"); tool.Function.Parameters == nil {
			tool.Function.Parameters = []byte(`{"type":"object"}`)
		}
		r.Tools = append(r.Tools, tool)
		return len(r.Tools) < maxOffered
	})
	return r
}

// settingsOnly is the params without what can be long.
func settingsOnly(params []byte) []byte {
	out, err := jsonrpc.Update(params, jsonrpc.Delete("messages"), jsonrpc.Delete("tools"), jsonrpc.Delete("systemPrompt"))
	if err != nil {
		return []byte("{}")
	}
	return out
}

// turnsOf is one message of the conversation: its texts and calls in one turn, each result of a tool in one of its own.
func turnsOf(m []byte) (out []chat.Message) {
	turn := chat.Says(jsonrpc.GetString(m, "role"), "")
	var said []string
	block := func(b []byte) bool {
		switch kind := jsonrpc.GetString(b, "type"); kind {
		case "text":
			said = append(said, jsonrpc.GetString(b, "text"))
		case "tool_use":
			turn.ToolCalls = append(turn.ToolCalls, chat.ToolCall{
				ID: jsonrpc.GetString(b, "id"), Type: "function",
				Function: chat.Function{Name: jsonrpc.GetString(b, "name"), Arguments: string(jsonrpc.Get(b, "input"))},
			})
		case "tool_result":
			result := chat.Says("tool", string(jsonrpc.Get(b, "content")))
			result.ToolCallID = jsonrpc.GetString(b, "toolUseId")
			out = append(out, result)
		default:
			said = append(said, "["+text.Clip(kind, 40)+"]")
		}
		return true
	}
	content := jsonrpc.Get(m, "content")
	if b := bytes.TrimSpace(content); len(b) > 0 && b[0] == '[' {
		_ = jsonrpc.Elements(content, block) // valid JSON, an array
	} else {
		block(content)
	}
	if whole := strings.Join(said, "\n"); whole != "" || turn.ToolCalls != nil {
		turn.Content = &whole
		out = append(out, turn)
	}
	return out
}
