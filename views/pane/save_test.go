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

// harmful is whether text acts or hides; a pile of marks only looks ugly.
func harmful(s string) bool {
	why := hostile.Harm(s)
	return why != "" && !strings.Contains(why, "marks")
}
