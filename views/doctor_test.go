package views_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

func sick(t *testing.T, s config.Server, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Target(s), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.SessionOptions(patient),
	}, opts...)...)
}

// TestDoctor goes from a failed start to the reason with one key, and takes the report along.
func TestDoctor(t *testing.T) {
	t.Parallel()
	app := sick(t, faketest.Stdio(t, behave.ExitAtOnce))
	state(app, session.Failed)
	shows(app, "list", "! find out why, stage by stage")
	app.Hints().Has("! doctor")
	app.Press("!").View("doctor")
	shows(app, "list", "✓ ok Configuration", "✗ failed Start", "– skipped Handshake", "✗ failed Standard error", "2 failed")
	app.Pane("list").Selected("Start")
	shows(app, "detail", "exited with status 3", "What to do", "/etc/fakemcp.conf does not", "Evidence", "argv: ")
	app.Press("down", "down").Pane("list").Selected("Standard error")
	shows(app, "detail", "fakemcp: giving up")
	app.Press("y", "j").Toast("copied JSON")
	var report struct {
		Server, Status, Kind string
		Steps                []struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(app.Copied(1)), &report); err != nil || report.Status != "failed" || report.Kind != "SpawnFailed" || len(report.Steps) < 10 {
		t.Errorf("%v, %+v", err, report)
	}
	app.Press("y", "c").Toast("copied mcphud command")
	if c := app.Copied(2); !strings.HasPrefix(c, "mcphud doctor ") {
		t.Error(c)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	app.Press("s").Press("ctrl+u").Type(file).Press("enter").Toast("saved")
	if b, err := os.ReadFile(file); err != nil || !json.Valid(b) {
		t.Errorf("%v\n%s", err, b)
	}
	app.Press("q").View("tools")
}

// TestDoctorFromTheList looks at the server under the cursor, without connecting the session itself.
func TestDoctorFromTheList(t *testing.T) {
	t.Parallel()
	app := sick(t, faketest.Stdio(t, behave.Good), tuitest.At("servers", nil), tuitest.NoConnect())
	app.Press("!").View("doctor")
	shows(app, "list", "✓ ok Shutdown", "13 ok")
	app.Hints().Has("r run again").HasNot("x cancel")
	app.Press("r")
	app.Eventually(func() string {
		if !strings.Contains(app.Screen(), "13 ok") {
			return "it did not run again"
		}
		return ""
	})
}

// TestDoctorIsCancelled leaves nothing running.
func TestDoctorIsCancelled(t *testing.T) {
	t.Parallel()
	app := sick(t, faketest.Stdio(t, behave.NoAnswer), tuitest.At("servers", nil), tuitest.NoConnect())
	app.Press("!").View("doctor")
	shows(app, "list", "◐ running Handshake", "– skipped Runtime", "· not yet Latency")
	app.Hints().Has("x cancel")
	app.Press("x").Toast("the diagnosis was cancelled")
	shows(app, "list", "– skipped Handshake", "– skipped Latency")
	app.Hints().Has("r run again")
}
