package routes

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const whole = `{
  "port": 9000, "tokens": "tokens.json", "sessionKey": "/etc/key",
  "routes": {
    "a": {"hostPort": 7000},
    "b.c-d_1": {"url": "https://user:pw@example.org/x/mcp?k=v", "transport": "sse", "headers": {"authorization": "Bearer x"}, "timeout": "5s", "stream": true,
          "methods": ["ping"], "tools": [], "waitReady": "2s", "rateLimit": 60, "disabled": true, "fault": {"delay": "1s", "errorPercent": 2.5}},
    "c": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "sub", "session": "shared", "url": null}
  }
}`

func TestR3_EveryKindOfRoute(t *testing.T) {
	tab, err := Parse([]byte(whole))
	require.NoError(t, err)
	if len(tab.Warnings) > 0 || tab.Port != 9000 || tab.Tokens != "tokens.json" || strings.Join(tab.Names(), " ") != "a b.c-d_1 c" {
		t.Errorf("%+v", tab)
	}
	a, b, c := tab.Routes["a"], tab.Routes["b.c-d_1"], tab.Routes["c"]
	if a.Endpoint().String() != "http://127.0.0.1:7000/mcp" || a.Timeout != 30*time.Second || a.Methods != nil || a.Tools != nil {
		t.Errorf("%+v", a)
	}
	if b.Endpoint().Host != "example.org" || b.Headers.Get("Authorization") != "Bearer x" || b.Timeout != 5*time.Second || !b.Stream || !b.Disabled ||
		len(b.Methods) != 1 || b.Tools == nil || len(b.Tools) != 0 || b.WaitReady != 2*time.Second || b.RateLimit != 60 ||
		b.Fault.Delay != time.Second || b.Fault.DelayPercent != 100 || b.Fault.ErrorPercent != 2.5 {
		t.Errorf("%+v", b)
	}
	if c.Endpoint() != nil || c.Command != "npx" || len(c.Args) != 2 || c.Env["A"] != "1" || c.Session != Shared {
		t.Errorf("%+v", c)
	}
	if a.Transport != Auto || b.Transport != SSE {
		t.Errorf("transports %q and %q", a.Transport, b.Transport)
	}
	again, err := Parse([]byte(whole))
	if err != nil || !again.Routes["b.c-d_1"].Equal(b) || again.Routes["a"].Equal(c) {
		t.Error("equal routes are not found equal")
	}
}

func TestUnknownKeysWarn(t *testing.T) {
	tab, err := Parse([]byte("{\"Port\":1,\n\"routes\":{\"a\":{\"hostPort\":1,\n\"timeOut\":\"1s\",\"x\\u001b\":{},\"args\":[]}}}"))
	if err != nil || tab.Port != 0 {
		t.Fatal(tab, err)
	}
	text := ""
	for _, p := range tab.Warnings {
		text += p.String() + "\n"
	}
	for _, want := range []string{`line 1, column 9: Port is unknown and ignored; did you mean "port"?`, `line 3, column 11: routes.a.timeOut is unknown and ignored; did you mean "timeout"?`, "args applies only to a route with a command"} {
		assert.Contains(t, text, want)
	}
	if len(tab.Warnings) != 4 {
		t.Errorf("%d warnings:\n%s", len(tab.Warnings), text)
	}
}

