package inspector

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Pair is one KEY=VALUE, its value as it goes onto the wire.
type Pair struct {
	Key   string
	Value json.RawMessage
}

// Pairs are what an option that may be given several times collected. A key that is given again keeps its place.
type Pairs []Pair

// Set gives a key its value.
func (p *Pairs) Set(key string, value json.RawMessage) {
	if i := slices.IndexFunc(*p, func(q Pair) bool { return q.Key == key }); i >= 0 {
		(*p)[i].Value = value
		return
	}
	*p = append(*p, Pair{key, value})
}

func (p Pairs) get(key string) json.RawMessage {
	for _, q := range p {
		if q.Key == key {
			return q.Value
		}
	}
	return nil
}

// JSON is the object of the pairs, nil where there are none.
func (p Pairs) JSON() json.RawMessage {
	if len(p) == 0 {
		return nil
	}
	b := []byte{'{'}
	for i, q := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(q.Key)...), ':'), q.Value...)
	}
	return append(b, '}')
}

// text are the pairs of an option whose values are text, as a map.
func (p Pairs) text() map[string]string {
	if len(p) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, q := range p {
		var s string
		_ = json.Unmarshal(q.Value, &s) // Set was given a string
		m[q.Key] = s
	}
	return m
}

func str(raw json.RawMessage) string { s, _ := jsonrpc.String(raw); return s }

// members are those of an object in their order, nil for what is none.
func members(raw json.RawMessage) (p Pairs) {
	_ = jsonrpc.Members(raw, func(key string, value []byte) bool { // what is not an object has none
		p.Set(key, value)
		return true
	})
	return p
}

// object is the object of pairs, also of none.
func object(p Pairs) json.RawMessage {
	if len(p) == 0 {
		return json.RawMessage("{}")
	}
	return p.JSON()
}

func isObject(v []byte) bool { return strings.HasPrefix(string(v), "{") }
