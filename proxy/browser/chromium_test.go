package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// page is a tab of a headless Chromium.
type page struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string // errors and warnings of the console, those of the policy among them
}

// open starts a browser of its own for the test, and opens an address in it.
func open(t *testing.T, url string) *page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(peertest.Chromium(t)), chromedp.WindowSize(1280, 900),
		chromedp.NoSandbox) // root has none, and CI often is root; what is opened is our own page
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	p := &page{t: t, ctx: ctx}
	t.Cleanup(func() {
		patience, over := context.WithTimeout(ctx, 10*time.Second)
		if err := chromedp.Cancel(patience); err != nil { // waits for the end of the browser
			t.Logf("close Chromium: %v", err)
		}
		over()
		cancel()
		stop()
	})
	if err := chromedp.Listen(ctx, p.listen); err != nil { // starts it; it lives as long as ctx
		t.Fatalf("start Chromium: %v", err)
	}
	p.do(chromedp.Navigate(url))
	return p
}

func (p *page) listen(event any) {
	said := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		said = e.Entry.Text + " " + e.Entry.URL
	case *runtime.EventExceptionThrown:
		said = fmt.Sprint(e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		said = fmt.Sprint(e.Type)
	}
	if said != "" {
		p.mu.Lock()
		p.complaints = append(p.complaints, said)
		p.mu.Unlock()
	}
}

// said is what the console got so far.
func (p *page) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.complaints
}

// do does something in the page, and fails the test when it takes longer than a busy machine would.
func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.fail(err)
	}
}

func (p *page) fail(err error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	body, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`)) // to help with err, if it can
	p.t.Fatalf("%v\non the page:\n%s\nthe console says %q", err, body, p.said())
}

// eval decodes the value of a JavaScript expression, which may be a promise, into v unless that is nil.
func (p *page) eval(expression string, v any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	// By default what is evaluated here may do what the page's policy does not allow.
	obey := func(e *runtime.EvaluateParams) { e.AllowUnsafeEvalBlockedByCSP = new(bool) }
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise, chromedp.EvalAsValue, obey))
	if err == nil && v != nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		p.fail(fmt.Errorf("%s: %w", expression, err))
	}
}

// until waits for an expression to be true.
func (p *page) until(expression string) {
	p.t.Helper()
	p.eval(`(async () => { while (!(`+expression+`)) await new Promise((r) => setTimeout(r, 10)); return true; })()`, nil)
}

// text is what can be read in the first element of a selector.
func (p *page) text(selector string) (s string) {
	p.t.Helper()
	p.eval(`document.querySelector(`+strconv.Quote(selector)+`).innerText`, &s)
	return s
}

// click clicks with the mouse.
func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// key types.
func (p *page) key(selector, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// choose chooses an agent.
func (p *page) choose(agent string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll('#agents option')].some((o) => o.value === %q)`, agent))
	p.eval(fmt.Sprintf(`(() => { const a = document.getElementById('agents'); a.value = %q; a.dispatchEvent(new Event('change')); })()`, agent), nil)
}

// pick chooses a tool.
func (p *page) pick(tool string) {
	p.t.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll('#tools button')].find((b) => b.textContent === %q)`, tool)
	p.until(button)
	p.eval(button+`.click()`, nil)
	p.until(fmt.Sprintf(`document.activeElement === document.getElementById('title') && document.activeElement.textContent === %q`, tool))
}

// field is a selector of the input with a label.
func (p *page) field(within, label string) string {
	p.t.Helper()
	var id string
	p.eval(fmt.Sprintf(`[...document.querySelectorAll('%s label')].find((l) => l.firstChild.textContent === %q)?.htmlFor ?? ''`, within, label), &id)
	if id == "" {
		p.t.Fatalf("no field %s in %s: %s", label, within, p.text(within))
	}
	return "#" + id
}

// fill types into an empty field of the tool.
func (p *page) fill(label, value string) {
	p.t.Helper()
	selector := p.field("#fields", label)
	p.eval(`document.querySelector(`+strconv.Quote(selector)+`).value = ''`, nil)
	p.key(selector, value)
}

// call presses the button, and returns what is shown of the result.
func (p *page) call() string {
	p.t.Helper()
	p.click("#run")
	return p.result()
}

// result waits for the end of a call, and returns what is shown of it.
func (p *page) result() string {
	p.t.Helper()
	p.until(`!document.getElementById('run').disabled && document.getElementById('result').childElementCount > 0`)
	return strings.TrimSpace(p.text("#result"))
}

// shoot writes a picture of the whole page.
func (p *page) shoot(file string) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, picture, 0o600)
	}
	assert.NoError(p.t, err)
}

// look is what can be measured of how the page looks: its width, its background, and the texts that are hard to read.
type look struct {
	Wide  int64
	Back  string
	Ratio float64 // how many texts there are
	Thin  []string
}

func (p *page) look() (look look) {
	p.t.Helper()
	p.eval(`(() => {
	const light = (css) => { const [r, g, b] = css.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const behind = (node) => { for (; node; node = node.parentElement) { const c = getComputedStyle(node).backgroundColor; if (!/, 0\)|transparent/.test(c)) return c; } return 'rgb(255,255,255)'; };
	const texts = [...document.querySelectorAll('body *')].filter((n) => n.checkVisibility() && [...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim()) && n.tagName !== 'NOSCRIPT');
	const thin = texts.filter((n) => ratio(getComputedStyle(n).color, behind(n)) < 4.5).map((n) => n.tagName + ' ' + n.textContent.slice(0, 40));
	return { wide: document.documentElement.scrollWidth, back: getComputedStyle(document.body).backgroundColor, ratio: texts.length, thin };
})()`, &look)
	return look
}
