package form

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/schema"
)

// Every input schema of every recorded server goes through form -> JSON ->
// form without loss: filled with a skeleton and unknown keys, walked over,
// typed into and taken back.
func TestCorpusRoundTrip(t *testing.T) {
	files, err := filepath.Glob("../../session/schema/testdata/peers/*.json")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var frame struct {
			Result struct {
				Tools []struct {
					Name        string
					InputSchema json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(raw, &frame); err != nil {
			t.Fatal(err)
		}
		for _, tool := range frame.Result.Tools {
			t.Run(filepath.Base(file)+"/"+tool.Name, func(t *testing.T) {
				sch := schema.Parse(tool.InputSchema)
				value := sch.Root().Skeleton().Set([]string{"unknown/key"}, schema.ArrayValue(schema.NullValue()))
				text := strings.TrimSuffix(value.String(), "}") + `,"big":12345678901234567890,"exact":1.0}`
				f := New(sch, plainTheme())
				f.SetSize(120, 40)
				if err := f.SetJSON([]byte(text)); err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(f.rows); i++ {
					f.setCur(i)
					f.Lines()
					if f.row().textual() {
						press(t, f, "end", "text:1", "backspace")
						for f.undoAt = ""; string(f.JSON()) != text && f.Undo(); {
							f.ready()
						}
					}
				}
				again := New(sch, plainTheme())
				if err := again.SetJSON(f.JSON()); err != nil || string(again.JSON()) != text {
					t.Errorf("%s became %s: %v", text, again.JSON(), err)
				}
				if n := len(f.sch.Notes()); n > 0 {
					t.Errorf("notes: %v", f.sch.Notes())
				}
			})
		}
	}
}
