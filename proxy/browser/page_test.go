package browser_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A page on the router's origin imports the client and uses it with a relative baseUrl.
func TestB2_B3_E2EInChromium(t *testing.T) {
	p := open(t, serve(t, map[string]string{"agent-name": agent(t, agentsrv.Options{Root: t.TempDir()})})+"/browser/page.css")
	var seen struct {
		Exports          []string
		Tools, Resources int
		Result, Content  string
		Progress         []float64
		Era              string
	}
	p.eval(`(async () => {
		const module = await import('/MCPBrowserClient.js');
		const { MCPBrowserClient } = module;
		const client = new MCPBrowserClient({ baseUrl: '/mcps/agent-name' });
		const tools = await client.listTools();
		const result = await client.callTool('execute_code', { code: '1 + 1' });
		const resources = await client.listResources();
		const content = await client.readResource(resources[0].uri);
		const progress = [];
		await client.callTool('sleep', { seconds: 0.1, steps: 3 }, { onProgress: (p) => progress.push(p.progress) });
		const { era } = await client.connect();
		await client.close();
		return { exports: Object.keys(module).sort(), tools: tools.length, resources: resources.length, result: result.content[0].text,
			content: content[0].uri === resources[0].uri ? 'same' : 'other', progress, era };
	})()`, &seen)
	if fmt.Sprint(seen.Exports) != "[MCPBrowserClient MCPError createAgentClient default]" {
		t.Errorf("exports %v", seen.Exports)
	}
	if seen.Tools < 5 || seen.Resources == 0 || !strings.Contains(seen.Result, "2") || seen.Content != "same" || seen.Era != "modern" || fmt.Sprint(seen.Progress) != "[1 2 3]" {
		t.Errorf("saw %+v", seen)
	}
}

