package live

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// The schema.json of each revision, as published at https://github.com/modelcontextprotocol/modelcontextprotocol, without
// the descriptions.
//
//go:embed schemas/*.json.gz
var schemas embed.FS

// Bounds of the validation by the revision's schema, the expensive part. A frame has to be validated only where no frame
// of the same shape was before, see shape.
const (
	maxShapes = 20_000   // shapes that are validated
	maxWork   = 64 << 20 // bytes of frames that are validated
)

// definitions are the schemas of the revisions that were needed so far, with the verdicts by shape of frame.
type definitions struct {
	documents map[string]*document // by revision
	verdicts  map[uint64]string    // "" where nothing is wrong; of frames of one shape the evidence is that of the first
	work      int                  // bytes that were validated, see maxWork
}

// document is the schema of one revision.
type document struct {
	revision string
	defs     map[string]json.RawMessage
	key      string                    // "$defs" or "definitions"
	methods  [3]map[string]string      // direction of the sender -> method -> name of the request's or notification's definition
	compiled map[string]*schema.Schema // by definition
}

// document is the schema of a revision, nil for an unknown one.
func (d *definitions) document(revision string) *document {
	if doc, ok := d.documents[revision]; ok || knownRevision(revision) == "" {
		return doc
	}
	if d.documents == nil {
		d.documents, d.verdicts = map[string]*document{}, map[uint64]string{}
	}
	doc, err := load(revision)
	if err != nil { // they are part of the program: the tests load all
		panic(err)
	}
	d.documents[revision] = doc
	return doc
}

func load(revision string) (*document, error) {
	packed, err := schemas.ReadFile("schemas/" + revision + ".json.gz")
	if err != nil {
		return nil, fmt.Errorf("schema of revision %s: %w", revision, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("schema of revision %s: %w", revision, err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("schema of revision %s: %w", revision, err)
	}
	doc := &document{revision: revision, compiled: map[string]*schema.Schema{}, methods: [3]map[string]string{journal.Out: {}, journal.In: {}}}
	var top struct {
		Defs        map[string]json.RawMessage `json:"$defs"`
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, fmt.Errorf("schema of revision %s: %w", revision, err)
	}
	doc.defs, doc.key = top.Defs, "$defs"
	if doc.defs == nil {
		doc.defs, doc.key = top.Definitions, "definitions"
	}
	// The text and schema.ts, from which schema.json is made, have numbers there, not only whole ones.
	for _, name := range []string{"ElicitResult", "JSONValue"} {
		if raw := doc.defs[name]; raw != nil {
			doc.defs[name] = bytes.ReplaceAll(raw, []byte(`"integer"`), []byte(`"number"`))
		}
	}
	for union, dir := range map[string]journal.Dir{
		"ClientRequest": journal.Out, "ClientNotification": journal.Out, "ServerRequest": journal.In, "ServerNotification": journal.In,
	} {
		for _, name := range doc.names(union) {
			var d struct {
				Properties struct{ Method struct{ Const string } }
			}
			if err := json.Unmarshal(doc.defs[name], &d); err != nil {
				return nil, fmt.Errorf("schema of revision %s: %s: %w", revision, name, err)
			}
			doc.methods[dir][d.Properties.Method.Const] = name
		}
	}
	return doc, nil
}

// names returns the definitions that one is the union of, or its own name.
func (doc *document) names(union string) (names []string) {
	var u struct {
		AnyOf []struct {
			Ref string `json:"$ref"`
		} `json:"anyOf"`
	}
	if doc.defs[union] == nil || json.Unmarshal(doc.defs[union], &u) != nil {
		return nil
	}
	for _, one := range u.AnyOf {
		names = append(names, one.Ref[strings.LastIndexByte(one.Ref, '/')+1:])
	}
	if len(names) == 0 {
		names = []string{union}
	}
	return names
}

// result is the name of the definition of the result of a request.
func (doc *document) result(request string) string {
	name := strings.TrimSuffix(request, "Request") + "Result"
	if doc.defs[name] == nil {
		name = "Result"
	}
	return name
}

// schema is one of the definitions, without formats: whether a text is a URI does not depend on the shape of the frame.
func (doc *document) schema(name string) *schema.Schema {
	if s := doc.compiled[name]; s != nil {
		return s
	}
	used := map[string]json.RawMessage{}
	doc.collectRefs(name, used)
	root, err := json.Marshal(map[string]any{"$ref": "#/" + doc.key + "/" + name, doc.key: used})
	if err != nil { // valid JSON, as it was read
		panic(err)
	}
	s := schema.Parse(bytes.ReplaceAll(root, []byte(`"format":"`), []byte(`"x-format":"`)))
	doc.compiled[name] = s
	return s
}

// collectRefs adds the definitions that one refers to, directly or not.
func (doc *document) collectRefs(name string, used map[string]json.RawMessage) {
	if used[name] != nil || doc.defs[name] == nil {
		return
	}
	used[name] = doc.defs[name]
	for _, part := range strings.Split(string(doc.defs[name]), `"$ref":"#/`+doc.key+"/")[1:] {
		next, _, _ := strings.Cut(part, `"`)
		doc.collectRefs(next, used)
	}
}

// validate says how a value violates a definition, "" if it does not; checked is false if it was not validated, see maxShapes and maxWork.
func (d *definitions) validate(doc *document, name string, value []byte, at string) (evidence string, checked bool) {
	h, ok := shape(value)
	h ^= hashString(doc.revision + name)
	if v, seen := d.verdicts[h]; seen && ok {
		return v, true
	}
	if !ok || len(d.verdicts) >= maxShapes || d.work > maxWork {
		return "", false
	}
	d.work += len(value)
	problems, unchecked := doc.schema(name).ValidateJSON(value)
	if unchecked != "" {
		return "", false
	}
	problems = slices.DeleteFunc(problems, func(p schema.Problem) bool { return doc.hasOwnRule(name, at, p) })
	v := describe(at, problems)
	d.verdicts[h] = v
	return v, true
}

// describe words at most three problems of a validation.
func describe(at string, problems []schema.Problem) string {
	var b strings.Builder
	n := 0
	for _, p := range problems {
		if p.Keyword == "" && p.Pointer == "" { // it is valid JSON, if too deep for the validator
			continue
		}
		if n++; n > 3 {
			continue
		}
		if n > 1 {
			b.WriteString("; ")
		}
		b.WriteString(text.Clip(at+p.Pointer, 120) + ": " + text.Clip(p.Message, 120))
	}
	if n > 3 {
		fmt.Fprintf(&b, "; and %d more", n-3)
	}
	return b.String()
}

// hasOwnRule reports whether a problem of a definition is one that a rule of the modern era with a better text finds: meta-missing, which is about
// requests, or result-type.
func (doc *document) hasOwnRule(name, at string, p schema.Problem) bool {
	if doc.revision != revModern || p.Keyword != "required" || strings.HasSuffix(name, "Notification") {
		return false
	}
	switch at + p.Pointer {
	case "/params", "/params/_meta", "/params/_meta" + schema.Pointer(metaVersion), "/params/_meta" + schema.Pointer(metaCapabilities), "/result/resultType":
		return true
	}
	return false
}
