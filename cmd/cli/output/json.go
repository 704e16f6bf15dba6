package output

import (
	"bytes"
	"encoding/json"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/safe"
)

// Marshal encodes mcphud's own output as JSON. Embedded raw JSON stays as it was sent: HTML characters are not escaped.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// MarshalForeign is marshal for what others wrote about themselves, wherever it goes: characters that a terminal obeys, or that hide what
// is written from its reader, become JSON escapes of the same value.
func MarshalForeign(v any) (json.RawMessage, error) {
	b, err := Marshal(v)
	return Escaped(b), err
}

// OneCell is the first line of s, cut, safe for a terminal.
func OneCell(s string) string { return safe.Line(text.FirstLine(s), 60) }
