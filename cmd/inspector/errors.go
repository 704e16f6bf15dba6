package inspector

import (
	"bytes"
	"encoding/json"
)

// Exit codes of the Inspector.
const (
	ExitUsage       = 1 // wrong usage, and whatever is nothing else
	ExitNoApp       = 2
	ExitAuth        = 3
	ExitUnreachable = 4
	ExitTool        = 5 // a result with isError, or there is no such tool
)

// Error ends a command: its exit code, and what the line on stderr says.
type Error struct {
	Exit    int
	Code    string // such as "auth_required"
	Message string
	Cause   string // "" for none
	Status  int    // of HTTP, 0 for none
	URL     string // "" for none
}

func (e *Error) Error() string { return e.Message }

// Line is the error as one line of JSON, without its line end.
func (e *Error) Line() []byte {
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Cause   string `json:"cause,omitempty"`
		Status  int    `json:"status,omitempty"`
		URL     string `json:"url,omitempty"`
	}
	return marshal(struct {
		Error body `json:"error"`
	}{body{e.Code, e.Message, e.Cause, e.Status, e.URL}})
}

// fail is an error that is none of the named classes.
func fail(message string) error { return &Error{Exit: ExitUsage, Code: "error", Message: message} }

// marshal writes JSON as JavaScript does: with <, > and & as they are.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // none of our own values
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func quote(s string) json.RawMessage { return marshal(s) }
