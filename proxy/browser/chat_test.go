package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// turn is how a model answers one request: say sends a piece of its text.
type turn func(say func(string), w http.ResponseWriter, r *http.Request)

// model is an OpenAI-compatible API whose n-th answer is the n-th turn, and those after the last one's.
type model struct {
	chat.Model
	mu    sync.Mutex
	asked [][]string // the messages of each request after the system's, as role and content
}

func fakeModel(t *testing.T, turns ...turn) *model {
	t.Helper()
	m := &model{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string }
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		var said []string
		for _, m := range in.Messages[1:] {
			said = append(said, m.Role+": "+m.Content)
		}
		m.mu.Lock()
		n := min(len(m.asked), len(turns)-1)
		m.asked = append(m.asked, said)
		m.mu.Unlock()
		turns[n](func(text string) {
			raw, err := json.Marshal(text)
			assert.NoError(t, err)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"model\":\"tiny\",\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", raw) // who is gone needs no more
			w.(http.Flusher).Flush()
		}, w, r)
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	m.Model = chat.Model{URL: s.URL + "/v1", Name: "tiny"}
	return m
}

// said are the messages of the last request.
func (m *model) said() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

// answers is a turn that says all of a text at once.
func answers(text string) turn {
	return func(say func(string), _ http.ResponseWriter, _ *http.Request) {
		raw, _ := json.Marshal(map[string]any{"answer": text, "confidence": 0.9, "tags": []string{}}) // strings have JSON
		say(string(raw))
	}
}

// talk opens the page with one agent at whom somebody looks for a conversation.
func talk(t *testing.T, m *model) *page {
	t.Helper()
	p := open(t, serve(t, map[string]string{"demo": agent(t, agentsrv.Options{Model: m.Model})})+"/#chat")
	p.partner("system/researcher")
	return p
}

// partner chooses whom to talk with.
func (p *page) partner(name string) {
	p.t.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll('#tools button')].find((b) => b.textContent === %q)`, name)
	p.until(button)
	p.eval(button+`.click()`, nil)
	p.until(fmt.Sprintf(`document.activeElement.id === 'say' && document.getElementById('partner').textContent === %q`, name))
}

// says asks a question by keyboard, which begins an answer.
func (p *page) says(prompt string) {
	p.t.Helper()
	p.key("#say", prompt+kb.Enter)
	p.until(`document.querySelector('#talk article:last-child.answer')`)
}

// words waits until the last answer has begun with a text.
func (p *page) words(begin string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector('#talk article:last-child .words').textContent.startsWith(%q)`, begin))
}

// over waits for the end of the last answer, and returns what can be read of it.
func (p *page) over() string {
	p.t.Helper()
	p.until(`document.querySelector('#talk article:last-child').getAttribute('aria-busy') === 'false' && !document.getElementById('send').disabled`)
	return p.text("#talk article:last-child")
}

