package pane

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/testdata/hostile"
)

// A proposed name is a file in the working folder, whatever a server calls it.
func TestFileName(t *testing.T) {
	for _, h := range hostile.Strings() {
		got := FileName(h.Value)
		if got == "" || got != filepath.Base(got) || strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-") || len(got) > 110 || harmful(got) {
			t.Errorf("%s: %q becomes %q", h.Name, h.Value, got)
		}
	}
	for in, want := range map[string]string{"../../etc/passwd": "passwd", "invoice\u202efdp.exe": "invoice-fdp.exe", `a\b:c`: "a-b-c", "-rf": "rf", "..": "untitled", "": "untitled"} {
		if got := FileName(in); got != want {
			t.Errorf("fileName(%q) = %q, want %q", in, got, want)
		}
	}
}

// A file is proposed under the name of what was read, once and with one extension.
func TestProposedName(t *testing.T) {
	for result, want := range map[string]string{
		`{"contents":[{"uri":"a","mimeType":"text/markdown","text":"# A"}]}`:   "architecture.md",
		`{"contents":[{"uri":"a","mimeType":"text/plain","text":"plain"}]}`:    "architecture.md",
		`{"contents":[{"uri":"a","text":"# A\n\n# B"},{"uri":"b","text":""}]}`: "architecture-1.md",
	} {
		_, parts := ResultParts("architecture.md", []byte(result), nil)
		p := docPart{src: parts[0].src}
		if len(p.src.blocks) > 0 {
			p.src = p.src.blocks[0]
		}
		if got := saveName(p.src.Name, p.ext()); got != want {
			t.Errorf("%s is saved as %q, want %q", result, got, want)
		}
	}
}

// harmful is whether text acts or hides; a pile of marks only looks ugly.
func harmful(s string) bool {
	why := hostile.Harm(s)
	return why != "" && !strings.Contains(why, "marks")
}
