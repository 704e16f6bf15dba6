package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A part of a file is a file, private, and opens; a HAR made of it opens as the same calls.
func TestJournalCutAndExport(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	dir := t.TempDir()
	cut, har := filepath.Join(dir, "cut.jsonl"), filepath.Join(dir, "cut.har")
	o := mcphud(t, "journal", "cut", name, "--filter", "tool:echo", "--handshake", "-o", cut)
	if o.ok(t); o.out != "" || !strings.Contains(o.stderr, "kept 7 of 12 entries") {
		t.Errorf("%s%s", o.out, o.stderr)
	}
	if fi, err := os.Stat(cut); err != nil || fi.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", fi, err)
	}
	mcphud(t, "journal", "export", cut, "--format", "har", "-o", har).ok(t)
	if got, want := mcphud(t, "open", har, "--format", "text").ok(t), mcphud(t, "open", cut, "--format", "text").ok(t); got != want || strings.Count(got, "\n") != 7 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	lines := mcphud(t, "journal", "export", cut).ok(t)
	if again := mcphud(t, "open", cut).ok(t); again != lines || contents(cut) != lines {
		t.Errorf("got\n%s\nwant\n%s", again, lines)
	}
}

// Standard input and output make it a filter.
func TestJournalPipe(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	cmd := command(t, "journal", "cut", "-", "--filter", "tool:echo")
	cmd.Stdin = f
	if out := finish(t, cmd).ok(t); strings.Count(out, "\n") != 2 {
		t.Error(out)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	cmd = command(t, "open", "-", "--format", "text")
	cmd.Stdin = f
	assert.Contains(t, finish(t, cmd).ok(t), "tools/call echo")
}

// Files that several made become one, by time.
func TestJournalMerge(t *testing.T) {
	t.Parallel()
	a, b := recorded(t), filepath.Join(t.TempDir(), "other.jsonl")
	mcphud(t, fake(t, behave.Good, "tools", "call", "add", "a=1", "b=2", "--journal", b)...).ok(t)
	out := filepath.Join(t.TempDir(), "both.jsonl")
	mcphud(t, "journal", "merge", "first="+a, b, "--offset", "other=-1h", "-o", out).ok(t)
	text := mcphud(t, "open", out, "--format", "text").ok(t)
	other, first := strings.Index(text, "fakemcp@other tools/call add"), strings.Index(text, "fakemcp@first tools/call echo")
	if other < 0 || first < other || strings.Count(text, "\n") != strings.Count(contents(a)+contents(b), "\n") {
		t.Error(text)
	}
}

// What cannot be done is said before anything is written, and no file is half written.
func TestJournalRefuses(t *testing.T) {
	t.Parallel()
	dir, name := t.TempDir(), recorded(t)
	before := contents(name)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"cut"}, "one file"},
		{[]string{"cut", name, name}, "one file"},
		{[]string{"cut", name}, "what to keep"},
		{[]string{"cut", name, "--filter", "status:"}, "column 8"},
		{[]string{"cut", name, "--first", "-1"}, "--first"},
		{[]string{"cut", name, "--first", "1", "-o", name}, "exists already"},
		{[]string{"cut", name, "--first", "1", "-o", filepath.Join(dir, "no", "x")}, "cannot write"},
		{[]string{"cut", "--url", "http://h", name}, "--url does not apply"},
		{[]string{"redact", name, "--path", "x"}, "JSON pointer"},
		{[]string{"redact", name, "--pattern", "("}, "pattern"},
		{[]string{"redact", name, "--value", "@" + filepath.Join(dir, "nowhere")}, "--value"},
		{[]string{"redact", name, "--in-place", "-o", "x"}, "--in-place"},
		{[]string{"merge"}, "at least one file"},
		{[]string{"merge", name, name}, "two files are called"},
		{[]string{"merge", name, "--offset", "x=1s"}, `no file is called \"x\"`},
		{[]string{"merge", name, "--offset", "session=soon"}, "--offset"},
		{[]string{"export", name, "--format", "pdf"}, "jsonl, har, otlp, html"},
		{[]string{"export", filepath.Join(dir, "nowhere")}, "nowhere"},
	} {
		o := mcphud(t, append([]string{"journal"}, c.args...)...)
		if !strings.Contains(o.stderr, c.says) || o.code != 1 || o.out != "" {
			t.Errorf("%v: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
	assert.Equalf(t, contents(name), before, "the file changed")
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("files are left: %v", files)
	}
}

// What rules find is gone from the file, and what was taken out is told; the file that it came from stays.
func TestJournalRedact(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	before := contents(name)
	out := filepath.Join(t.TempDir(), "share.jsonl")
	o := mcphud(t, "journal", "redact", name, "--key", "text", "--value", "fakemcp", "--path", "/params/clientInfo/title", "--pattern", "Fake [a-z]+", "-o", out)
	o.ok(t)
	got := contents(out)
	for _, gone := range []string{`"hello"`, "fakemcp", "Fake server"} {
		if !strings.Contains(before, gone) || strings.Contains(got, gone) {
			t.Errorf("%q is there, or never was:\n%s", gone, got)
		}
	}
	assert.Contains(t, got, `"clientInfo":{"name":"mcphud","title":"[title-1]",`)
	for _, says := range []string{"took out ", " values of 12 entries", "  key text: ", "/params/arguments/text (1)", "  value 1: ", "server (12)", "  path /params/clientInfo/title: 1 in 1 entry", "  pattern Fake [a-z]+: 1"} {
		assert.Contains(t, o.stderr, says)
	}
	if strings.Contains(strings.ReplaceAll(o.stderr, name, ""), "fakemcp") {
		t.Errorf("the report repeats a value:\n%s", o.stderr)
	}
	assert.Contains(t, mcphud(t, "open", out, "--format", "text").ok(t), "[value-1] tools/call echo #4 ok")
	assert.Equalf(t, contents(name), before, "the file itself changed")
	mcphud(t, "journal", "redact", name, "--value", "fakemcp", "--in-place").ok(t)
	if got := contents(name); strings.Contains(got, "fakemcp") || strings.Count(got, "\n") != 12 {
		t.Error(got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*")); len(left) != 1 {
		t.Errorf("%v", left)
	}
}

// A page for people, and spans for a collector, of the same file.
func TestJournalExportForOthers(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	page := mcphud(t, "journal", "export", name, "--format", "html", "--filter", "tool:echo").ok(t)
	if !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.Contains(page, "→ tools/call echo") || strings.Contains(page, "initialize") || !strings.Contains(page, "default-src &#39;none&#39;;") {
		t.Error(page)
	}
	var spans struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Name string `json:"name"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	out := mcphud(t, "journal", "export", name, "--format", "otlp").ok(t)
	if err := json.Unmarshal([]byte(out), &spans); err != nil || len(spans.ResourceSpans) != 1 || len(spans.ResourceSpans[0].ScopeSpans[0].Spans) != 4 {
		t.Errorf("%v: %s", err, out)
	}
}

// Every command that the manual shows works as it stands there, in its order.
func TestJournalReadmeCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, from := range map[string]string{"session.jsonl": recorded(t), "client.jsonl": recorded(t), "browser.har": "../../session/traffic/importer/testdata/browser.har"} {
		write(t, filepath.Join(dir, file), contents(from))
	}
	n := 0
	for line := range strings.Lines(section(traffic.README, "Journal files")) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ mcphud ")
		if !ok {
			continue
		}
		n++
		words := shellWord.FindAllString(args, -1)
		for i, w := range words {
			words[i] = strings.Trim(w, "'")
		}
		cmd := command(t, words...)
		cmd.Dir = dir
		out := finish(t, cmd).ok(t)
		if i := slices.Index(words, "-o"); i >= 0 {
			out = contents(filepath.Join(dir, words[i+1]))
		}
		if out == "" && !strings.Contains(args, "status:error") {
			t.Errorf("mcphud %s wrote nothing", args)
		}
	}
	if n < 7 {
		t.Errorf("%d commands were found", n)
	}
}

// The manual describes each member of a line.
func TestJournalReadmeMembers(t *testing.T) {
	t.Parallel()
	e := journal.Entry{
		Seq: 2, Time: time.Now(), Server: "s", Conn: 1, Dir: journal.In, Kind: journal.Response, Method: "m", ID: "1", Tool: "t", Peer: 1,
		Took: time.Second, Status: journal.OK, Note: "n", Hop: "router", Trace: strings.Repeat("a", 32), Size: 1,
	}
	at := 0
	check := func(line []byte) {
		var members map[string]any
		require.NoError(t, json.Unmarshal(line, &members))
		for name := range members {
			if !strings.Contains(traffic.README, "\n| `"+name+"` | ") {
				t.Errorf("the manual lacks %s", name)
			}
		}
		at += len(members)
	}
	check(journal.AppendLine(nil, e, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)))
	e.Kind = journal.Bad
	check(journal.AppendLine(nil, e, []byte("text")))
	check(journal.AppendLine(nil, e, []byte("\xff")))
	assert.Equalf(t, at, 3*17, "members: is one not in the lines of this test?")
	for k := journal.Request; k <= journal.Span; k++ {
		if !strings.Contains(traffic.README, "`"+k.String()+"`") {
			t.Errorf("the manual lacks the kind %s", k)
		}
	}
}
