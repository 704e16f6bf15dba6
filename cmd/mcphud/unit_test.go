package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

func TestSimilar(t *testing.T) {
	t.Parallel()
	names := []string{"echo", "add", "get_weather", "get_time", "list"}
	for name, want := range map[string][]string{
		"ecko":    {"echo"},
		"Echo":    {"echo"},
		"weather": {"get_weather"},
		"get":     {"get_time", "get_weather"},
		"zzz":     nil,
		"xy":      nil,
	} {
		if got := similar(name, names); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := similar(strings.Repeat("a", 1<<20), []string{strings.Repeat("b", 1<<20)}); got != nil {
		t.Error("names of a megabyte were compared")
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"same", "same", 0}} {
		if got := text.Edits(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestTableAlignsAndCuts(t *testing.T) {
	t.Parallel()
	rows := func() [][]string {
		return [][]string{{"a", "", "a description that is too long for 30"}, {"東京", "x", "short"}, {"e\x1b]0;t\a", "y", ""}}
	}
	cut, whole := &textOutput{}, &textOutput{}
	cut.table(30, rows())
	whole.table(0, rows())
	wantCut := "a             a description t…\n東京       x  short\ne^[]0;t^G  y\n"
	wantWhole := "a             a description that is too long for 30\n東京       x  short\ne^[]0;t^G  y\n"
	for got, want := range map[string]string{cut.b.String(): wantCut, whole.b.String(): wantWhole} {
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	named := &textOutput{}
	named.table(20, [][]string{{"demo://a/long/name", "n", "d"}, {"b", "x", "d"}})
	if got := named.b.String(); got != "demo://a/long/name …\nb                x …\n" {
		t.Errorf("got\n%s", got)
	}
	long := &textOutput{}
	long.table(0, [][]string{{strings.Repeat("n", 1<<20), "x"}, {"b", "y"}})
	if lines := strings.Split(long.b.String(), "\n"); len(lines[1]) != widestCell+3 {
		t.Errorf("a long name makes the next line %d wide", len(lines[1]))
	}
}

// The answers to a question stand together, whatever is before them.
func TestChoices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question string
		width    int
		want     string
	}{
		{"Call it?", 80, "Call it? [y/N] "},
		{"Call it?", 0, "Call it? [y/N] "},
		{"Call it with these?\n{}", 20, "Call it with these?\n{} [y/N] "},
		{strings.Repeat("q", 73), 80, strings.Repeat("q", 73) + "\n[y/N] "},
		{strings.Repeat("q", 81), 80, strings.Repeat("q", 81) + " [y/N] "},
	} {
		if got := choices(c.question, c.width); got != c.want {
			t.Errorf("%q at %d: %q", c.question, c.width, got)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"64MiB": "64MiB", "1024": "1KiB", "1GiB": "1GiB", "1000": "1000", "1MB": "1000000"} {
		var s size
		if err := s.Set(in); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, want %s", in, &s, err, want)
		}
	}
	for _, in := range []string{"", "0", "-1", "many", "1e30GiB"} {
		var s size
		if err := s.Set(in); err == nil {
			t.Errorf("%q was taken as %s", in, &s)
		}
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	base := map[string]string{"authorization": "old", "X": "y"}
	got, err := pairs(base, []string{"Authorization:  Bearer a:b ", "Empty:"}, ":", "-H", "")
	if want := map[string]string{"Authorization": "Bearer a:b", "X": "y", "Empty": ""}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if base["authorization"] != "old" {
		t.Error("the configuration was changed")
	}
	got, err = pairs(nil, []string{"A= b=c "}, "=", "-e", "")
	if err != nil || got["A"] != " b=c " {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"greet":            `{"name":"greet","type":"ref/prompt"}`,
		"file:///{path}":   `{"type":"ref/resource","uri":"file:///{path}"}`,
		"prompt:a://b":     `{"name":"a://b","type":"ref/prompt"}`,
		"resource:plain":   `{"type":"ref/resource","uri":"plain"}`,
		"resource:a<b>{c}": `{"type":"ref/resource","uri":"a\u003cb\u003e{c}"}`,
	} {
		if got := string(reference(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"db","data":"hello"}}`: "info db: hello",
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":{"a":1.0}}}`:            `error: {"a":1.0}`,
	} {
		if got := logLine([]byte(in)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestProgressText(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]rpc.Progress{
		"3/10 (30 %) step": {Progress: 3, Total: 10, HasTotal: true, Message: "step"},
		"7":                {Progress: 7},
		"2 x":              {Progress: 2, HasTotal: true, Message: "x"},
	} {
		if got := progressText(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a": 1.0}`:         `{"a": 1.0}`,
		"{\"a\":\n 1.0\r\n}": `{"a":1.0}`,
		"{\n\"<\":\"&\"}":    `{"<":"&"}`,
		"broken\r\n{":        "broken {",
	} {
		if got := string(oneLine([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestErrorLineIsOneLine(t *testing.T) {
	t.Parallel()
	code := int64(-32602)
	var b bytes.Buffer
	writeErrorJSON(&b, &failure.Error{
		Kind: failure.RpcError, Server: "s", Stage: "tools/call x", Message: "two\nlines <b>", Code: &code, Data: json.RawMessage("{\n \"a\": 9007199254740993\n}"),
		Detail: "last\nwords", Next: "do this",
	}, false)
	want := `{"error":{"kind":"RpcError","code":-32602,"message":"s: tools/call x: two\nlines <b>; do this","cause":"last\nwords","status":null,"url":null,"data":{"a":9007199254740993}}}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

func TestErrorTextIsHarmlessOnATerminal(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	writeErrorText(&b, &failure.Error{Kind: failure.RpcError, Server: "evil\x1b[2J", Message: "x\x1b]52;c;AAAA\a", Detail: "one\ntwo\x9b", Next: "go on"}, true, 0)
	if out := b.String(); strings.ContainsAny(out, "\x1b\a") || strings.Contains(out, "\x9b") || !strings.Contains(out, "  next    go on\n") || !strings.Contains(out, "one\n          two") {
		t.Errorf("%q", out)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errInterrupted)
	if e := explain(ctx, context.Canceled); e.Kind != failure.Interrupted || exitCodes[e.Kind] != exitInterrupted {
		t.Errorf("%+v", e)
	}
	// A failure that came before the signal stays what it was.
	if e := explain(ctx, &failure.Error{Kind: failure.RpcError, Message: "no"}); e.Kind != failure.RpcError {
		t.Errorf("%+v", e)
	}
	if e := explain(context.Background(), errors.New("odd")); exitCodes[e.Kind] != exitFailure || e.Message != "odd" {
		t.Errorf("%+v", e)
	}
}

// A server's name that would be read as a flag, or change the line, is not completed.
func TestCompletableNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"greet": true, "a-b": true, "--journal=/tmp/x": false, "-e": false, "a\tb": false, "a\nb": false} {
		if completable(name) != want {
			t.Errorf("completable(%q) is %v", name, !want)
		}
	}
}

// On a terminal an error is broken at blanks, so that a flag can be read and copied.
func TestErrorTextBreaksAtBlanks(t *testing.T) {
	var b strings.Builder
	writeErrorText(&b, &failure.Error{Message: "no server was named", Next: "name one with -- COMMAND ARGS…, --url URL, --agent NAME or --server NAME"}, true, 60)
	want := "error: no server was named\n  next    name one with -- COMMAND ARGS…, --url URL, --agent\n          NAME or --server NAME\n"
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}
