package inputs

import (
	"bytes"
	"regexp"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
)

// member matches the name of a member in text that need not be JSON.
var member = regexp.MustCompile(`["']?([\w.-]{1,200})["']?\s*[:=]`)

// secretText reports whether a text has a secret in it, by its form or by the name before it.
func secretText(s string) bool {
	if mask.Text(s) != s {
		return true
	}
	for _, m := range member.FindAllStringSubmatch(s, -1) {
		if mask.Secret(m[1]) {
			return true
		}
	}
	return false
}

// withoutSecrets is a JSON value without the members of objects that hold a secret, by their name ("api_key") or by the
// form of their value (a well-known token, user info in a URL). An array with a secret in it goes as a whole, since the
// place of its items means something. ok is false if nothing is left. All other bytes stay as they are, but for blanks.
func withoutSecrets(value []byte) (out []byte, ok bool) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return nil, false
	}
	switch value[0] {
	case '"':
		s, _ := jsonrpc.String(value)
		return value, mask.Text(s) == s
	case '{':
		out = append(out, '{')
		err := jsonrpc.Members(value, func(name string, member []byte) bool {
			if clean, ok := withoutSecrets(member); ok && !mask.Secret(name) {
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
			if clean, ok = withoutSecrets(item); ok {
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
