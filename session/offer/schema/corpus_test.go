package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// corpus calls fn with every schema of the recorded tools/list answers of the reference servers in testdata/peers.
func corpus(t *testing.T, fn func(t *testing.T, raw []byte)) {
	files, err := filepath.Glob("testdata/peers/*.json")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	n := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var frame struct {
			Result struct {
				Tools []struct {
					Name                      string
					InputSchema, OutputSchema json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(raw, &frame); err != nil {
			t.Fatal(file, err)
		}
		for _, tool := range frame.Result.Tools {
			for kind, s := range map[string]json.RawMessage{"input": tool.InputSchema, "output": tool.OutputSchema} {
				if s != nil {
					n++
					t.Run(filepath.Base(file)+"/"+tool.Name+"/"+kind, func(t *testing.T) { fn(t, s) })
				}
			}
		}
	}
	if n < 65 {
		t.Errorf("only %d schemas", n)
	}
}

func TestCorpus(t *testing.T) {
	corpus(t, func(t *testing.T, raw []byte) {
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, raw))
		if got := parse(t, string(raw)).String(); got != compact.String() {
			t.Errorf("%s became %s", compact.String(), got)
		}
		s := Parse(raw)
		if s.Err() != nil || len(s.Notes()) > 0 || len(s.Unchecked()) > 0 {
			t.Errorf("%v %v %v", s.Err(), s.Notes(), s.Unchecked())
		}
		// The order of fields, read independently.
		var want []string
		var doc struct{ Properties json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &doc))
		if doc.Properties != nil {
			dec := json.NewDecoder(bytes.NewReader(doc.Properties))
			_, _ = dec.Token()
			for dec.More() {
				k, _ := dec.Token()
				want = append(want, k.(string))
				var skip json.RawMessage
				require.NoError(t, dec.Decode(&skip))
			}
		}
		kids := s.Root().Children(nil)
		for i, name := range want {
			if i >= len(kids) || kids[i].Name != name || kids[i].Field().Shape() == ShapeNever {
				t.Errorf("field %d is not %s", i, name)
			}
		}
		skeleton := s.Root().Skeleton()
		for _, p := range s.Validate(skeleton) {
			if p.Keyword != "minLength" && p.Keyword != "pattern" && p.Keyword != "format" {
				t.Errorf("skeleton %s: %v", skeleton, p)
			}
		}
	})
}