// An answer appears while it is made, as text whatever is in it; what was said is sent with the next question; the keyboard is
// enough, and who hears the page is told by sentences.
func TestB6b_E2EAnswersComeInParts(t *testing.T) {
	more := make(chan bool)
	m := fakeModel(t, func(say func(string), _ http.ResponseWriter, _ *http.Request) {
		say(`{"answer":"First of all. <b id=x>bold</b><img src=x onerror=alert(1)> and`)
		<-more
		say(` then`)
		<-more
		say(` more.\nThe end.","confidence":0.9,"tags":["t"]}`)
	}, answers("Second."))
	p := talk(t, m)
	p.key("#say", "What"+kb.Shift) // a key of its own sends nothing
	p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(8)))
	p.says("is it?")
	assert.Contains(t, p.text("#talk .question"), "What\nis it?")
	p.words("First of all. <b id=x>bold</b><img src=x onerror=alert(1)> and")
	var during struct {
		Markup                  int
		Busy, Role, Label, Send string
		Stop                    bool
	}
	p.until(`document.getElementById('aloud').textContent.includes('First of all.')`)
	p.eval(`({ markup: document.querySelectorAll('#x, main img').length, busy: document.querySelector('.answer').getAttribute('aria-busy'),
		role: document.getElementById('talk').getAttribute('role'), label: document.querySelector('label[for=say]').textContent,
		send: String(document.getElementById('send').disabled), stop: document.getElementById('stop').checkVisibility() })`, &during)
	if during.Markup != 0 || during.Busy != "true" || during.Role != "log" || during.Label != "Message to system/researcher" || during.Send != "true" || !during.Stop {
		t.Errorf("while it comes: %+v", during)
	}
	if got := p.text("#chatting"); got != "answering…" {
		t.Errorf("says %q", got)
	}
	// It comes in parts also when it takes so long that other calls become tasks.
	p.eval(`new Promise((r) => setTimeout(r, 500))`, nil)
	more <- true
	p.words("First of all. <b id=x>bold</b><img src=x onerror=alert(1)> and then")
	more <- true
	got := p.over()
	assert.Contains(t, got, "<b id=x>bold</b><img src=x onerror=alert(1)> and then more.\nThe end.", "tiny · ", "more of the answer")
	p.until(`document.getElementById('aloud').textContent.includes('The end.')`)
	p.says("And then?")
	assert.Contains(t, p.over(), "Second.")
	if said := m.said(); len(said) != 3 || said[0] != "user: What\nis it?" || !strings.Contains(said[1], "more.") || !strings.HasPrefix(said[1], "assistant: ") || said[2] != "user: And then?" {
		t.Errorf("the second question came with %q", said)
	}
	// It stays while something else is looked at, and a new one knows nothing of it.
	p.pickKind("tools")
	p.pickKind("chat")
	var kept int
	if p.eval(`document.querySelectorAll('#talk article').length`, &kept); kept != 4 {
		t.Errorf("%d of 4 parts of the conversation stayed", kept)
	}
	p.click("#fresh")
	p.says("Who are you?")
	p.over()
	if said := m.said(); len(said) != 1 {
		t.Errorf("a new conversation came with %q", said)
	}
	if said := p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
	var stored string
	if p.eval(`document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`, &stored); stored != "{}{}" {
		t.Errorf("stored: %s", stored)
	}
}

func (p *page) pickKind(kind string) {
	p.t.Helper()
	p.click(`#kinds button[value="` + kind + `"]`)
	p.until(`document.querySelector('#kinds button[aria-pressed="true"]').value === '` + kind + `' && document.querySelectorAll('#tools button').length > 0`)
}

