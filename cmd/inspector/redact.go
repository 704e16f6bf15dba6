package inspector

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

var redacted = quote("[redacted]")

// redactAll hides every value of an object.
func redactAll(of json.RawMessage) json.RawMessage {
	out := Pairs{}
	for _, p := range members(of) {
		out.Set(p.Key, redacted)
	}
	return object(out)
}

// object is the object of pairs, also of none.
func object(p Pairs) json.RawMessage {
	if len(p) == 0 {
		return json.RawMessage("{}")
	}
	return p.JSON()
}

// sensitive says whether a name is that of a secret.
func sensitive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "cookie", "secret", "token", "password", "api-key", "apikey"}, func(part string) bool { return strings.Contains(name, part) })
}

// redactSettings hides the secrets of settings.
func redactSettings(set Pairs) Pairs {
	set = slices.Clone(set)
	for _, name := range []string{"headers", "env"} {
		out := []json.RawMessage{}
		_ = jsonrpc.Elements(set.get(name), func(p []byte) bool {
			key, value := jsonrpc.Get(p, "key"), json.RawMessage(jsonrpc.Get(p, "value"))
			if name == "env" || sensitive(str(key)) {
				value = redacted
			}
			out = append(out, Pairs{{"key", key}, {"value", value}}.JSON())
			return true
		})
		set.Set(name, marshal(out))
	}
	set.Set("metadata", redactDeep(set.get("metadata")))
	if set.get("oauthClientSecret") != nil {
		set.Set("oauthClientSecret", redacted)
	}
	return set
}

// redactDeep hides the values of secret names at any depth.
func redactDeep(v json.RawMessage) json.RawMessage {
	switch {
	case strings.HasPrefix(string(v), "{"):
		out := Pairs{}
		for _, p := range members(v) {
			if sensitive(p.Key) {
				out.Set(p.Key, redacted)
			} else {
				out.Set(p.Key, redactDeep(p.Value))
			}
		}
		return object(out)
	case strings.HasPrefix(string(v), "["):
		out := []json.RawMessage{}
		_ = jsonrpc.Elements(v, func(e []byte) bool {
			out = append(out, redactDeep(e))
			return true
		})
		return marshal(out)
	}
	return v
}
