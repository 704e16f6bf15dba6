package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Codes that JSON-RPC 2.0 and the Model Context Protocol define.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	// Of the Model Context Protocol, with the revision that has them.
	CodeResourceNotFound   = -32002 // until 2025-11-25; -32602 since
	CodeHeaderMismatch     = -32020 // 2026-07-28
	CodeMissingCapability  = -32021 // 2026-07-28
	CodeUnsupportedVersion = -32022 // 2026-07-28
	CodeURLElicitation     = -32042 // 2025-11-25
)

// Error is a JSON-RPC error object, exact: the code as sent, data as the bytes that arrived.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"` // nil when the server sent none
}

// Error gives message and code in one line.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// ParseError reads the error member of an error response. An error object without an integral code is an error itself;
// what could be read is returned with it.
func ParseError(raw []byte) (*Error, error) {
	e := new(Error)
	var bad error
	coded := false
	err := Members(raw, func(key string, value []byte) bool {
		switch key {
		case "code":
			n, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				bad = invalid("the error's code is not an integer: %.40s", value)
			}
			e.Code, coded = n, true
		case "message":
			e.Message, _ = String(value)
		case "data":
			e.Data = value
		}
		return true
	})
	if err == nil && !coded {
		err = invalid("the error has no code")
	}
	return e, first(err, bad)
}

// newMessage begins a frame that will have size bytes beside its fixed text.
func newMessage(size int) []byte { return append(make([]byte, 0, size+48), `{"jsonrpc":"2.0"`...) }

// Canonical is a value in the one spelling that it shares with equal ones: members sorted, no white space. Numbers stay as they are
// written, since what is equal as a float64 may not be for the server. An empty value stays empty. Members of one name and text that
// is not UTF-8 are errors.
func Canonical(value []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(value))
	if len(v) == 0 {
		return nil, nil
	}
	err := v.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	return v, err
}

// Quote gives s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func Quote(s string) []byte {
	out, _ := jsontext.AppendQuote(nil, s) // its only error is text that is not UTF-8, already replaced
	return out
}

// NewRequest builds a request frame. id and params are JSON as they shall be sent; nil params are left out.
func NewRequest(id []byte, method string, params []byte) []byte {
	b := append(newMessage(len(id)+len(method)+len(params)), `,"id":`...)
	return message(append(b, id...), method, params)
}

// NewNotification builds a notification frame; nil params are left out.
func NewNotification(method string, params []byte) []byte {
	return message(newMessage(len(method)+len(params)), method, params)
}

// message ends a request or notification that b begins.
func message(b []byte, method string, params []byte) []byte {
	b = append(append(b, `,"method":`...), Quote(method)...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// NewResult builds the answer to request id; nil becomes the empty object, which is MCP's empty result.
func NewResult(id, result []byte) []byte {
	if result == nil {
		result = []byte("{}")
	}
	b := append(newMessage(len(id)+len(result)), `,"id":`...)
	b = append(append(b, id...), `,"result":`...)
	return append(append(b, result...), '}')
}

// NewError builds an error response to request id (nil becomes null, for a request whose id could not be read). data is
// JSON; nil leaves the member out.
func NewError(id []byte, code int64, msg string, data []byte) []byte {
	if id == nil {
		id = []byte("null")
	}
	b := append(newMessage(len(id)+len(msg)+len(data)), `,"id":`...)
	b = append(append(b, id...), `,"error":{"code":`...)
	b = append(append(strconv.AppendInt(b, code, 10), `,"message":`...), Quote(msg)...)
	if data != nil {
		b = append(append(b, `,"data":`...), data...)
	}
	return append(b, "}}"...)
}
