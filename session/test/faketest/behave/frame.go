package behave

import (
	"encoding/json"
	"strconv"
	"strings"
)

// request is what the server needs of a frame that came in.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Cursor          *string         `json:"cursor"`
		Name            string          `json:"name"`
		URI             string          `json:"uri"`
		Arguments       json.RawMessage `json:"arguments"`
		RequestID       json.RawMessage `json:"requestId"`
		Meta            struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// quote makes a JSON string of s.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // strings always marshal
	}
	return string(b)
}

// result frames an answer; body is the JSON of the result.
func result(id json.RawMessage, body string) string {
	return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + body + "}"
}

// failure frames a JSON-RPC error; data is JSON, "" for none.
func failure(id json.RawMessage, code int, message, data string) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + quote(message))
	if data != "" {
		b.WriteString(`,"data":` + data)
	}
	b.WriteString("}}")
	return b.String()
}

// notification frames a notification; params is JSON.
func notification(method, params string) string {
	return `{"jsonrpc":"2.0","method":` + quote(method) + `,"params":` + params + "}"
}

// text is a tool result of one text.
func text(s string) string { return `{"content":[{"type":"text","text":` + quote(s) + `}]}` }
