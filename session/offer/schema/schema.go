package schema

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Schema is one parsed JSON Schema document. Fields made from it share caches and belong to one goroutine; Validate,
// ValidateJSON and Unchecked may be called from others at the same time.
type Schema struct {
	doc    *Value // nil for the schema that allows everything, and for one that could not be read
	raw    []byte // as it came; the owner of the bytes does not change them
	err    error  // why it could not be read; then doc is nil and every value is accepted
	legacy bool   // draft-07 or older: keywords next to $ref do not count
	root   *Field
	fields int // made so far, conditions and variants included; never lowered, so that MaxFields bounds the whole life

	refsOnce sync.Once // Validate may come first, from another goroutine than the fields'
	refs     refIndex  // only read once it is made

	notesMu sync.Mutex // Notes is asked while fields are made
	notes   []string   // each once, at most maxNotes

	compiler compiler
	patterns sync.Map // of string to compiled: those that fields and conditions ask for, as many as the schema has
}

// Parse reads a schema. It never fails: a text that is not JSON, is not a schema, or is beyond the limits gives a Schema
// whose root field takes any JSON, and Err and Notes tell why. The bytes are kept and must not be changed afterwards.
// An empty raw is the schema that allows everything.
func Parse(raw []byte) *Schema {
	s := &Schema{raw: raw}
	switch {
	case len(raw) > MaxSchemaBytes:
		s.err = fmt.Errorf("the schema has %d bytes, more than the %d that are expanded; edit the value as raw JSON", len(raw), MaxSchemaBytes)
	default:
		doc, err := ParseValue(raw)
		if err != nil {
			s.err = fmt.Errorf("the schema is not valid JSON (%w); edit the value as raw JSON", err)
		} else {
			s.doc = doc
		}
	}
	switch s.doc.Kind() {
	case Unset, Object, Bool:
	default:
		s.err = fmt.Errorf("the schema is a JSON %s, not an object or boolean; edit the value as raw JSON", s.doc.Kind())
		s.doc = nil
	}
	if s.err != nil {
		s.note("%v", s.err)
	}
	// By its name, as servers write this URI with and without #, with http and https. No $schema is 2020-12, as in
	// https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage.
	uri := s.doc.Get("$schema").Text()
	for _, old := range []string{"draft-03", "draft-04", "draft-06", "draft-07"} {
		s.legacy = s.legacy || strings.Contains(uri, old)
	}
	s.root = s.newField([]part{{node: s.doc}}, nil, 0)
	return s
}

// ParseArguments is Parse for the inputSchema of a tool, whose arguments are an object by the protocol: a schema that
// leaves the type open, or none at all, is filled in as an object with keys of one's own.
func ParseArguments(raw []byte) *Schema {
	s := Parse(raw)
	if s.err == nil && s.root.Shape() == ShapeAny {
		object := ObjectValue(Member{Name: "type", Value: StringValue("object")})
		s.root = s.newField([]part{{node: s.doc}, {node: object}}, nil, 0)
	}
	return s
}

// Argument is one string that a prompt or a URI template takes.
type Argument struct {
	// Name is the key of the argument. Title and Description are for people; "" for none.
	Name, Title, Description string
	// Required says that a server may refuse to go on without it; the protocol has no defaults for them.
	Required bool
}

// FromArguments makes the schema of an object of strings, in the order given: what prompts/get and URI templates take.
func FromArguments(args []Argument) *Schema {
	var props, required []Member
	for _, a := range args {
		kids := []Member{{Name: "type", Value: StringValue("string")}}
		if a.Title != "" {
			kids = append(kids, Member{Name: "title", Value: StringValue(a.Title)})
		}
		if a.Description != "" {
			kids = append(kids, Member{Name: "description", Value: StringValue(a.Description)})
		}
		props = append(props, Member{Name: a.Name, Value: ObjectValue(kids...)})
		if a.Required {
			required = append(required, Member{Value: StringValue(a.Name)})
		}
	}
	doc := ObjectValue(
		Member{Name: "type", Value: StringValue("object")},
		Member{Name: "properties", Value: ObjectValue(props...)},
		Member{Name: "required", Value: &Value{kind: Array, kids: required}},
		Member{Name: "additionalProperties", Value: BoolValue(false)},
	)
	return Parse(doc.JSON())
}

// Root returns the field of the whole value, never nil. It is made once, and belongs to the goroutine that fills it in.
func (s *Schema) Root() *Field { return s.root }

// Raw returns the schema as it was given, to be shown; the slice must not be changed.
func (s *Schema) Raw() []byte { return s.raw }

// Err says why the schema could not be read at all, nil if it could.
func (s *Schema) Err() error { return s.err }

// Notes lists what of the schema could not be honoured in the fields made so
// far (a remote $ref, a limit), one sentence each, for people.
func (s *Schema) Notes() []string {
	s.notesMu.Lock()
	defer s.notesMu.Unlock()
	return slices.Clone(s.notes)
}

// maxNotes bounds what is remembered for people: nobody reads a hundred, and each subschema of a hostile schema may add one.
const maxNotes = 100

// note remembers a sentence once, and returns it for the field that it is about.
func (s *Schema) note(format string, args ...any) string {
	n := fmt.Sprintf(format, args...)
	s.notesMu.Lock()
	defer s.notesMu.Unlock()
	if !slices.Contains(s.notes, n) && len(s.notes) < maxNotes {
		s.notes = append(s.notes, n)
	}
	return n
}
