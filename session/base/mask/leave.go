package mask

import (
	"bytes"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Without is a JSON value without the members of objects that are secret, for filling in a form. An array with a secret in it goes as a
// whole, since the place of its items means something. ok is false if nothing is left. All other bytes stay as they are, but for
// blanks.
func (r Rule) Without(value []byte) (out []byte, ok bool) {
	if r.whole {
		return nil, false
	}
	return r.removeSecrets(value, 0)
}

// removeSecrets is Without for a value that is depth levels deep. What is deeper than maxDepth is removed: it was not looked into.
func (r Rule) removeSecrets(value []byte, depth int) (out []byte, ok bool) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || depth > maxDepth {
		return nil, false
	}
	switch value[0] {
	case '"':
		s, _ := jsonrpc.String(value)
		_, hidden := r.text(s)
		return value, !hidden
	case '{':
		out = append(out, '{')
		err := jsonrpc.Members(value, func(name string, member []byte) bool {
			if clean, ok := r.removeSecrets(member, depth+1); ok && !r.isSecretName(name) {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(append(append(out, jsonrpc.Quote(name)...), ':'), clean...)
			}
			return true
		})
		return append(out, '}'), err == nil
	case '[':
		ok = true
		out = append(out, '[')
		err := jsonrpc.Elements(value, func(item []byte) bool {
			var clean []byte
			if clean, ok = r.removeSecrets(item, depth+1); ok {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(out, clean...)
			}
			return ok
		})
		return append(out, ']'), ok && err == nil
	}
	return value, true
}
