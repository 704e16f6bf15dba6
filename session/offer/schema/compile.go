package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/session/base/text"
)

// compiler holds the validator of a schema, made on first use.
type compiler struct {
	once      sync.Once          // whoever validates first makes it
	sch       *jsonschema.Schema // nil when values are not checked at all; it may be used by many goroutines
	refs      bool               // the schema has references, so that evaluations may multiply; see Schema.cost
	unchecked []string           // what is not checked and why, one sentence each
}

// ecma is a pattern that calls itself as its author wrote it.
type ecma struct {
	*regexp.Regexp
	src string
}

func (e ecma) String() string { return e.src }

// docURL names the schema inside the validator. No loader serves it or anything else.
const docURL = "mcphud:///schema.json"

// sealed is a loader that refuses every URL: a schema must never make this machine fetch or open anything.
type sealed struct{}

func (sealed) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the schema and is never fetched", text.Clip(url, 120))
}

// loadCompiler returns the validator, made on the first call. Its sch is nil if the schema cannot be checked, or need not be.
func (s *Schema) loadCompiler() *compiler {
	c := &s.compiler
	c.once.Do(func() {
		if s.doc.IsSet() && s.err == nil {
			c.build(s)
		} else if s.err != nil {
			c.unchecked = []string{s.err.Error()}
		}
	})
	return c
}

// build compiles what a cleaner makes of the schema. It tries again without $id where it did not compile: an id that is not a URI,
// or one that two subschemas have, is common, and means nothing for a schema whose references are all pointers.
func (c *compiler) build(s *Schema) {
	var last error
	for _, keepIDs := range []bool{true, false} {
		cl := cleaner{s: s, keepIDs: keepIDs, modern: !s.legacy && !strings.Contains(s.doc.Get("$schema").Text(), "2019-09")}
		doc := cl.schema(s.doc, "", 0)
		if cl.err != nil {
			c.unchecked = []string{"values are not checked: " + cl.err.Error()}
			return
		}
		sch, notes, err := compile(doc)
		if err == nil {
			c.sch, c.refs = sch, cl.refs
			c.unchecked = append(cl.notes, notes...)
			return
		}
		last = err
	}
	c.unchecked = []string{"values are not checked: the schema does not compile: " + text.Clip(text.FirstLine(last.Error()), 300)}
}

// compile gives doc to the validator. Keywords that the draft's own schema
// finds malformed are taken out one round after the other, and reported. A round may bring new ones to light, as the validator
// does not look below what is malformed; a schema that needs more than twelve is not worth more.
func compile(doc any) (sch *jsonschema.Schema, notes []string, err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on some malformed ids
			err = fmt.Errorf("the validator gave up: %v", r)
		}
	}()
	for range 12 {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		c.UseLoader(sealed{})
		c.UseRegexpEngine(func(src string) (jsonschema.Regexp, error) {
			re, err := compilePattern(src)
			return ecma{re, src}, err
		})
		if err = c.AddResource(docURL, doc); err != nil {
			return nil, nil, err
		}
		if sch, err = c.Compile(docURL); err == nil {
			return sch, notes, nil
		}
		var bad *jsonschema.SchemaValidationError
		var ve *jsonschema.ValidationError
		if !errors.As(err, &bad) || !errors.As(bad.Err, &ve) {
			return nil, nil, err
		}
		removed := false
		for _, loc := range collectLeaves(ve, nil) {
			if at, ok := cut(doc, loc); ok {
				removed = true
				notes = append(notes, fmt.Sprintf("%s is malformed and not checked", text.Clip(Pointer(at...), 200)))
			}
		}
		if !removed {
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// collectLeaves lists where a schema violates its own meta-schema, a hundred places a round at most: each costs a walk in cut. The
// locations are copies, as the validator reuses theirs.
func collectLeaves(ve *jsonschema.ValidationError, out [][]string) [][]string {
	if len(ve.Causes) == 0 && len(ve.InstanceLocation) > 0 && len(out) < 100 {
		return append(out, slices.Clone(ve.InstanceLocation))
	}
	for _, c := range ve.Causes {
		out = collectLeaves(c, out)
	}
	return out
}

// cut removes the keyword that loc is in, or leads to, from a plain schema: an element of an array, such as a name in required that
// is not a string, takes its keyword with it. at is the pointer of what is gone; ok is false where an earlier cut took it already.
func cut(doc any, loc []string) (at []string, ok bool) {
	var owner map[string]any
	var key string
	cur := doc
	for i, tok := range loc {
		switch v := cur.(type) {
		case map[string]any:
			next, has := v[tok]
			if !has {
				return nil, false
			}
			owner, key, at, cur = v, tok, loc[:i+1], next
		case []any:
			i, isIndex := arrayIndex(tok)
			if !isIndex || i >= len(v) {
				return nil, false
			}
			cur = v[i]
		default:
			return nil, false
		}
	}
	if owner == nil {
		return nil, false
	}
	delete(owner, key)
	return at, true
}
