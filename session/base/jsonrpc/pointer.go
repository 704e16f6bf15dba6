package jsonrpc

import "strings"

// Both replace in one pass, so that ~01 is the name ~1 and not a slash (RFC 6901, section 4).
var (
	toToken   = strings.NewReplacer("~", "~0", "/", "~1")
	fromToken = strings.NewReplacer("~0", "~", "~1", "/")
)

// EscapeToken is the name of a member, or an index, as a step of a JSON pointer (RFC 6901), without the slash before it.
func EscapeToken(name string) string { return toToken.Replace(name) }

// UnescapeToken is the name that a step of a JSON pointer has.
func UnescapeToken(step string) string { return fromToken.Replace(step) }
