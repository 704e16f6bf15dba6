package ingress

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// MaxID is how many bytes the id of a request may have as it is written, and a progress token: both are kept while
// a later message may refer to them.
const MaxID = 1 << 10

// Scan is jsonrpc.Scan with errors that can be answered with: *jsonrpc.RequestError. A batch, also of one, is refused
// as such. On an error the Envelope's ID is nil unless it may be sent back.
func Scan(frame []byte) (jsonrpc.Envelope, error) {
	for _, c := range frame {
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if c == '[' && jsonrpc.Valid(frame) == nil {
			return jsonrpc.Envelope{}, jsonrpc.Errorf(jsonrpc.KindBatch, "Batch requests are not supported")
		}
		break
	}
	env, err := jsonrpc.Scan(frame)
	var syntax *jsonrpc.SyntaxError
	switch {
	case err == nil && len(env.ID) > MaxID:
		env.ID = nil
		return env, jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Invalid request: the id is longer than %d bytes", MaxID)
	case err == nil && strings.ContainsFunc(env.Method, unicode.IsControl):
		// A peer that ends text at NUL would read another method than the one that access is decided by.
		return env, jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Invalid request: method contains control characters")
	case err == nil:
		return env, nil
	case errors.As(err, &syntax) && jsonrpc.Valid(frame) == nil:
		return env, jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Invalid request: a message is a JSON object")
	case errors.As(err, &syntax), !utf8.Valid(frame):
		return jsonrpc.Envelope{}, jsonrpc.Errorf(jsonrpc.KindParse, "Parse error: %s", err)
	}
	if env.ID != nil && !validID(env.ID) {
		env.ID = nil
	}
	return env, jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Invalid request: %s", err)
}

// validID reports whether an id may be sent back: a short string or a number.
func validID(id []byte) bool {
	return len(id) <= MaxID && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}
