package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

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
		assert.Equalf(t, choices(c.question, c.width), c.want, "%q at %d", c.question, c.width)
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	base := map[string]string{"authorization": "old", "X": "y"}
	got, err := Pairs(base, []string{"Authorization:  Bearer a:b ", "Empty:"}, ":", "-H", "")
	if want := map[string]string{"Authorization": "Bearer a:b", "X": "y", "Empty": ""}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	assert.Equalf(t, base["authorization"], "old", "the configuration was changed")
	got, err = Pairs(nil, []string{"A= b=c "}, "=", "-e", "")
	if err != nil || got["A"] != " b=c " {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"db","data":"hello"}}`: "info db: hello",
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":{"a":1.0}}}`:            `error: {"a":1.0}`,
	} {
		assert.Equal(t, logLine([]byte(in)), want)
	}
}

func TestProgressText(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]rpc.Progress{
		"3/10 (30 %) step": {Progress: 3, Total: 10, HasTotal: true, Message: "step"},
		"7":                {Progress: 7},
		"2 x":              {Progress: 2, HasTotal: true, Message: "x"},
	} {
		assert.Equal(t, progressText(p), want)
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
	assert.Equal(t, b.String(), want)
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
	cancel(ErrInterrupted)
	if e := Explain(ctx, context.Canceled); e.Kind != failure.Interrupted || ExitCodes[e.Kind] != ExitInterrupted {
		t.Errorf("%+v", e)
	}
	// A failure that came before the signal stays what it was.
	if e := Explain(ctx, &failure.Error{Kind: failure.RpcError, Message: "no"}); e.Kind != failure.RpcError {
		t.Errorf("%+v", e)
	}
	if e := Explain(context.Background(), errors.New("odd")); ExitCodes[e.Kind] != ExitFailure || e.Message != "odd" {
		t.Errorf("%+v", e)
	}
}

// On a terminal an error is broken at blanks, so that a flag can be read and copied.
func TestErrorTextBreaksAtBlanks(t *testing.T) {
	var b strings.Builder
	writeErrorText(&b, &failure.Error{Message: "no server was named", Next: "name one with -- COMMAND ARGS…, --url URL, --agent NAME or --server NAME"}, true, 60)
	want := "error: no server was named\n  next    name one with -- COMMAND ARGS…, --url URL, --agent\n          NAME or --server NAME\n"
	assert.Equal(t, b.String(), want)
}
