package userconfig

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// SchemaID identifies the JSON Schema of config.yaml.
const SchemaID = "https://raw.githubusercontent.com/mcphud/mcphud/main/session/config/userconfig/config.schema.json"

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema is the JSON Schema (2020-12) of config.yaml.
func Schema() []byte {
	root := object{{"$schema", object{{"type", "string"}}}}
	for i := 0; i < len(table); {
		s := &table[i]
		name, _, inBlock := strings.Cut(s.Key, ".")
		if !inBlock {
			root = append(root, member{s.Key, s.schema()})
			i++
			continue
		}
		var inner object
		for ; i < len(table) && strings.HasPrefix(table[i].Key, name+"."); i++ {
			inner = append(inner, member{table[i].name(), table[i].schema()})
		}
		root = append(root, member{name, object{{"type", nullable("object")}, {"additionalProperties", false}, {"properties", inner}}})
	}
	b, err := json.MarshalIndent(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", SchemaID},
		{"title", "config.yaml of mcphud"},
		{"type", nullable("object")},
		{"additionalProperties", false},
		{"properties", root},
	}, "", "  ")
	if err != nil {
		panic("userconfig: the schema: " + err.Error()) // it is made of constants
	}
	return append(b, '\n')
}

// nullable is a type whose member may also be left empty, which gives nothing.
func nullable(t string) []string { return []string{t, "null"} }

// schema is that of the setting's value.
func (s *Setting) schema() object {
	o := object{{"description", strings.ReplaceAll(s.Help, "`", "")}}
	add := func(key string, v any) { o = append(o, member{key, v}) }
	texts := func(form object) {
		add("type", []string{"string", "array", "null"})
		add("items", form)
	}
	switch s.Kind {
	case Choice:
		add("enum", append(append([]any{}, anyOf(s.choices)...), nil))
	case Switch:
		add("type", nullable("boolean"))
	case Number:
		add("type", nullable("integer"))
		add("minimum", s.min)
		add("maximum", s.max)
	case Duration:
		add("type", nullable("string"))
		add("pattern", `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`)
	case Size:
		add("type", []string{"string", "integer", "null"})
		add("pattern", `^[0-9]+ *(B|KB|MB|GB|KiB|MiB|GiB)?$`)
		add("minimum", 1)
	case URL:
		add("type", nullable("string"))
		add("pattern", "^https?://")
	case Proxy:
		add("type", nullable("string"))
		add("pattern", "^(none$|https?://|socks5h?://)")
	case Words:
		texts(object{{"type", "string"}, {"pattern", "[^* ]"}})
	case Patterns:
		texts(object{{"type", "string"}, {"format", "regex"}})
	case Bindings:
		add("type", nullable("object"))
		add("additionalProperties", object{{"type", []string{"string", "array", "null"}}, {"items", object{{"type", "string"}}}})
	default:
		add("type", nullable("string"))
		add("minLength", 1)
	}
	if s.Default != "" {
		add("default", s.defaultValue())
	}
	return o
}

func anyOf(words []string) (all []any) {
	for _, w := range words {
		all = append(all, w)
	}
	return all
}

// defaultValue is the default as JSON has it.
func (s *Setting) defaultValue() any {
	switch s.Kind {
	case Switch:
		return s.Default == "true"
	case Number:
		n, _ := strconv.Atoi(s.Default) // as Default read it
		return n
	}
	return s.Default
}
