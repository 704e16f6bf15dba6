package jsonrpc

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kind says which of JSON-RPC's messages a frame is.
type Kind uint8

// The kinds. A frame is Invalid when it breaks a rule of JSON-RPC 2.0 or is not JSON at all.
const (
	Invalid Kind = iota
	Request
	Notification
	Response
	ErrorResponse
)

// String names the kind in lower case, as error messages and filters show it.
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Response:
		return "response"
	case ErrorResponse:
		return "error response"
	}
	return "invalid"
}

// Envelope is what Scan found in one frame. All slices are parts of the frame, with the bytes that were sent.
type Envelope struct {
	Kind   Kind
	ID     []byte // the id as on the wire ("7", "\"a\"", "null"), nil if absent
	Method string // unescaped
	Params []byte // nil if absent, or null
	Result []byte // nil if absent
	Error  []byte // nil if absent
}

// ErrInvalid is wrapped by every error of Scan about a frame that is JSON but not JSON-RPC 2.0; what is not JSON is a *SyntaxError.
var ErrInvalid = errors.New("not a JSON-RPC 2.0 message")

// invalid makes an error that wraps ErrInvalid.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// envelopeKeys are the members that JSON-RPC defines; Scan uses their places in this list.
var envelopeKeys = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

// Scan walks one frame and says what it is. The whole frame is checked to be valid UTF-8 and valid JSON, and its
// envelope against https://www.jsonrpc.org/specification with MCP's narrowing (an id is a string or a number; only an
// error response may have a null id or none). Envelope members must not repeat, nor appear in another letter case;
// other members are allowed and ignored. On error the Envelope still carries what was understood, with Kind Invalid, so
// that a caller can tell whose answer is broken.
func Scan(frame []byte) (Envelope, error) {
	var e Envelope
	var version []byte
	var seen [len(envelopeKeys)]bool
	var broken error
	end, err := members(frame, func(key []byte, start, stop int) bool {
		value := frame[start:stop:stop]
		k, exact := envelopeKey(key)
		if k < 0 {
			return true
		}
		if !exact {
			broken = first(broken, invalid("member %s differs from %q only in letter case", key, envelopeKeys[k]))
			return true
		}
		if seen[k] {
			broken = first(broken, invalid("member %q is given twice", envelopeKeys[k]))
			return true
		}
		seen[k] = true
		switch envelopeKeys[k] {
		case "jsonrpc":
			version = value
		case "id":
			e.ID = value
		case "method":
			m, ok := String(value)
			if !ok {
				broken = first(broken, invalid("method is not a string"))
			}
			e.Method = m
		case "params":
			// A null counts as absent: it carries nothing that a method could read.
			if value[0] != 'n' {
				e.Params = value
			}
			if value[0] != '{' && value[0] != '[' && value[0] != 'n' {
				broken = first(broken, invalid("params is neither an object nor an array"))
			}
		case "result":
			e.Result = value
		case "error":
			e.Error = value
		}
		return true
	})
	if err == nil && !utf8.Valid(frame) {
		err = invalid("the frame is not valid UTF-8")
	}
	if err != nil {
		return e, err
	}
	if i := space(frame, end); i < len(frame) {
		return e, &SyntaxError{Offset: i, Reason: "more text after the message"}
	}
	if broken != nil {
		return e, broken
	}
	if string(version) != `"2.0"` { // the common spelling first: no allocation
		if v, ok := String(version); !ok || v != "2.0" {
			return e, invalid(`member "jsonrpc" must be "2.0"`)
		}
	}
	kind, err := e.classify(seen[2])
	e.Kind = kind
	return e, err
}

// first is a, or b where a is nil.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// classify finds out the kind of a message by the members that it has; method is whether it has one, even if it is "".
func (e *Envelope) classify(method bool) (Kind, error) {
	if e.ID != nil && (e.ID[0] == '{' || e.ID[0] == '[' || e.ID[0] == 't' || e.ID[0] == 'f') {
		return Invalid, invalid("the id is neither a string nor a number")
	}
	null := e.ID != nil && e.ID[0] == 'n'
	switch {
	case method && (e.Result != nil || e.Error != nil):
		return Invalid, invalid("a message with a method has no result or error")
	case method && null:
		return Invalid, invalid("a request's id must not be null")
	case method && e.ID != nil:
		return Request, nil
	case method:
		return Notification, nil
	case e.Result != nil && e.Error != nil:
		return Invalid, invalid("both result and error are present")
	case e.Error != nil && e.Error[0] != '{':
		return Invalid, invalid("error is not an object")
	case e.Error != nil:
		return ErrorResponse, nil
	case e.Result != nil && (e.ID == nil || null):
		return Invalid, invalid("a result without an id answers nothing")
	case e.Result != nil:
		return Response, nil
	}
	return Invalid, invalid("neither method, result nor error is present")
}

// envelopeKey gives the index in envelopeKeys of a quoted member name, or -1; exact is false when only a case fold of
// it matches.
func envelopeKey(quoted []byte) (index int, exact bool) {
	// The common spelling first: no allocation.
	for k, s := range envelopeKeys {
		if len(quoted) == len(s)+2 && string(quoted[1:len(quoted)-1]) == s {
			return k, true
		}
	}
	if len(quoted) > 6*len("jsonrpc")+2 { // longer than any spelling of an envelope key, escaped throughout
		return -1, false
	}
	key := unquote(quoted)
	for k, s := range envelopeKeys {
		if strings.EqualFold(key, s) {
			return k, key == s
		}
	}
	return -1, false
}
