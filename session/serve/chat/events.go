package chat

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// maxEvent bounds one line of a stream.
const maxEvent = 1 << 20

// delta is one event of a streamed completion.
type delta struct {
	Model   string
	Error   json.RawMessage
	Choices []struct {
		Delta struct {
			Content   string
			ToolCalls []struct {
				Index    int
				ID       string
				Function Function
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
}

// readStream puts a turn together from server-sent events. r is bounded by the caller.
func readStream(r io.Reader, emit func(string) error) (turn Message, used string, err error) {
	var content strings.Builder
	var calls []ToolCall
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), maxEvent)
	finished := false
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // comments, event names and the blank lines between events
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			finished = true
			break
		}
		var d delta
		if err := json.Unmarshal(data, &d); err != nil {
			return Message{}, "", fmt.Errorf("sent an event that is not JSON: %v", err)
		}
		if len(d.Error) > 0 && string(d.Error) != "null" {
			return Message{}, "", fmt.Errorf("ended its answer with %s", text.Clip(string(d.Error), 300))
		}
		used = cmp.Or(used, d.Model)
		if len(d.Choices) == 0 {
			continue
		}
		choice := d.Choices[0]
		finished = finished || choice.FinishReason != nil
		for _, c := range choice.Delta.ToolCalls {
			if c.Index < 0 || c.Index >= MaxCalls {
				return Message{}, "", fmt.Errorf("wants more than %d tool calls at a time", MaxCalls)
			}
			for len(calls) <= c.Index {
				calls = append(calls, ToolCall{Type: "function"})
			}
			at := &calls[c.Index]
			at.ID = cmp.Or(c.ID, at.ID)
			at.Function.Name += c.Function.Name
			at.Function.Arguments += c.Function.Arguments
		}
		content.WriteString(choice.Delta.Content)
		if err := emit(choice.Delta.Content); err != nil {
			return Message{}, "", err
		}
	}
	if err := lines.Err(); err != nil {
		return Message{}, "", fmt.Errorf("broke off: %s", redact(err))
	}
	if !finished {
		return Message{}, "", errors.New("broke off")
	}
	whole := content.String()
	return Message{Role: "assistant", Content: &whole, ToolCalls: calls}, used, nil
}
