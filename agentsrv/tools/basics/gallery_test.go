package basics

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/session/test/require"
)

// keywords are those of JSON Schema 2020-12's vocabularies (core, applicator, unevaluated, validation, meta-data, format,
// content), then draft-07's that differ, then what is found in the wild.
const keywords = `$schema $id $ref $anchor $dynamicRef $dynamicAnchor $defs $comment
prefixItems items contains additionalProperties properties patternProperties dependentSchemas propertyNames if then else allOf anyOf oneOf not
unevaluatedItems unevaluatedProperties
type const enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems
maxContains minContains maxProperties minProperties required dependentRequired
title description default deprecated readOnly writeOnly examples format contentEncoding contentMediaType contentSchema
definitions dependencies additionalItems nullable enumNames discriminator x-vendor`

func TestGalleryHasEveryKeyword(t *testing.T) {
	seen := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				seen[k] = true
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var v any
	require.NoError(t, json.Unmarshal(gallerySchema, &v))
	walk(v)
	for k := range strings.FieldsSeq(keywords) {
		if !seen[k] {
			t.Errorf("keyword %s is not in the gallery", k)
		}
	}
}

func TestGalleryIsAValidSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(gallerySchema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("gallery.json", doc))
	s, err := c.Compile("gallery.json")
	require.NoError(t, err)
	for in, valid := range map[string]bool{
		`{"name":"Ada","kind":"person"}`:                                 true,
		`{"name":"Ada","kind":"company"}`:                                false,
		`{"name":"Ada","kind":"company","company_id":"1"}`:               true,
		`{"name":"Ada","kind":"robot"}`:                                  false,
		`{"name":"Ada","kind":"person","credit_card":"1"}`:               false,
		`{"name":"Ada","kind":"person","gift":true}`:                     false,
		`{"name":"Ada","kind":"person","old_list":[1,2]}`:                true,
		`{"name":"Ada","kind":"person","old_list":["a"]}`:                false,
		`{"name":"Ada","kind":"person","point":[1,2,"c",4]}`:             false,
		`{"name":"Ada","kind":"person","dynamic":"longer than ten"}`:     false,
		`{"name":"Ada","kind":"person","anchored":0}`:                    false,
		`{"name":"Ada","kind":"person","shape":{"type":"circle"}}`:       false,
		`{"name":"Ada","kind":"person","tree":{"children":[]}}`:          false,
		`{"name":"Ada","kind":"person","settings":{"n_a":1,"s_b":"x"}}`:  true,
		`{"name":"Ada","kind":"person","not_empty":""}`:                  false,
		`{"name":"Ada","kind":"person","merged":{"first":"a","zzz":1}}`:  false,
		`{"name":"Ada","kind":"person","headers":{"Accept-Nothing":""}}`: true,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(in))
		require.NoError(t, err)
		if err := s.Validate(v); (err == nil) != valid {
			t.Errorf("%s: valid is %v, want %v: %v", in, err == nil, valid, err)
		}
	}
}