// Stop, or Escape, ends the work of the agent and of its model, not only the waiting.
func TestB6b_E2EStopEndsItAtTheAgent(t *testing.T) {
	ended := make(chan bool, 2)
	m := fakeModel(t, func(say func(string), _ http.ResponseWriter, r *http.Request) {
		say(`{"answer":"I begin, `)
		<-r.Context().Done()
		ended <- true
	})
	p := talk(t, m)
	for i, stop := range []func(){func() { p.click("#stop") }, func() { p.key("#say", kb.Escape) }} {
		p.says("Go on for ever")
		p.words("I begin,")
		stop()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("the model is still asked")
		}
		if got := p.over(); !strings.Contains(got, "I begin,") || !strings.Contains(got, "Stopped.") {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// What an agent calls on the way is there: its name, and folded what went in and what came out, as text.
func TestB6b_E2ECallsOnTheWay(t *testing.T) {
	m := fakeModel(t, func(_ func(string), w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
			{"id":"1","type":"function","function":{"name":"search_knowledge_base","arguments":"{\"query\":\"exit <b id=x>codes\",\"n\":9007199254740993}"}},
			{"id":"2","type":"function","function":{"name":"<i id=x>","arguments":"{}"}}]}}]}`)
	}, answers("Found."))
	p := talk(t, m)
	p.says("What are the exit codes?")
	assert.Contains(t, p.over(), "called search_knowledge_base done in", "called <i id=x> failed after", "Found.")
	var seen struct {
		Folded, Markup int
		Steps          []string
	}
	p.eval(`({ folded: document.querySelectorAll('#talk details:not([open])').length, markup: document.querySelectorAll('#x').length,
		steps: [...document.querySelectorAll('#talk .step')].map((s) => s.textContent) })`, &seen)
	if seen.Folded != 7 || seen.Markup != 0 || len(seen.Steps) != 2 { // two calls with two parts each, and more of the answer
		t.Errorf("%+v", seen)
	}
	all := strings.Join(seen.Steps, "\n")
	for _, want := range []string{`"query": "exit <b id=x>codes"`, `9007199254740993`, "result", "refused: this agent may not use the tool"} {
		assert.Contains(t, all, want)
	}
	p.eval(`document.querySelectorAll('#talk details').forEach((d) => { d.open = true; })`, nil)
	p.shots("calls")
	if said := p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// An agent that dies while it talks: that is said in the conversation, and what came stays.
func TestB6b_E2EAgentDiesWhileItTalks(t *testing.T) {
	hold := make(chan bool)
	m := fakeModel(t, func(say func(string), _ http.ResponseWriter, r *http.Request) {
		say(`{"answer":"The number is `)
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}, answers("It is 7."))
	line := httptest.NewServer(forwarder(t, agent(t, agentsrv.Options{Model: m.Model})))
	t.Cleanup(func() {
		line.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // of line
	})
	p := open(t, serve(t, map[string]string{"demo": line.URL})+"/#chat")
	p.partner("system/researcher")
	p.says("Which number?")
	p.words("The number is ")
	line.CloseClientConnections()
	assert.Contains(t, p.over(), "The number is ", "The answer broke off: ")
	p.until(`document.getElementById('aloud').textContent.includes('The answer broke off: ')`)
	p.click("#talk article:last-child .foot button")
	p.until(`document.querySelectorAll('#talk .answer').length === 2`)
	assert.Contains(t, p.over(), "It is 7.")
	line.Close()
	p.says("And now?")
	assert.Contains(t, p.over(), "No answer: ")
	assert.Contains(t, p.text("#talk"), "The number is ", "It is 7.")
}