// The page lists agents and tools, makes a form of a schema, and shows results, progress, errors and questions.
func TestB6_E2EPage(t *testing.T) {
	agents := map[string]string{
		"demo":       agent(t, agentsrv.Options{}),
		"everything": agent(t, agentsrv.Options{Profile: agentsrv.Everything}),
		"gone":       "http://127.0.0.1:1",
	}
	p := open(t, serve(t, agents)+"/")
	p.until(`document.querySelectorAll('#agents option').length === 4`)
	p.choose("demo")
	p.until(`/^mcphud agent |^demo /.test(document.getElementById('server').textContent) && document.getElementById('server').textContent.includes('2026-07-28')`)

	p.pick("add")
	p.fill("a", "40")
	p.fill("b", "2x")
	p.click("#run")
	var why string
	p.eval(`document.querySelector('#fields :invalid').validationMessage`, &why)
	assert.Equalf(t, why, "must be a number", "b is 2x")
	p.fill("b", "2")
	assert.Contains(t, p.call(), "Done after", `"sum": 42`)
	p.pick("fail")
	assert.Contains(t, p.call(), "The tool failed", "failed as asked")
	p.pick("contents")
	assert.Contains(t, p.call(), "image/png", "resource link")
	p.until(`document.querySelector('#result img').naturalWidth > 0`)

	// Each kind of field of a schema sends what it says.
	p.pick("form_gallery")
	if dir := os.Getenv("MCPHUD_SHOTS"); dir != "" {
		p.shoot(filepath.Join(dir, "gallery.png"))
	}
	for field, kind := range map[string]string{"age": "integer · 0–150", "big": "integer"} {
		var said string
		if p.eval(fmt.Sprintf(`document.querySelector('label[for="' + document.querySelector(%q).id + '"] .kind').textContent`, p.field("#fields", field)), &said); said != kind {
			t.Errorf("%s is said to be %q", field, said)
		}
	}
	p.fill("name (Name)", "Ada")
	p.fill("big", "9007199254740993")
	p.fill("price", "1.50")
	p.fill("age", "1.5")
	for _, c := range []struct{ field, why, value string }{
		{"age", "must be an integer", "36"},
		{"address (Address)", "must be a JSON object", `{"street": "A", "city": "B"}`},
		{"tags", "is not JSON", `["x", "y"]`},
	} {
		if c.field == "address (Address)" {
			p.fill("tags", "[")
			p.fill("address (Address)", "[]")
		}
		p.click("#run")
		p.eval(`document.querySelector('#fields :invalid').validationMessage`, &why)
		if !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: %q instead of %q", c.field, why, c.why)
		}
		p.fill(c.field, c.value)
	}
	p.eval(fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = [...s.options].find((o) => o.text === 'true').value; })()`, p.field("#fields", "agree")), nil)
	got := p.call()
	for _, want := range []string{`"name": "Ada"`, `"kind": "person"`, `"age": 36`, `"big": 9007199254740993`, `"agree": true`, "\"tags\": [\n    \"x\"", `"street": "A"`, `"price":1.50`} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, `"nickname"`, `"gift"`, `"color"`)

	// Progress, and its end by the button. By keyboard: Ctrl+Enter in a field calls.
	p.pick("sleep")
	p.fill("seconds", "60")
	p.eval(fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }))`, p.field("#fields", "seconds")), nil)
	p.until(`/task working|step 1 of 10/.test(document.getElementById('activity').textContent)`)
	p.until(`!document.getElementById('progress').hidden`)
	p.click("#cancel")
	assert.Equalf(t, p.result(), "Cancelled.", "after Cancel")
	p.pick("echo") // one call runs at a time: the one before was cancelled at the agent, too
	p.fill("message", "<b id=x>grüß</b> 🙂")
	assert.Contains(t, p.call(), "<b id=x>grüß</b> 🙂")
	var markup int
	if p.eval(`document.querySelectorAll('#x').length`, &markup); markup != 0 {
		t.Error("a text became markup")
	}
	p.key("#filter", "ECH")
	p.until(`document.querySelectorAll('#tools button').length === 1 && document.getElementById('count').textContent.startsWith('1 of ')`)
	p.eval(`document.getElementById('filter').value = ''`, nil)

	p.choose("everything")
	p.eval(`document.getElementById('filter').dispatchEvent(new Event('input'))`, nil)
	p.pick("test_tool_with_progress")
	p.eval(`window.seen = []; window.said = []; new MutationObserver(() => { window.seen.push(document.getElementById('progress').value); window.said.push(document.getElementById('activity').textContent); }).observe(document.getElementById('activity'), { childList: true })`, nil)
	p.call()
	var values []float64
	if p.eval(`window.seen`, &values); !strings.Contains(fmt.Sprint(values), "50 100") {
		t.Errorf("progress %v", values)
	}
	var said []string
	if p.eval(`window.said`, &said); !strings.Contains(strings.Join(said, "|"), "50 % · ") {
		t.Errorf("progress is said as %q", said)
	}
	p.pick("test_elicitation")
	p.fill("message", "Who are you?")
	p.click("#run")
	p.until(`document.getElementById('ask').open`)
	if got := p.text("#question"); got != "Who are you?" {
		t.Errorf("asks %q", got)
	}
	p.key(p.field("#answers", "username"), "ada")
	p.key(p.field("#answers", "email"), "a@example.org")
	p.click(`#answer button[value="accept"]`)
	assert.Contains(t, p.result(), "action=accept", "a@example.org")
	p.click("#run")
	p.until(`document.getElementById('ask').open`)
	p.click(`#answer button[value="decline"]`)
	assert.Contains(t, p.result(), "action=decline")
	if said = p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}

	p.choose("gone")
	p.until(`!document.getElementById('notice').hidden && /^gone: Failed to reach agent/.test(document.getElementById('notice').textContent)`)
	p.until(`document.getElementById('state').textContent === 'failing' && document.querySelector('#agents option[value=gone]').textContent === 'gone (failing)'`)
}

// Where a token is wanted the page asks for it, and keeps it to itself.
func TestB6_E2EToken(t *testing.T) {
	forward := forwarder(t, agent(t, agentsrv.Options{}))
	mux := http.NewServeMux()
	for path, h := range browser.Routes(browser.Options{Agents: func(*http.Request) []browser.Agent { return []browser.Agent{{Name: "secret"}} }}) {
		mux.Handle(path, h)
	}
	mux.Handle("/mcps/secret/", http.StripPrefix("/mcps/secret", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer open sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		forward.ServeHTTP(w, r)
	})))
	s := httptest.NewServer(listen.Guard(mux))
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // of forward
	})
	p := open(t, s.URL)
	for _, token := range []string{"wrong", "open sesame"} {
		p.until(`!document.getElementById('login').hidden && document.getElementById('notice').textContent.includes('HTTP 401')`)
		p.key("#token", token)
		p.click("#login button")
	}
	p.until(`document.getElementById('login').hidden && document.getElementById('notice').hidden && document.querySelectorAll('#tools button').length > 0`)
	var kept string
	if p.eval(`document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.getElementById('token').value + location.href`, &kept); strings.Contains(kept, "sesame") {
		t.Errorf("the token is in %s", kept)
	}
}

