package views

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/testdata/hostile"
)

// A proposed name is a file in the working folder, whatever a server calls it.
func TestFileName(t *testing.T) {
	for _, h := range hostile.Strings() {
		got := fileName(h.Value)
		if got == "" || got != filepath.Base(got) || strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-") || len(got) > 110 || harmful(got) {
			t.Errorf("%s: %q becomes %q", h.Name, h.Value, got)
		}
	}
	for in, want := range map[string]string{"../../etc/passwd": "passwd", "invoice\u202efdp.exe": "invoice-fdp.exe", `a\b:c`: "a-b-c", "-rf": "rf", "..": "untitled", "": "untitled"} {
		if got := fileName(in); got != want {
			t.Errorf("fileName(%q) = %q, want %q", in, got, want)
		}
	}
}

// What is copied to be pasted holds nothing that a terminal obeys, and means
// the same to a shell.
func TestShellQuote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to ask")
	}
	for _, h := range hostile.Strings() {
		if strings.Contains(h.Value, "\x00") || len(h.Value) > 20_000 {
			continue // no argument can hold it
		}
		quoted := shellQuote(h.Value)
		if harmful(quoted) {
			t.Errorf("%s: %.80q", h.Name, quoted)
		}
		cmd := exec.Command(bash, "-c", "printf %s "+quoted)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.Output()
		if err != nil || string(out) != h.Value {
			t.Errorf("%s: bash reads %.80q as %.80q (%v), want %.80q", h.Name, quoted, out, err, h.Value)
		}
	}
}

// harmful is whether text acts or hides; a pile of marks only looks ugly.
func harmful(s string) bool {
	why := hostile.Harm(s)
	return why != "" && !strings.Contains(why, "marks")
}
