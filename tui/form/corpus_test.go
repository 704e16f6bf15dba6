package form

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
)

// Every input schema of every recorded server goes through form -> JSON ->
// form without loss: filled with a skeleton and unknown keys, walked over,
// typed into and taken back.
func TestCorpusRoundTrip(t *testing.T) {
	files, err := filepath.Glob("../../session/offer/schema/testdata/peers/*.json")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var frame struct {
			Result struct {
				Tools []struct {
					Name        string
					InputSchema json.RawMessage
				}
			}
		}
		require.NoError(t, json.Unmarshal(raw, &frame))
		for _, tool := range frame.Result.Tools {
			t.Run(filepath.Base(file)+"/"+tool.Name, func(t *testing.T) {
				sch := schema.Parse(tool.InputSchema)
				value := sch.Root().Skeleton().Set([]string{"unknown/key"}, schema.ArrayValue(schema.NullValue()))
				text := strings.TrimSuffix(value.String(), "}") + `,"big":12345678901234567890,"exact":1.0}`
				f := New(sch, plainTheme())
				f.SetSize(120, 40)
				require.NoError(t, f.SetJSON([]byte(text)))
				f.Lines()
				if len(f.rows) < 3 {
					t.Fatalf("%d rows", len(f.rows))
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

// The bundled agent's gallery has every keyword at once: all of it is drawn,
// focused and opened, and looking changes nothing.
func TestDemoGallery(t *testing.T) {
	raw, err := os.ReadFile("../../agentsrv/tools/basics/gallery.json")
	require.NoError(t, err)
	sch := schema.Parse(raw)
	f := New(sch, plainTheme())
	f.SetSize(80, 24)
	run(f)
	require.NoError(t, f.SetJSON(sch.Root().Skeleton().JSON()))
	before := string(f.JSON())
	f.Lines()
	for i := 0; i < len(f.rows); i++ {
		f.setCur(i)
		if r := f.row(); r.kind == rowGroup && !r.open && r.depth < 4 {
			press(t, f, "right")
		}
		if f.row().kind != rowAdd {
			press(t, f, "ctrl+o", "down", "esc", "end")
		}
		if f.row().selectable() {
			press(t, f, "space", "down", "esc")
		}
		if f.cur != i {
			t.Fatalf("the focus went from row %d to %d", i, f.cur)
		}
		if lines := f.Lines(); len(lines) > 24 {
			t.Fatalf("%d lines", len(lines))
		}
	}
	if got := string(f.JSON()); got != before {
		t.Errorf("%s became %s", before, got)
	}
	if len(f.rows) < 60 || len(sch.Notes()) > 0 {
		t.Errorf("%d rows, notes %v", len(f.rows), sch.Notes())
	}
}
