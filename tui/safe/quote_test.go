package safe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/testdata/hostile"
)

// What is copied to be pasted holds nothing that a terminal obeys, and means
// the same to a shell.
func TestQuote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to ask")
	}
	for _, h := range hostile.Strings() {
		if strings.Contains(h.Value, "\x00") || len(h.Value) > 20_000 {
			continue // no argument can hold it
		}
		quoted := Quote(h.Value)
		if why := hostile.Harm(quoted); why != "" && !strings.Contains(why, "marks") {
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

// A shell that does not know $'…' reads one word of what is quoted, and runs nothing.
func TestQuoteInOtherShells(t *testing.T) {
	dash, err := exec.LookPath("dash")
	if err != nil {
		t.Skip("no dash to ask")
	}
	values := []string{"\x1b'; touch ran #", "a\u202e\\'; touch ran; '", "\\'\n; touch ran #", "$(touch ran)\x07`touch ran`"}
	for _, h := range hostile.Strings() {
		if !strings.Contains(h.Value, "\x00") && len(h.Value) < 20_000 {
			values = append(values, h.Value, h.Value+"'; touch ran #", h.Value+"\\'; touch ran #")
		}
	}
	for _, v := range values {
		dir := t.TempDir()
		cmd := exec.Command(dash, "-c", "set -- "+Quote(v)+"\nprintf %s $#")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "1" {
			t.Errorf("dash reads %.80q as %s words, %v", Quote(v), out, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("dash runs what is in %.80q", Quote(v))
		}
	}
}
