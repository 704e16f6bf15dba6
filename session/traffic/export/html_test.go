package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/serve/fault"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func pageOf(t *testing.T, j *journal.Journal, name string) (text, left string) {
	t.Helper()
	var b bytes.Buffer
	findings, err := live.PageFindings(context.Background(), j, nil)
	require.NoError(t, err)
	left, err = export.HTML(context.Background(), &b, j, nil, findings, name, "1.2.3")
	require.NoError(t, err)
	return b.String(), left
}

// elements are the elements of a page by name, with their attributes and the text in them.
func elements(t *testing.T, text string, f func(n *html.Node)) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			f(n)
		}
	}
}

// harmless fails where a page could load, run or hide something.
func harmless(t *testing.T, text string) {
	t.Helper()
	count := map[string]int{}
	elements(t, text, func(n *html.Node) {
		count[n.Data]++
		switch n.Data {
		case "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "form", "input", "span", "button", "main", "details", "summary", "div", "pre", "script",
			"table", "tbody", "tr", "td", "th", "a", "br":
		default:
			t.Errorf("the page has an element %s", n.Data)
		}
		for _, a := range n.Attr {
			ok := regexp.MustCompile(`^(#f\d+|https://modelcontextprotocol\.io/[\w./#-]+)$`).MatchString(a.Val)
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style" || a.Key == "href" && !ok {
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
	})
	if count["script"] != 1 || count["style"] != 1 || count["meta"] != 5 || count["form"] != 1 || count["input"] != 1 {
		t.Errorf("elements: %v", count)
	}
	for _, r := range []rune{0, 0x1b, 0x7f, 0x202e, 0x200b, 0xe0041} {
		if strings.ContainsRune(text, r) {
			t.Errorf("the page has a character U+%04X", r)
		}
	}
}

// The page shows the exchanges, their messages and what is against the specification, and loads nothing.
func TestHTML(t *testing.T) {
	text, left := pageOf(t, said(t), "/tmp/session.jsonl")
	harmless(t, text)
	for _, want := range []string{
		"<title>session.jsonl</title>", "2026-11-20 10:00:00", "files, web", "→ tools/call ask &lt;/script&gt;", `<span class="error">error</span>`,
		"&#34;big&#34;: 12345678901234567890", "timed out", "401 Unauthorized", "ready",
	} {
		assert.Contains(t, text, want)
	}
	if !strings.Contains(text, "<h2>Findings</h2>") || left != "" {
		t.Errorf("findings are not shown, or %q", left)
	}
}

// What a server says is only ever text: in names, methods, ids, notes and bodies.
func TestHTMLHostile(t *testing.T) {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	texts := append(fault.PayloadTexts(4<<10), `</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "</style></pre></details><iframe>", "{{.}}", "<!--", "]]>", "javascript:alert(1)", "\u202edlrow", "a\u200bb\U000e0041")
	for i, s := range texts {
		q, _ := json.Marshal(s)
		e := journal.Entry{Server: s, Conn: 1, Dir: journal.In, Kind: journal.Notification, Method: s, ID: s, Tool: s, Note: s, Status: journal.OK, Time: time.Unix(int64(i), 0)}
		j.Append(e, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":{%s:%s}}`, q, q, q))
		e.Kind = journal.Request
		j.Append(e, []byte(s))
		e.Kind = journal.Stderr
		j.Append(e, []byte(s+"\xff\x00"))
	}
	text, _ := pageOf(t, j, `x"><script>alert(1)</script>.jsonl`)
	harmless(t, text)
	var b bytes.Buffer
	var findings []export.Finding
	for _, s := range texts {
		s = strings.Map(func(r rune) rune { // nothing hides what a rule of ours says
			if r < ' ' || r > '~' {
				return -1
			}
			return r
		}, s)
		f := export.Finding{Severity: s, Rule: s, Title: s, Fix: s, Where: []uint64{1}, More: 1}
		if !strings.HasPrefix(s, "https://") { // which only a rule of ours could name
			f.Section = s
		}
		findings = append(findings, f)
	}
	if _, err := export.HTML(context.Background(), &b, j, nil, findings, "x", `"><script>alert(1)</script>`); err != nil {
		t.Fatal(err)
	}
	harmless(t, b.String())
}

// A page of any journal has about the size that is stated, and says what is not in it.
func TestHTMLIsBounded(t *testing.T) {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	big, small := bytes.Repeat([]byte("0123456789"), 10_000), bytes.Repeat([]byte("x"), 300)
	for i := range 20_000 {
		body := small
		if i < 1000 {
			body = big
		}
		j.Append(journal.Entry{Server: "s", Dir: journal.In, Kind: journal.Stderr, Time: time.Unix(int64(i), 0), Note: strings.Repeat("n", 200)}, body)
	}
	text, left := pageOf(t, j, "big.jsonl")
	if len(text) < export.MaxPage/2 || len(text) > export.MaxPage+export.MaxBody*2 || !strings.Contains(left, "rows are left out") || !strings.Contains(left, "Messages cut or left out: 5886") ||
		!strings.Contains(text, "rows are left out") || !strings.Contains(text, "cut: the whole is 100.0 kB") {
		t.Errorf("%d bytes, %s", len(text), left)
	}
}

// In a browser the filter hides rows, links to messages open them, nothing is loaded, and nothing breaks the policy.
func TestE2EPageInChromium(t *testing.T) {
	chromium := peertest.Chromium(t)
	text, _ := pageOf(t, said(t), "s.jsonl")
	name := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox)...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	said := make(chan string, 100)
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			said <- e.Entry.Text
		case *runtime.EventExceptionThrown:
			said <- fmt.Sprint(e.ExceptionDetails)
		}
	}))
	defer func() {
		patience, over := context.WithTimeout(ctx, 30*time.Second)
		defer over()
		_ = chromedp.Cancel(patience) // waits for the end of the browser
	}()
	work, over := context.WithTimeout(ctx, time.Minute)
	defer over()
	number := func(expression string) int {
		t.Helper()
		n, err := chromedp.Run(work, chromedp.Evaluate[int](expression))
		require.NoError(t, err)
		return n
	}
	require.NoError(t, chromedp.Do(work, chromedp.Navigate("file://"+name)))
	const visible = `[...document.querySelectorAll('details.x')].filter(r => r.offsetParent !== null).length`
	all := number(visible)
	require.NoError(t, chromedp.Do(work, chromedp.SendKeys(chromedp.CSS("#q"), "tools/call -never")))
	if n := number(visible); all < 10 || n != 2 {
		t.Errorf("%d of %d rows are shown", n, all)
	}
	opened, err := chromedp.Run(work, chromedp.Evaluate[bool](`new Promise(r => {
		addEventListener('hashchange', () => r(document.getElementById('f1').closest('details').open));
		location.hash = '#f1';
	})`, chromedp.EvalAwaitPromise))
	if n := number(visible); err != nil || !opened || n != 3 {
		t.Errorf("a link does not open its row: %v, %v, %d rows are shown", opened, err, n)
	}
	assert.Equalf(t, number(`performance.getEntriesByType('resource').length`), 0, "resources were loaded")
	if shots := os.Getenv("MCPHUD_SHOTS"); shots != "" {
		if picture, err := chromedp.Run(work, chromedp.FullScreenshot(100)); err != nil || os.WriteFile(filepath.Join(shots, "journal.png"), picture, 0o600) != nil {
			t.Error(err)
		}
	}
	select {
	case s := <-said:
		t.Errorf("the console says %s", s)
	default:
	}
}