func TestWrongFilesAreRefusedWithTheLine(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   "not valid JSON",
		`{"routes":{"a":`:                    "line 1, column 16: not valid JSON",
		"{\n\"routes\": nope}":               "line 2",
		`[]`:                                 "must be an object",
		`{"routes":[]}`:                      "must be an object",
		`{"port":"x"}`:                       "from 0 to 65535",
		`{"port":70000}`:                     "from 0 to 65535",
		`{"port":1,"port":2}`:                "given twice",
		`{"routes":{"a":{},"a":{}}}`:         "give hostPort, url, urls, command or registered",
		`{"routes":{"a b":{"hostPort":1}}}`:  "is not a valid agent name",
		`{"routes":{"../x":{"hostPort":1}}}`: "is not a valid agent name",
		`{"routes":{"a":{"hostPort":1,"command":"x"}}}`:                                 "exactly one",
		`{"routes":{"a":{"hostPort":0}}}`:                                               "from 1 to 65535",
		`{"routes":{"a":{"hostPort":1e3}}}`:                                             "from 1 to 65535",
		`{"routes":{"a":{"url":"ftp://x"}}}`:                                            "is not a valid http or https URL",
		`{"routes":{"a":{"url":"unix://run/x.sock"}}}`:                                  "has no absolute path of a socket",
		`{"routes":{"a":{"urls":["unix:///run/x.sock"]}}}`:                              "is not a valid http or https URL",
		`{"routes":{"a":{"url":"http://"}}}`:                                            "is not a valid http or https URL",
		`{"routes":{"a":{"url":7}}}`:                                                    "must be a string",
		`{"routes":{"a":{"command":""}}}`:                                               "is empty",
		`{"routes":{"a":{"command":"x","args":"y"}}}`:                                   "list of strings",
		`{"routes":{"a":{"command":"x","args":[1]}}}`:                                   "list of strings",
		`{"routes":{"a":{"command":"x","session":"own"}}}`:                              "per-session",
		`{"routes":{"a":{"url":"http://h/","transport":"ws"}}}`:                         `must be "auto", "http" or "sse"`,
		`{"routes":{"a":{"hostPort":1,"transport":"sse"}}}`:                             "applies only to a route with a url",
		`{"routes":{"a":{"command":"x","env":{"A=":"1"}}}}`:                             "is not a valid variable",
		`{"routes":{"a":{"hostPort":1,"timeout":30}}}`:                                  `such as "30s"`,
		`{"routes":{"a":{"hostPort":1,"timeout":"-1s"}}}`:                               `such as "30s"`,
		`{"routes":{"a":{"hostPort":1,"stream":"yes"}}}`:                                "true or false",
		`{"routes":{"a":{"hostPort":1,"headers":{"A":"b\r\nc"}}}}`:                      "is not a valid header",
		`{"routes":{"a":{"hostPort":1,"headers":{"transfer-encoding":""}}}}`:            "it is the router's own",
		`{"routes":{"a":{"hostPort":1,"headers":{"mcphud-hops":"0"}}}}`:                 "it is the router's own",
		`{"routes":{"a":{"hostPort":1,"headers":{"A":"1","a":"2"}}}}`:                   "given twice",
		`{"routes":{"a":{"url":"http://h/","oauth":{"client_id":"a","clientId":"b"}}}}`: "given twice",
		`{"routes":{"a":{"hostPort":1,"fault":{"dropPercent":101}}}}`:                   "from 0 to 100",
		`{"routes":{"a":{"hostPort":1,"fault":{"dropPercent":60,"errorPercent":60}}}}`:  "the maximum is 100",
		"{\"routes\":{\"a\":{\"url\":\"http://x/\xff\"}}}":                              "UTF-8",
	} {
		if tab, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", text, tab, err, want)
		}
	}
}

func TestPathsAreRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	require.NoError(t, os.WriteFile(path, []byte(whole), 0o600))
	tab, err := Load(path)
	if err != nil || tab.Tokens != filepath.Join(dir, "tokens.json") || tab.SessionKey != "/etc/key" || tab.Routes["c"].Cwd != filepath.Join(dir, "sub") {
		t.Errorf("%+v, %v", tab, err)
	}
}

// heard collects what a Watcher tells.
type heard struct {
	mu  sync.Mutex
	err error
	n   int
}

func (h *heard) changed(_ *Table, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.n = err, h.n+1
}

// until waits for a report after which ok holds. A file may be reported twice: whoever reads it while it is replaced reads it again.
func (h *heard) until(t *testing.T, what string, ok func(err error) bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		n, err := h.n, h.err
		h.mu.Unlock()
		if n > 0 && ok(err) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not %s: heard %d times, at last %v", what, n, err)
		}
	}
}

// With an hour between two looks it is the system that tells; without its help it is the looks.
func TestC11_TheFileIsFollowed(t *testing.T) {
	for name, poll := range map[string]time.Duration{"told": time.Hour, "looked": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "routing.json")
			var h heard
			w, err := Watch(Options{Path: path, Changed: h.changed, Poll: poll})
			if err != nil || len(w.Current().Routes) != 0 {
				t.Fatal(err)
			}
			defer w.Close()
			put := func(text string) {
				t.Helper()
				require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
				require.NoError(t, os.Rename(path+".new", path))
			}
			put(`{"routes":{"a":{"hostPort":1}}}`)
			h.until(t, "in force", func(err error) bool { return err == nil && w.Current().Routes["a"] != nil && w.Err() == nil })
			since := w.Since()
			put(`{"routes":{"a":`)
			h.until(t, "refused", func(err error) bool { return err != nil && w.Err() != nil })
			if w.Current().Routes["a"] == nil || !w.Since().Equal(since) {
				t.Fatal(w.Current(), since)
			}
			put(`{"routes":{"b":{"hostPort":2}}}`)
			h.until(t, "replaced", func(err error) bool { return err == nil && w.Current().Routes["b"] != nil && w.Err() == nil })
		})
	}
}

func TestAFileThatMustBeThere(t *testing.T) {
	if w, err := Watch(Options{Path: filepath.Join(t.TempDir(), "none"), Must: true}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v, %v", w, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"routes":{"a":{"hostPort":1,"fault":{"seed":1}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tab, err := Parse(text)
		if (tab == nil) != (err != nil) {
			t.Fatal("both or neither")
		}
		if err != nil {
			return
		}
		for name, r := range tab.Routes {
			kinds := 0
			for _, is := range []bool{r.HostPort != 0, r.URL != nil, r.Command != "", r.Registered} {
				if is {
					kinds++
				}
			}
			if kinds != 1 || !config.ValidName(name) || r.Name != name || r.Timeout <= 0 || (r.Endpoint() == nil) != (r.Command != "" || r.Registered) {
				t.Fatalf("%q: %+v", name, r)
			}
		}
	})
}
