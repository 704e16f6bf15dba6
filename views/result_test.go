package views_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// answering is a server whose one tool, "give", answers with a result.
func answering(result func() any) func(context.Context, io.Reader, io.Writer) error {
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		return serveLines(in, out, func(method string) (any, bool) {
			switch method {
			case "initialize":
				return m{"protocolVersion": "2025-11-25", "serverInfo": m{"name": "one", "version": "1"}, "capabilities": m{"tools": m{}}}, true
			case "tools/list":
				return m{"tools": []any{m{"name": "give", "inputSchema": m{"type": "object"}}}}, true
			case "tools/call":
				return result(), true
			case "ping":
				return m{}, true
			}
			return nil, false
		})
	}
}

// called opens the tool's form, calls it and is in the result.
func called(t *testing.T, w, h int, result func() any) *tuitest.App {
	app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("one", answering(result)),
		tuitest.At("tools", nil), tuitest.Size(w, h))
	app.View("tools").Pane("list").Has("give")
	app.Press("enter").View("call")
	app.Press("ctrl+g").Pane("result").Has("Result ✓ ")
	return app
}

func text(s string, more ...any) m {
	out := m{"type": "text", "text": s}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// Every block of a result is in one scroll, with a rule above each; brackets go from one to the next and on to the tabs.
func TestEveryBlockInOneScroll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := called(t, 80, 24, func() any {
			return m{"content": []any{
				text("one\n", "name", "STDOUT"), text(`{"two":[2,3]}`, "name", "STDERR"), text("# Three\n\n- **last**\n- end"),
			}}
		})
		app.Pane("result").Has("── 1/3 text · STDOUT · 4 B ──", "one", "── 2/3 text · STDERR · 13 B ──", `"two": [`, "── 3/3 text · 25 B ──", "▸text   raw", "t frames · r run again · y copy · block 1/3")
		app.Press("]").Pane("result").Has("block 2/3")
		app.Press("enter").Pane("result").Has("text · STDERR · 13 B", `▾ "two": [2]`, "esc back").HasNot("3/3")
		app.Press("esc").Pane("result").Has("1/3", "block 2/3")
		app.Press("]", "]").Pane("result").Has(" text  ▸raw", `"content"`)
		app.Press("[").Pane("result").Has("▸text   raw", "1/3")
	})
}

// A text of the tree is read whole: enter or space opens it, wrapped; esc goes back to it.
func TestReadALongTextOfTheTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("word ", 200) + "\nsecond line and the end"
		app := called(t, 80, 24, func() any { return m{"content": []any{}, "structuredContent": m{"a": m{"b": long}, "n": 1}} })
		for _, key := range []string{"enter", "space", "w"} {
			app.Press("g", "j", "j", key).Pane("result").Has(".a.b · 1.0 kB", "esc back")
			app.Press("G").Pane("result").Has("second line and the end")
			app.Press("y", "p").Toast("copied")
			if want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(".structuredContent.a.b")); !strings.Contains(string(app.Output()), want) {
				t.Error("the path was not copied")
			}
			app.Press("esc").Pane("result").Selected(`"b": "word word`)
		}
		app.Press("g", "w").Toast("enter on a text opens all of it")
	})
}

// An array of objects is a table, of which only what is visible is read; enter opens a row.
func TestArrayOfObjectsAsATable(t *testing.T) {
	for _, rows := range []int{40, 100_000} {
		synctest.Test(t, func(t *testing.T) {
			app := called(t, 80, 24, func() any {
				var b strings.Builder
				b.WriteString(`{"content":[],"structuredContent":{"total":1,"issues":[`)
				for i := range rows {
					if i > 0 {
						b.WriteByte(',')
					}
					fmt.Fprintf(&b, `{"id":%d,"title":"issue %d","state":"open","labels":["bug"],"author":"ada","body":"a long text that takes many cells %d","url":"https://example.org/issues/%d","last":true}`, i, i, i, i)
				}
				return json.RawMessage(b.String() + `]}}`)
			})
			app.Press("m").Pane("result").Has("#", "id title", "issue 0", "open", `["bug"]`, "columns 1-6 of 8")
			app.Press("G").Pane("result").Has(fmt.Sprint("issue ", rows-1))
			app.Press("right", "right", "right", "right", "right", "right").Pane("result").Has("url", "last", "true", "-8 of 8").HasNot("state")
			app.Press("enter").Pane("result").Has(fmt.Sprintf(".structuredContent.issues[%d]", rows-1), fmt.Sprintf(`"title": "issue %d"`, rows-1))
			app.Press("esc", "/").Type("issue 17").Press("enter").Pane("result").Selected("issue 17").Has("/issue 17 1/")
			app.Press("m").Pane("result").Has("issue 17")
		})
	}
}

// A search says which match of how many is shown; that there is none is said once, and quietly.
func TestSearchSaysWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := called(t, 80, 24, func() any {
			var list []any
			for i := range 3 {
				list = append(list, text(strings.Repeat(fmt.Sprintf("line\n%d port and port\n", i), 2)))
			}
			return m{"content": list}
		})
		app.Press("/").Type("port").Press("enter").Pane("result").Has("/port 1/12")
		app.Press("n", "n").Pane("result").Has("/port 3/12")
		app.Press("N", "N", "N").Pane("result").Has("/port 12/12 wrapped")
		app.Press("/", "ctrl+u").Type("nowhere").Press("enter").Pane("result").Has("/nowhere no match")
		if got := app.State().Messages; len(got) > 0 {
			t.Errorf("toasts: %v", got)
		}
	})
}

// From a result one key shows what was said while it was asked; health checks and probes are folded away elsewhere.
func TestFramesOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := called(t, 120, 40, func() any { return m{"content": []any{text("hello there")}} })
		app.Press("t").View("traffic").Pane("list").Has("tools/call give", "✓ ok", `"hello`, "frames of tools/call give").HasNot("initialize", "tools/list")
		app.Hints().Has("m all frames", "q back")
		app.Press("q").View("call")
		app.Press("t").View("traffic")
		app.Press("esc").View("call").Pane("result").Has("hello there")
		app.Press("?").Overlay("Help").Rows(tuitest.Eq("›"), tuitest.Eq("Call · Result")) // the pane that has the focus first
		app.Press("esc")
		app.Press("6").View("traffic").Pane("list").Has("initialize", "tools/list", "1 probe hidden · :probes shows").HasNot("server/discover")
		app.Press(":probes").Pane("list").Has("server/discover", "not offered").HasNot("✗ error")
		app.Press(":probes").Pane("list").HasNot("server/discover")
	})
}
