package routes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// dir is a folder of these files.
func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	d := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(d, name), text)
	}
	return d
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

func urls(r *Route) string {
	var all []string
	for _, one := range r.Replicas() {
		all = append(all, one.Endpoint().String())
	}
	return strings.Join(all, " ")
}

func TestFolderIsMergedInTheOrderOfNames(t *testing.T) {
	d := dir(t, map[string]string{
		"b.json":      `{"port":2,"tokens":"t","routes":{"a":{"hostPort":2},"x":{"command":"x"},"y":{"url":"http://h:1/mcp","stream":true}}}`,
		"a.json":      `{"port":1,"routes":{"a":{"hostPort":1},"x":{"hostPort":9},"y":{"url":"http://h:2/mcp"}}}`,
		"c.json":      `{"routes":{"a":{"url":"http://h:3/mcp","transport":"http"},"a2":{"urls":["http://h:2/mcp","http://h:1/mcp","http://h:1/mcp"]}}}`,
		"bad.json":    `{"routes":`,
		".hid.json":   `{"routes":{"hidden":{"hostPort":1}}}`,
		"notes.jsonc": `{"routes":{"notes":{"hostPort":1}}}`,
	})
	tab, err := Load(d)
	require.NoError(t, err)
	if got := strings.Join(tab.Names(), " "); got != "a a2 x y" || tab.Port != 1 || tab.Tokens != filepath.Join(d, "t") {
		t.Errorf("%s, port %d, tokens %s", got, tab.Port, tab.Tokens)
	}
	if got := urls(tab.Routes["a"]); got != "http://127.0.0.1:1/mcp http://127.0.0.1:2/mcp http://h:3/mcp" || tab.Routes["a"].Kind() != "urls" {
		t.Errorf("a: %s", got)
	}
	assert.Equalf(t, urls(tab.Routes["a2"]), "http://h:2/mcp http://h:1/mcp", "a2")
	if tab.Routes["x"].HostPort != 9 || urls(tab.Routes["y"]) != "http://h:2/mcp" {
		t.Errorf("%+v, %+v", tab.Routes["x"], tab.Routes["y"])
	}
	var warnings []string
	for _, w := range tab.Warnings {
		warnings = append(warnings, w.String())
	}
	text := strings.Join(warnings, "\n")
	for _, want := range []string{
		"b.json: port is ignored: it is given before", "b.json: routes.x is ignored: a.json has a route of this name with other settings",
		"b.json: routes.y is ignored: a.json", "bad.json: ", "not valid JSON",
	} {
		assert.Contains(t, text, want)
	}
}

func TestRegisteredRoutesHaveTheSettingsOfTheFile(t *testing.T) {
	agent := func(port, token string) string {
		return `{"routes":{"a":{"url":"http://h:` + port + `/mcp","transport":"http","stream":true,"tools":["more"],"headers":{"Authorization":"` + token + `"}}}}`
	}
	d := dir(t, map[string]string{
		"z.json":  `{"routes":{"a":{"registered":true,"tools":["add"],"rateLimit":5},"none":{"registered":true}}}`,
		"a1.json": agent("1", "Bearer x"), "a2.json": agent("2", "Bearer x"), "a3.json": agent("3", "Bearer y"),
	})
	tab, err := Load(d)
	require.NoError(t, err)
	a := tab.Routes["a"]
	if urls(a) != "http://h:1/mcp http://h:2/mcp" || a.RateLimit != 5 || a.Stream || strings.Join(a.Tools, "") != "add" || a.Headers.Get("Authorization") != "Bearer x" {
		t.Errorf("%+v", a)
	}
	if len(tab.Warnings) != 1 || !strings.Contains(tab.Warnings[0].String(), "a3.json: routes.a is ignored: its Authorization header") {
		t.Errorf("%v", tab.Warnings)
	}
	if none := tab.Routes["none"]; none == nil || none.Endpoint() != nil || none.Kind() != "registered" {
		t.Errorf("%+v", none)
	}
}

