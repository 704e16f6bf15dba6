package agentlet

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// Schemas come from callers, and a validation cannot be interrupted. Package schema bounds what references multiply; these
// are for what only grows with the schema and the value.
const (
	maxPatterns = 2_000       // instructions of all regular expressions of a schema, compiled
	maxLevels   = 100         // levels of an answer; the time of some schemas grows with a power of them
	maxWork     = 200_000_000 // bytes of an answer times instructions, or times tenths of bytes of the schema
)

// outputSchema is what an agent's answers must fit.
type outputSchema struct {
	*schema.Schema
	most int // bytes of the longest answer that is checked against it
}

// compileSchema accepts JSON Schema 2020-12 and the drafts before it, as $schema says, with nothing in it that cannot be
// checked, such as a reference to elsewhere.
func compileSchema(raw json.RawMessage) (*outputSchema, error) {
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil || root == nil {
		return nil, errors.Join(errors.New("not a JSON object"), err)
	}
	if v, ok := root["$schema"].(string); ok && !strings.Contains(v, "://json-schema.org/") {
		return nil, fmt.Errorf("$schema %q is not a draft of JSON Schema", text.Clip(v, 100))
	}
	n, err := instructions(root)
	switch {
	case err != nil:
		return nil, err
	case n > maxPatterns:
		return nil, fmt.Errorf("its patterns compile to more than %d instructions; use shorter ones", maxPatterns)
	}
	s := schema.Parse(raw)
	if bad := s.Unchecked(); len(bad) > 0 {
		return nil, errors.New(text.Clip(strings.Join(bad, "; "), 600))
	}
	return &outputSchema{s, maxWork / max(len(raw)/10, n, 1)}, nil
}

// check says why a JSON text does not fit; nil if it does.
func (s *outputSchema) check(raw []byte) error {
	if len(raw) > s.most {
		return fmt.Errorf("result of %d bytes exceeds the %d-byte limit for validation by this schema", len(raw), s.most)
	}
	if deeper(raw, maxLevels) {
		return fmt.Errorf("it is nested deeper than %d levels", maxLevels)
	}
	problems, unchecked := s.ValidateJSON(raw)
	if unchecked != "" {
		return errors.New(unchecked)
	}
	var b strings.Builder
	for _, p := range problems {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.String())
	}
	if b.Len() == 0 {
		return nil
	}
	return errors.New(text.Clip(b.String(), 600))
}

// deeper reports whether a JSON text has more than max levels.
func deeper(raw []byte, max int) bool {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > max {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// instructions is how many all regular expressions in v compile to: each character of a text takes as many steps at most.
func instructions(v any) (n int, err error) {
	var each []any
	patterns := []string{}
	switch v := v.(type) {
	case []any:
		each = v
	case map[string]any:
		for name, x := range v {
			each = append(each, x)
			if p, ok := x.(string); ok && name == "pattern" {
				patterns = append(patterns, p)
			}
			if ps, ok := x.(map[string]any); ok && name == "patternProperties" {
				for p := range ps {
					patterns = append(patterns, p)
				}
			}
		}
	}
	for _, p := range patterns {
		re, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			return 0, fmt.Errorf("pattern %q: %w", text.Clip(p, 100), err)
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			return 0, fmt.Errorf("pattern %q: %w", text.Clip(p, 100), err)
		}
		n += len(prog.Inst)
	}
	for _, x := range each {
		m, err := instructions(x)
		if n += m; err != nil || n > maxPatterns {
			return n, err
		}
	}
	return n, nil
}
