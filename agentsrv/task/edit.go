package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// set is obj, which was scanned, with the value of the member that the path leads to.
func set(obj, value []byte, path ...string) []byte {
	obj, _ = jsonrpc.Update(obj, jsonrpc.Set(value, path...)) // fails where there is no place for it
	return obj
}

// withAnswers is the params of a call that goes on with what it asked for.
func withAnswers(params []byte, answers map[string]json.RawMessage, state []byte) []byte {
	raw, err := json.Marshal(answers)
	if err != nil { // they were parts of a frame
		raw = []byte("{}")
	}
	params, _ = jsonrpc.Update(params, jsonrpc.Set(raw, "inputResponses"), jsonrpc.Set(state, "requestState")) // were scanned
	return params
}

// inputRequests returns the inputRequests of a result whose resultType is input_required, by key, and its requestState; nil for another result.
func inputRequests(result []byte) (asks map[string]json.RawMessage, state []byte) {
	if !bytes.Contains(result, []byte(`"input_required"`)) || string(jsonrpc.Get(result, "resultType")) != `"input_required"` {
		return nil, nil
	}
	asks = map[string]json.RawMessage{}
	_ = jsonrpc.Members(jsonrpc.Get(result, "inputRequests"), func(key string, value []byte) bool {
		asks[key] = value
		return true
	})
	return asks, jsonrpc.Get(result, "requestState")
}

// addRelatedTask marks a message as one about a task, as 2025-11-25 demands.
func addRelatedTask(frame []byte, id string) []byte {
	return set(frame, relatedTask(id), "params", "_meta", metaRelatedTask)
}

// relatedTask is the value of that member: {"taskId": id}.
func relatedTask(id string) []byte {
	return fmt.Appendf(nil, `{"taskId":%s}`, jsonrpc.Quote(id))
}

// logLine is what a notification of a handler leaves in the log of its task; nil if nothing. progress is how far the handler is,
// if it says so.
func logLine(e jsonrpc.Envelope) (line []byte, progress string) {
	now := time.Now().UTC().Format(stamp)
	switch e.Method {
	case string(mcp.MethodNotificationMessage):
		var m struct {
			Level, Logger string
			Data          json.RawMessage
		}
		if json.Unmarshal(e.Params, &m) != nil {
			return nil, ""
		}
		text, ok := jsonrpc.String(m.Data)
		if !ok {
			text = string(m.Data)
		}
		return fmt.Appendf(nil, "%s %s %s: %s", now, m.Level, m.Logger, cut(text)), ""
	case string(mcp.MethodNotificationProgress):
		var m struct {
			Progress, Total float64
			Message         string
		}
		if json.Unmarshal(e.Params, &m) != nil {
			return nil, ""
		}
		progress = fmt.Sprint(m.Progress)
		if m.Total > 0 {
			progress += fmt.Sprintf(" of %v", m.Total)
		}
		progress = strings.TrimSpace(progress + " " + cut(m.Message))
		return fmt.Appendf(nil, "%s progress %s", now, progress), progress
	}
	return nil, ""
}

// cut keeps one entry one line, and smaller than the log.
func cut(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text.Clip(s, tailMax/8), "\uFFFD"), "\n", " ")
}
