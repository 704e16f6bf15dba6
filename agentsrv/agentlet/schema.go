package agentlet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/session/text"
)

// here is the name that a schema is compiled under; nothing is ever fetched from it.
const here = "mem://agent/output_schema.json"

// sealed refuses to load what a schema refers to outside itself: neither files nor the network.
type sealed struct{}

// Load implements jsonschema.URLLoader.
func (sealed) Load(uri string) (any, error) {
	return nil, fmt.Errorf("%s: references out of the schema are not followed; put the definition under $defs", uri)
}

// compileSchema accepts JSON Schema 2020-12 and the drafts before it, as $schema says, with no reference to elsewhere
// and of bounded cost.
func compileSchema(raw json.RawMessage) (s *jsonschema.Schema, cost int, err error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, 0, fmt.Errorf("not JSON: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, 0, errors.New("an object is needed")
	}
	if cost, err = schemaCost(root); err != nil {
		return nil, 0, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(sealed{})
	if err := c.AddResource(here, doc); err != nil {
		return nil, 0, errors.New(clean(err))
	}
	s, err = c.Compile(here)
	if err != nil {
		return nil, 0, errors.New(clean(err))
	}
	return s, cost, nil
}

// explain shortens a validation error to what a model or a person can act on.
func explain(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(clean(err))
}

// clean drops the schema's made-up name, and bounds the length: both quote what was sent.
func clean(err error) string {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) > 1 { // the first only says that something is wrong with the whole
		lines = lines[1:]
	}
	for i, l := range lines {
		lines[i] = strings.TrimLeft(strings.ReplaceAll(strings.ReplaceAll(l, here+"#", ""), here, "the schema"), "- ")
	}
	return text.Clip(strings.Join(lines, "; "), 600)
}
