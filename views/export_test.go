package views_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// TestExport: traffic is written in three formats, after what was taken out was shown, and without it.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	for format, want := range map[string]string{"HTML page": "<!DOCTYPE html>", "HAR": `"entries"`, "JSONL": `"tools/call"`} {
		synctest.Test(t, func(t *testing.T) {
			app, add := wired(t, 100, 30)
			e, _ := call("1", "read")
			add(0, e, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"password":"hunter2hunter2"}}}`)
			e, body := answer("1", "hunter2hunter2 it is")
			add(5, e, body)
			app.Sleep(time.Second).View("traffic")
			file := filepath.Join(dir, format)
			app.Press(":").Type("export").Press("enter").Overlay("Export as").HasNot("current").Some(tuitest.Matches(`^ HTML page$`))
			app.Hints().Has("enter choose")
			app.Type(format).Press("enter").Prompt("export to").Answer(file)
			ask := app.Confirm("Write").Says("2 entries", "Taken out:", "names of secrets", "found elsewhere")
			if _, err := os.Stat(file); err == nil {
				t.Error("it was written before it was shown")
			}
			ask.Yes().Toast("wrote ")
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Contains(t, string(b), want)
			assert.NotContains(t, string(b), "hunter2")
		})
	}
}

// TestProbesAreQuiet: health checks and probes are neither in time nor among the numbers, until somebody wants them.
func TestProbesAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 120, 40)
		for i, method := range []string{"server/discover", "ping", "tools/call"} {
			e, body := call("1", "read")
			e.Method, e.ID = method, string(rune('5'+i))
			add(10*i, e, body)
		}
		app.Sleep(time.Second).Press(":").Type("timeline").Press("enter").View("timeline")
		app.Pane("numbers").Has("read").HasNot("server/discover", "ping")
		app.Press(":").Type("probes").Press("enter").Pane("numbers").Has("server/discover", "ping")
		app.Press("esc").View("traffic").Pane("list").Has("server/discover")
	})
}
