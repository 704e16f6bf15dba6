package peertest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/session/test/require"
)

// Frames checks what is on the wire against the JSON schema of a revision.
type Frames struct {
	url      string
	compiler *jsonschema.Compiler
	methods  map[string]string // the definition of a method's request or notification
	defs     map[string]any
}

// NewFrames takes the schema of the revision from the conformance suite.
func NewFrames(t testing.TB, revision string) *Frames {
	t.Helper()
	node, script := Script(t, "schemas.mjs")
	raw, err := exec.CommandContext(t.Context(), node, script).Output()
	if err != nil {
		t.Fatalf("schemas.mjs: %v", err)
	}
	all, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	schema := member(all, revision)
	defs, ok := member(schema, "$defs").(map[string]any)
	if !ok {
		t.Fatalf("the suite has no schema of %s", revision)
	}
	f := &Frames{url: revision + ".json", compiler: jsonschema.NewCompiler(), methods: map[string]string{}, defs: defs}
	require.NoError(t, f.compiler.AddResource(f.url, schema))
	for name, def := range defs {
		if method, ok := member(member(member(def, "properties"), "method"), "const").(string); ok {
			f.methods[method] = name
		}
	}
	return f
}

// Check says what is wrong with a frame. method is what it asks, tells, or answers.
func (f *Frames) Check(method string, frame []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(frame))
	if err != nil {
		return err
	}
	def := f.methods[method]
	switch {
	case member(v, "result") != nil:
		if err := f.against(f.result(def, member(v, "result")), member(v, "result")); err != nil {
			return err
		}
		return f.against("JSONRPCResultResponse", v)
	case member(v, "error") != nil:
		return f.against("JSONRPCErrorResponse", v)
	case def != "":
		return f.against(def, v)
	case member(v, "id") != nil: // of an extension
		return f.against("JSONRPCRequest", v)
	}
	return f.against("JSONRPCNotification", v)
}

// result is the definition of a result, which is not always that of the request's own.
func (f *Frames) result(request string, v any) string {
	own := strings.TrimSuffix(request, "Request") + "Result"
	switch {
	case member(v, "resultType") == "input_required":
		return "InputRequiredResult"
	case member(v, "task") != nil && f.defs["CreateTaskResult"] != nil:
		return "CreateTaskResult"
	case f.defs[own] == nil || member(v, "resultType") == "task": // an empty one, or one of an extension
		return "Result"
	}
	return own
}

func (f *Frames) against(def string, v any) error {
	if f.defs[def] == nil {
		return fmt.Errorf("the revision has no %s", def)
	}
	s, err := f.compiler.Compile(f.url + "#/$defs/" + def)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func member(object any, name string) any {
	m, _ := object.(map[string]any)
	return m[name]
}
