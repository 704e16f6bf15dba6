//go:build unix

package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// --filter selects what is printed of a file; one that is wrong is a usage error that says where.
func TestOpenFilter(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	out := mcphud(t, "open", name, "--filter", "kind:res tool:=echo").ok(t)
	if strings.Count(out, "\n") != 1 || !strings.Contains(out, `"kind":"response","method":"tools/call"`) {
		t.Errorf("got\n%s", out)
	}
	if out := mcphud(t, "open", name, "--filter", "text:/hel+o/ -kind:req", "--format", "text").ok(t); strings.Count(out, "\n") != 1 || !strings.Contains(out, "← response") {
		t.Errorf("got\n%s", out)
	}
	for _, c := range [][]string{{"open", name}, {"tap"}} {
		o := mcphud(t, append(c, "--filter", "echo status:okay")...)
		o.exits(t, 1, "--filter: column 13: unknown status: okay; expected ok, error, pending")
	}
}

// Linear mode says what is wrong with a filter, and applies the next one.
func TestLinearFilter(t *testing.T) {
	t.Parallel()
	cmd := command(t, "--linear", "--", faketest.Binary(t), string(behave.Good))
	cmd.Stdin = strings.NewReader("traffic\n/kind:foo\n/method:server/discover kind:req\nq\n")
	o := finish(t, cmd)
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	if !strings.Contains(o.out, "not a filter: column 6: unknown kind: foo; expected req, res") || !strings.Contains(lines[len(lines)-1], "req fakemcp server/discover") {
		t.Errorf("exit %d:\n%s", o.code, o.out)
	}
}

// The numbers of a recorded session: a row for each method and tool, and all calls.
func TestJournalStats(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	var out struct {
		Total struct{ Calls, Failed int }
		Rows  []struct {
			Server, Method, Tool   string
			Calls, Failed, Pending int
			P50                    float64 `json:"p50_ms"`
			P99                    float64 `json:"p99_ms"`
			Bytes                  int64
			Series                 [][2]int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(mcphud(t, "journal", "stats", name, "--sort", "name").ok(t)), &out))
	echo := -1
	for i, r := range out.Rows {
		if r.Tool == "echo" {
			echo = i
		}
	}
	if echo < 0 || out.Total.Calls < 3 || out.Rows[echo].Calls != 1 || out.Rows[echo].Method != "tools/call" || out.Rows[echo].P50 <= 0 || out.Rows[echo].Bytes < 100 || len(out.Rows[echo].Series) == 0 {
		t.Errorf("got %+v", out)
	}
	text := mcphud(t, "journal", "stats", name, "--filter", "tool:echo", "--format", "text").ok(t)
	if strings.Count(text, "\n") != 3 || !strings.Contains(text, "tools/call  echo  1      0.0 %") || !strings.Contains(text, "P95") {
		t.Errorf("got\n%s", text)
	}
	assert.Equal(t, mcphud(t, "journal", "stats", name, "--filter", "tool:nosuch", "--format", "text").ok(t), "no calls\n")
	if o := mcphud(t, "journal", "stats", name, "--sort", "weight"); o.code == 0 {
		t.Errorf("it sorted by weight:\n%s", o.out)
	}
}

// tap prints what passes, and on a terminal opens with the filter applied.
func TestTapFilter(t *testing.T) {
	runtimeDir(t)
	lines := watchTap(t, "--filter", "tool:read")
	ui := startUI(t, "tap", "--filter", "tool:read")
	ui.shows("No router or wrapped server is running.")
	p, err := tap.Open(tap.Options{Name: "files", Kind: tap.Wrapped})
	require.NoError(t, err)
	defer p.Close()
	for _, tool := range []string{"write_file", "read_file"} {
		p.Append(journal.Entry{Dir: journal.Out}, []byte(`{"jsonrpc":"2.0","id":"`+tool+`","method":"tools/call","params":{"name":"`+tool+`"}}`))
	}
	lines.shows("read_file")
	if out := lines.stop(); strings.Contains(out, "write_file") || strings.Count(out, "\n") != 1 {
		t.Errorf("got\n%s", out)
	}
	ui.shows("read_file")
	ui.shows("/tool:read")
	if strings.Contains(ui.written(), "write_file #") { // the line of the newest entry, which has no ids, may name it
		t.Errorf("the screen shows what does not pass")
	}
	if _, err := io.WriteString(ui.f, "q"); err != nil {
		t.Fatal(err)
	}
	if code := ui.exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