func TestFilesOfAFolderThatOthersMayWriteToRunNothing(t *testing.T) {
	d := dir(t, map[string]string{
		"a.json": `{"routes":{"a":{"hostPort":1}}}`, "b.json": `{"routes":{"b":{"command":"sh"}}}`, "c.json": `{"routes":{"c":{"url":"https://h/","oauth":{}}}}`,
		"d.json": `{"routes":{"d":{"url":"https://h/","ca":"/etc/passwd"}}}`, "e.json": `{"tokens":"mine","routes":{}}`, "f.json": `{"routes":{"f":{"registered":true}}}`,
		"h.json": `{"websocket":true,"routes":{}}`, "i.json": `{"sse":true,"routes":{}}`, "j.json": `{"routes":{"j":{"url":"unix:///run/j.sock:/mcp"}}}`,
	})
	if err := os.Symlink("/etc/hostname", filepath.Join(d, "g.json")); err != nil {
		t.Skip("no links here")
	}
	require.NoError(t, os.Chmod(d, 0o777))
	tab, err := Load(d)
	require.NoError(t, err)
	if got := strings.Join(tab.Names(), " "); got != "a" || tab.Tokens != "" || tab.WebSocket || tab.SSE || len(tab.Warnings) != 9 {
		t.Errorf("%s %q: %v", got, tab.Tokens, tab.Warnings)
	}
	require.NoError(t, os.Chmod(d, 0o700))
	if tab, _ = Load(d); strings.Join(tab.Names(), " ") != "a b c f j" || !tab.WebSocket || !tab.SSE {
		t.Errorf("of one's own folder: %v, %v", tab.Names(), tab.Warnings)
	}
}

func TestFolderIsFollowed(t *testing.T) {
	for name, poll := range map[string]time.Duration{"told": time.Hour, "looked": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			d := dir(t, map[string]string{"a.json": `{"routes":{"a":{"hostPort":1}}}`, "b.json": "broken"})
			w, err := Watch(Options{Path: d, Must: true, Poll: poll})
			require.NoError(t, err)
			defer w.Close()
			assert.ErrorContains(t, w.Err(), "b.json", "nothing of it is in force")
			until := func(what string, so func() bool) {
				t.Helper()
				for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("waited in vain for %s: %v, %v", what, w.Current().Names(), w.Err())
					}
				}
			}
			is := func(names string) func() bool {
				return func() bool { return strings.Join(w.Current().Names(), " ") == names && w.Err() == nil }
			}
			put(t, filepath.Join(d, "b.json"), `{"routes":{"b":{"hostPort":2}}}`)
			until("b", is("a b"))
			put(t, filepath.Join(d, "c.json"), `{"routes":{"a":{"hostPort":3}}}`)
			until("a replica", func() bool { return len(w.Current().Routes["a"].Replicas()) == 2 })
			put(t, filepath.Join(d, "a.json"), `{"routes":`)
			until("the broken file", func() bool { return w.Err() != nil })
			if err := w.Err(); !strings.Contains(err.Error(), "a.json") || !strings.Contains(err.Error(), "the last valid ones stay in force") || len(w.Current().Routes["a"].Replicas()) != 2 {
				t.Errorf("%v; %v", err, w.Current().Names())
			}
			for _, gone := range []string{"a.json", "b.json"} {
				require.NoError(t, os.Remove(filepath.Join(d, gone)))
			}
			until("what is left", is("a"))
			require.NoError(t, os.Rename(d, d+".gone"))
			until("the folder to be missed", func() bool { return w.Reload() != nil })
			if len(w.Current().Routes) != 1 || !strings.Contains(w.Err().Error(), "the last valid ones stay in force") {
				t.Errorf("%v, %v", w.Current().Names(), w.Err())
			}
		})
	}
}

func TestURLsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`"urls":[]`:                       "from 1 to 256",
		`"urls":["x"]`:                    "not a valid http or https URL",
		`"urls":["http://a","https://b"]`: "must agree in their scheme",
		`"urls":["https://a","https://b"],"oauth":{}`: "applies only to a route with one url",
		`"url":"http://a","urls":["http://b"]`:        "exactly one of",
		`"registered":true,"hostPort":1`:              "exactly one of",
		`"registered":false`:                          "has no upstream",
	} {
		if tab, err := Parse([]byte(`{"routes":{"a":{` + text + `}}}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", text, tab, err)
		}
	}
}
