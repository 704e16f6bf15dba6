package setup

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Formats of the schema's strings: a form offers files for both, and hides what has the third.
const (
	FormatFile      = "file-path"
	FormatDirectory = "directory-path"
	FormatSecret    = "password"
)

// Schema is a JSON Schema of the object that [Given] reads, members in the order of the inputs. What is fixed is not in it.
func Schema(in []Input) []byte {
	var b bytes.Buffer
	var required []string
	b.WriteString(`{"type":"object","additionalProperties":false,"properties":{`)
	first := true
	for _, i := range in {
		if i.Fixed != "" {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(encode(i.Name))
		b.WriteByte(':')
		b.Write(encode(i.schema()))
		if i.Required && i.Default == "" {
			required = append(required, i.Name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		b.WriteString(`,"required":`)
		b.Write(encode(required))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// property is the schema of one input.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Format      string          `json:"format,omitempty"`
	WriteOnly   bool            `json:"writeOnly,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	MinLength   int             `json:"minLength,omitempty"`
	MinItems    int             `json:"minItems,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Examples    []string        `json:"examples,omitempty"`
	Items       *property       `json:"items,omitempty"`
}

func (i Input) schema() property {
	p := property{Type: "string", Enum: i.Choices, WriteOnly: i.Secret}
	switch {
	case len(i.Choices) > 0:
	case i.Kind == Number:
		p.Type, p.Minimum, p.Maximum = "number", i.Min, i.Max
	case i.Kind == Boolean:
		p.Type = "boolean"
	case i.Secret:
		p.Format = FormatSecret
	case i.Kind == File:
		p.Format = FormatFile
	case i.Kind == Directory:
		p.Format = FormatDirectory
	}
	if p.Type == "string" {
		if i.Required && len(i.Choices) == 0 && (!i.Secret || i.Default == "") {
			p.MinLength = 1
		}
		if i.Placeholder != "" {
			p.Examples = []string{i.Placeholder}
		}
	}
	if i.Repeated {
		item := p
		p = property{Type: "array", Items: &item}
		if i.Required && i.Default == "" {
			p.MinItems = 1
		}
	}
	p.Title, p.Description = i.Title, i.Description
	if i.Secret && i.Default != "" { // its field shows nothing, and this is public
		p.Description = strings.TrimSpace("Left empty, it is " + strconv.Quote(i.Default) + ". " + p.Description)
	}
	if i.Default != "" && !i.Secret {
		p.Default = i.literal()
	}
	return p
}

// literal is the default as JSON; nil where it is not what the input takes.
func (i Input) literal() json.RawMessage {
	list := i.split(i.Default)
	out := make([]json.RawMessage, 0, len(list))
	for _, v := range list {
		clean, why := i.check(v)
		if why != "" {
			return nil
		}
		if (i.Kind == Number || i.Kind == Boolean) && len(i.Choices) == 0 && json.Valid([]byte(clean)) {
			out = append(out, json.RawMessage(clean))
			continue
		}
		out = append(out, encode(clean))
	}
	if i.Repeated {
		return encode(out)
	}
	if len(out) == 0 {
		return nil
	}
	return out[0]
}

// Given is what an object of a form's values gives, for [Read].
func Given(object []byte) (map[string]string, error) {
	given := map[string]string{}
	if len(object) == 0 {
		return given, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	for name, raw := range members {
		if len(raw) > 0 && raw[0] == '[' {
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil {
				return nil, err
			}
			texts := make([]string, len(list))
			for n, item := range list {
				texts[n] = plain(item)
			}
			given[name] = string(encode(texts))
			continue
		}
		given[name] = plain(raw)
	}
	return given, nil
}

// plain is a value of JSON as text.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil { // null too, which says nothing
		return s
	}
	return string(raw)
}

// Pair takes KEY=VALUE apart and adds it to what is given: the second value of a key makes a list of them.
func Pair(given map[string]string, pair string) bool {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || name == "" {
		return false
	}
	old, twice := given[name]
	if !twice {
		given[name] = value
		return true
	}
	var list []string
	if json.Unmarshal([]byte(old), &list) != nil {
		list = []string{old}
	}
	given[name] = string(encode(append(list, value)))
	return true
}

// encode is v as JSON without the escapes for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // texts and numbers only: NaN alone has no JSON
		return []byte(strconv.Quote(err.Error()))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Object is what was given as the value of a form, the inverse of [Given]. What an input does not take is left out.
func Object(in []Input, given map[string]string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, i := range in {
		i.Default = given[i.Name]
		raw := i.literal()
		if i.Default == "" && i.Required && i.Repeated && i.Fixed == "" && i.Kind != Number && i.Kind != Boolean && len(i.Choices) == 0 {
			i.Default, raw = "one", encode([]string{""}) // its first item is there to be typed into
		}
		if i.Fixed != "" || i.Default == "" || raw == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(encode(i.Name))
		b.WriteByte(':')
		b.Write(raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}