// A token that is wanted in the middle of a conversation is asked for as everywhere, and the conversation goes on with it.
func TestB6b_E2ETokenInAConversation(t *testing.T) {
	forward := forwarder(t, agent(t, agentsrv.Options{Model: fakeModel(t, answers("Yes.")).Model}))
	var locked atomic.Bool
	mux := http.NewServeMux()
	for path, h := range browser.Routes(browser.Options{Agents: func(*http.Request) []browser.Agent { return []browser.Agent{{Name: "secret"}} }}) {
		mux.Handle(path, h)
	}
	mux.Handle("/mcps/secret/", http.StripPrefix("/mcps/secret", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if locked.Load() && r.Header.Get("Authorization") != "Bearer open sesame" {
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
	p := open(t, s.URL+"/#chat")
	p.partner("system/researcher")
	p.says("Are you there?")
	p.over()
	locked.Store(true)
	p.says("Still?")
	assert.Contains(t, p.over(), "a token is wanted")
	p.until(`!document.getElementById('login').hidden && document.getElementById('notice').textContent.includes('HTTP 401')`)
	p.key("#token", "open sesame")
	p.click("#login button")
	p.until(`document.getElementById('login').hidden && document.getElementById('notice').hidden && document.getElementById('conversation').checkVisibility()`)
	p.says("And now?")
	assert.Contains(t, p.over(), "Yes.")
	var turns int
	if p.eval(`document.querySelectorAll('#talk .question').length`, &turns); turns != 3 {
		t.Errorf("%d of 3 questions are there", turns)
	}
}

// Where there is nobody to talk to the page says what to do, and an agent that is made is there.
func TestB6b_E2ENobodyToTalkTo(t *testing.T) {
	p := open(t, serve(t, map[string]string{
		"demo": agent(t, agentsrv.Options{}), "everything": agent(t, agentsrv.Options{Profile: agentsrv.Everything}),
	})+"/#chat")
	p.choose("everything")
	p.until(`document.getElementById('nobody').checkVisibility() && document.getElementById('lacking').textContent.startsWith('everything has no tool ask_agent_stream')`)
	p.choose("*")
	p.until(`document.getElementById('nobody').checkVisibility() && document.getElementById('lacking').textContent.includes('choose one above')`)
	p.choose("demo")
	p.until(`document.getElementById('make').checkVisibility()`)
	// Without a model a built-in agent quotes, and says that it does.
	p.partner("system/researcher")
	p.says("What are the exit codes?")
	assert.Contains(t, p.over(), "without a model", "called search_knowledge_base done in")
	p.click("#make button")
	p.until(`document.getElementById('title').textContent === 'create_agent'`)
	for field, value := range map[string]string{"tenant_id": "default", "user_id": "ada", "agent_name": "poet", "description": "You rhyme.", "output_schema": `{"type":"object"}`} {
		p.fill(field, value)
	}
	if got := p.call(); !strings.Contains(got, "agentlet://user/ada/poet") {
		t.Fatalf("create_agent: %s", got)
	}
	p.pickKind("chat")
	p.partner("user/ada/poet")
	p.says("Rhyme!")
	assert.Contains(t, p.over(), "no model configured")
	var shown bool
	if p.eval(`document.getElementById('make').checkVisibility()`, &shown); shown {
		t.Error("says how to make an agent where there is one")
	}
	p.choose("everything")
	p.until(`document.getElementById('nobody').checkVisibility()`)
	p.shots("nobody")
}

// A huge answer is cut, and the page goes on.
func TestB6b_E2EHugeAnswer(t *testing.T) {
	piece := strings.Repeat("All work and no play. ", 1000)
	m := fakeModel(t, func(say func(string), _ http.ResponseWriter, _ *http.Request) {
		say(`{"answer":"`)
		for range 60 {
			say(piece)
		}
		say(`","confidence":0.9,"tags":[]}`)
	})
	p := talk(t, m)
	p.eval(`window.gap = 0, window.last = performance.now(), setInterval(() => { const now = performance.now(); window.gap = Math.max(window.gap, now - window.last); window.last = now; }, 10), 0`, nil)
	p.says("Write")
	if got := p.over(); !strings.Contains(got, fmt.Sprintf("… %d more characters", 60*len(piece)-200000)) {
		t.Errorf("…%s", got[max(0, len(got)-300):])
	}
	var seen struct {
		Characters int
		Gap        float64
	}
	p.eval(`({ characters: document.querySelector('#talk .words').textContent.length + document.querySelector('.answer .words').textContent.length, gap: window.gap })`, &seen)
	if seen.Characters > 200000+100 || seen.Gap > 5000 {
		t.Errorf("%+v", seen)
	}
	t.Logf("the page stood still for %.0f ms at most", seen.Gap)
}

// A conversation on a wide and on a narrow screen, in light and in dark.
func TestB6b_E2ELooks(t *testing.T) {
	m := fakeModel(t, func(_ func(string), w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
			{"id":"1","type":"function","function":{"name":"search_knowledge_base","arguments":"{\"query\":\"exit codes\"}"}},
			{"id":"2","type":"function","function":{"name":"fail","arguments":"{}"}}]}}]}`)
	}, answers("The command exits with 0 when all went well.\n\nOther codes are listed in its manual:\n1  something failed\n2  it was called in a wrong way\n"+strings.Repeat("a_word_without_any_blank_", 12)))
	p := talk(t, m)
	p.says("What are the exit codes of mcphud?")
	p.over()
	p.eval(`document.querySelector('#talk .step').open = true`, nil)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 400} {
			features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
			if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
				t.Fatal(err)
			}
			p.do(chromedp.EmulateViewport(width, 900))
			if look := p.look(); look.Wide > width || len(look.Thin) > 0 || look.Ratio == 0 {
				t.Errorf("%s at %d: %d wide, of %v texts these have too little contrast: %q", scheme, width, look.Wide, look.Ratio, look.Thin)
			}
			if dir := os.Getenv("MCPHUD_SHOTS"); dir != "" {
				p.shoot(filepath.Join(dir, fmt.Sprintf("chat-%s-%d.png", scheme, width)))
			}
		}
	}
	if said := p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}