// What goes wrong is gone from the page once it works again, and a call that was left leaves nothing under another tool.
func TestB6_E2EComesBack(t *testing.T) {
	forward := forwarder(t, agent(t, agentsrv.Options{}))
	var agentAway, routerAway atomic.Bool
	agentAway.Store(true)
	mux := http.NewServeMux()
	for path, h := range browser.Routes(browser.Options{Agents: func(*http.Request) []browser.Agent { return []browser.Agent{{Name: "a"}, {Name: "b"}} }}) {
		mux.Handle(path, h)
	}
	for _, name := range []string{"a", "b"} {
		mux.Handle("/mcps/"+name+"/", http.StripPrefix("/mcps/"+name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if agentAway.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			forward.ServeHTTP(w, r)
		})))
	}
	guard := listen.Guard(mux)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if routerAway.Load() {
			panic(http.ErrAbortHandler)
		}
		guard.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // of forward
	})
	p := open(t, s.URL)
	p.until(`!document.getElementById('again').hidden && document.getElementById('why').textContent.includes('HTTP 502')`)
	agentAway.Store(false)
	p.click("#again")
	p.until(`document.getElementById('notice').hidden && document.querySelectorAll('#tools button').length > 0`)

	routerAway.Store(true)
	p.until(`document.getElementById('why').textContent.includes('The router does not answer')`)
	routerAway.Store(false)
	p.until(`document.getElementById('notice').hidden`)

	p.pick("sleep")
	p.fill("seconds", "60")
	p.click("#run")
	p.until(`!document.getElementById('cancel').hidden`)
	p.pick("echo")
	var idle bool
	if p.eval(`document.getElementById('cancel').hidden && !document.getElementById('run').disabled`, &idle); !idle {
		t.Error("the call that was left keeps another tool from being called")
	}
	p.fill("message", "hello")
	assert.Contains(t, p.call(), "hello")
	assert.NotContains(t, p.text("#result"), "Cancelled")
}

// Whatever an agent calls its tools and says of them stays text, and nothing of it runs.
func TestB6_E2EHostile(t *testing.T) {
	p := open(t, serve(t, map[string]string{"hostile": agent(t, agentsrv.Options{Profile: agentsrv.Hostile})})+"/")
	p.until(`document.querySelectorAll('#tools button').length > 0`)
	var report struct {
		Tools, Foreign int
		Scripts        int
	}
	p.eval(`(async () => {
		const buttons = [...document.querySelectorAll('#tools button')];
		for (const button of buttons) button.click();
		return { tools: buttons.length, scripts: document.querySelectorAll('script').length,
			foreign: document.querySelectorAll('main :is(script, iframe, object, embed, a, style, link, svg)').length };
	})()`, &report)
	if report.Tools < 3 || report.Scripts != 1 || report.Foreign != 0 {
		t.Errorf("%+v", report)
	}
	// The policy is in force: markup is not made of text, and nothing is fetched from elsewhere.
	var refused struct{ Markup, Code, Elsewhere string }
	p.eval(`(async () => {
		const of = async (f) => { try { await f(); return 'done'; } catch (e) { return e.name; } };
		return { markup: await of(() => { document.body.innerHTML += '<i>'; }), code: await of(() => setTimeout('window.bad = 1')),
			elsewhere: await of(() => fetch('http://127.0.0.1:9/')) };
	})()`, &refused)
	if refused.Markup != "TypeError" || refused.Code == "done" || refused.Elsewhere != "TypeError" {
		t.Errorf("%+v", refused)
	}
}

// The page on a wide and on a narrow screen, in light and in dark: nothing is wider than the screen, and text can be
// read. With MCPHUD_SHOTS set, the pictures go to that folder.
func TestB6_E2ELooks(t *testing.T) {
	p := open(t, serve(t, map[string]string{"demo": agent(t, agentsrv.Options{})})+"/")
	backs := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 380} {
			features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
			if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
				t.Fatal(err)
			}
			p.do(chromedp.EmulateViewport(width, 900))
			p.pick("add")
			p.fill("a", "40")
			p.fill("b", "2")
			p.call()
			look := p.look()
			if look.Wide > width {
				t.Errorf("%s at %d: the page is %d wide", scheme, width, look.Wide)
			}
			if len(look.Thin) > 0 || look.Ratio == 0 {
				t.Errorf("%s at %d: of %v texts these have too little contrast: %q", scheme, width, look.Ratio, look.Thin)
			}
			backs[scheme] = look.Back
			picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || int64(c.Width) != width {
				t.Errorf("picture %d wide: %v", c.Width, err)
			}
			if dir := os.Getenv("MCPHUD_SHOTS"); dir != "" {
				assert.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("page-%s-%d.png", scheme, width)), picture, 0o600))
			}
		}
	}
	if backs["light"] == backs["dark"] {
		t.Errorf("light and dark look the same: %v", backs)
	}
	if said := p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}
