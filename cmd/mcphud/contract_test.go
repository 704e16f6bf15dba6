package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TestE11_E12_P13_ExitCodes runs into each failure once: its exit code, its kind, and a message that says enough.
func TestE11_E12_P13_ExitCodes(t *testing.T) {
	t.Parallel()
	status := func(code int) string {
		return faketest.HTTP(t, behave.Good, behave.Fault{Status: code, Body: "no"}).URL
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		kind string
		says string
	}{
		{"no server", []string{"tools", "list"}, 1, "Usage", "--url"},
		{"two servers", []string{"info", "--url", "http://127.0.0.1:1/mcp", "--", "true"}, 1, "Usage", "more than one"},
		{"unknown command", []string{"tols"}, 1, "Usage", "tools"},
		{"unknown subcommand", []string{"tools", "lst"}, 1, "Usage", "list"},
		{"unknown flag", []string{"tools", "list", "--frmat", "json"}, 1, "Usage", "--frmat"},
		{"bad format", []string{"tools", "list", "--format", "xml"}, 1, "Usage", "text, json, jsonl, raw"},
		{"P13: no gRPC transport", []string{"info", "--transport", "grpc", "--url", "http://127.0.0.1:1/mcp"}, 1, "Usage", "auto, http, sse"},
		{"bad protocol", fake(t, behave.Good, "info", "--protocol", "2020-01-01"), 1, "Usage", "2025-11-25"},
		{"bad timeout", fake(t, behave.Good, "info", "--timeout", "0s"), 1, "Usage", "--timeout"},
		{"bad size", fake(t, behave.Good, "info", "--max-frame", "big"), 1, "Usage", "max-frame"},
		{"bad env", fake(t, behave.Good, "info", "-e", "NOVALUE"), 1, "Usage", "KEY=VALUE"},
		{"bad header", []string{"info", "--url", "http://127.0.0.1:1/", "-H", "nocolon"}, 1, "Usage", "Name: value"},
		{"header for a command", fake(t, behave.Good, "info", "-H", "A: b"), 1, "Usage", "--header"},
		{"bad root", fake(t, behave.Good, "info", "--root", "/nowhere/at/all"), 1, "Usage", "--root"},
		{"bad URL", []string{"info", "--url", "ftp://x"}, 1, "Usage", "ftp://x"},
		{"missing name", fake(t, behave.Good, "tools", "call"), 1, "Usage", "at least one"},
		{"too many arguments", fake(t, behave.Good, "tools", "list", "x"), 1, "Usage", "no arguments"},
		{"journal nowhere", fake(t, behave.Good, "info", "--journal", "/nowhere/at/all.jsonl"), 1, "Usage", "--journal"},
		{"wrong argument type", fake(t, behave.Good, "tools", "call", "sleep", "ms=soon"), 1, "Usage", "ms"},
		{"args no JSON", fake(t, behave.Good, "tools", "call", "echo", "--args", "{"), 1, "Usage", "--args"},
		{"args file missing", fake(t, behave.Good, "tools", "call", "echo", "--args", "@/nowhere.json"), 1, "Usage", "/nowhere.json"},
		{"params no JSON", fake(t, behave.Good, "raw", "ping", "{"), 1, "Usage", "PARAMS"},

		{"401", []string{"info", "--url", status(401)}, 3, "OAuth", "401"},
		{"403", []string{"info", "--url", status(403)}, 3, "OAuth", "403"},

		{"no such command", []string{"info", "--", "/nowhere/server"}, 4, "SpawnFailed", "/nowhere/server"},
		{"exits at once", fake(t, behave.ExitAtOnce, "info"), 4, "SpawnFailed", ""},
		{"nobody listens", []string{"info", "--url", "http://127.0.0.1:1/mcp"}, 4, "Transport", "127.0.0.1:1"},
		{"404", []string{"info", "--url", status(404)}, 4, "Transport", "404"},
		{"500", []string{"info", "--url", status(500)}, 4, "Transport", "500"},
		{"TLS", []string{"info", "--url", faketest.TLS(t).URL}, 4, "Transport", "certificate"},
		{"no such entry", []string{"info", "--server", "nobody"}, 4, "ServerNotFound", "nobody"},
		{"crash mid-call", fake(t, behave.Good, "tools", "call", "crash"), 4, "ChannelClosed", ""},

		{"isError", fake(t, behave.Good, "tools", "call", "is_error"), 5, "ToolError", "the tool failed"},
		{"no such tool", fake(t, behave.Good, "tools", "call", "ecko"), 5, "InvalidToolName", "echo"},
		{"no such tool to show", fake(t, behave.Good, "tools", "show", "nothing"), 5, "InvalidToolName", "nothing"},
		{"no such resource", fake(t, behave.Good, "resources", "read", "other://none"), 5, "NotFound", ""},
		{"no such prompt", fake(t, behave.Good, "prompts", "get", "none"), 5, "NotFound", ""},

		{"call timeout", fake(t, behave.Good, "tools", "call", "wait", "--timeout", "300ms"), 7, "Timeout", "300ms"},
		{"connect timeout", fake(t, behave.NoAnswer, "info", "--connect-timeout", "300ms"), 7, "Timeout", ""},

		{"JSON-RPC error", fake(t, behave.Good, "tools", "call", "rpc_error"), 10, "RpcError", "flux capacitor"},
		{"list error", fake(t, behave.ListError, "tools", "list"), 10, "RpcError", "being rebuilt"},
		{"unknown method", fake(t, behave.Good, "raw", "no/such"), 10, "RpcError", ""},

		{"repeated cursor", fake(t, behave.RepeatCursor, "tools", "list"), 11, "Protocol", "cursor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := mcphud(t, append([]string{"--format", "json"}, c.args...)...)
			o.exits(t, c.code)
			e := o.errorLine(t)
			if e.Kind != c.kind {
				t.Errorf("kind %s, want %s", e.Kind, c.kind)
			}
			whole := e.Message
			if e.Cause != nil {
				whole += *e.Cause
			}
			assert.Contains(t, whole, c.says)
			if c.name != "isError" && o.out != "" {
				t.Errorf("stdout is not empty: %s", o.out)
			}

			text := mcphud(t, append([]string{"--format", "text"}, c.args...)...)
			if text.code != c.code || !strings.Contains(text.stderr, "error: ") || strings.Contains(text.stderr, `{"error"`) {
				t.Errorf("as text: exit code %d, stderr %s", text.code, text.stderr)
			}
		})
	}
}

// The kinds have their names, and each class of failure a code that no other has.
func TestE11_E12_KindsHaveTheirNamesAndCodes(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{
		"SpawnFailed": 4, "ServerNotFound": 4, "ServerDisabled": 4, "ServerNotConnected": 4, "Transport": 4, "ChannelClosed": 4,
		"OAuth": 3, "InvalidToolName": 5, "ToolError": 5, "Timeout": 7, "RpcError": 10, "Protocol": 11,
	} {
		if got, ok := cli.ExitCodes[failure.Kind(name)]; !ok || got != code {
			t.Errorf("%s has the exit code %d, %v; want %d", name, got, ok, code)
		}
	}
}

func TestErrorLineKeepsCodeAndData(t *testing.T) {
	t.Parallel()
	e := mcphud(t, fake(t, behave.Good, "tools", "call", "rpc_error")...).errorLine(t)
	if e.Code == nil || *e.Code != -32050 || string(e.Data) != `{"retryAfter":30,"big":9007199254740993,"list":[1.0,null]}` {
		t.Errorf("%+v", e)
	}
	if e = mcphud(t, "info", "--url", faketest.HTTP(t, behave.Good, behave.Fault{Status: 500}).URL).errorLine(t); e.Status == nil || *e.Status != 500 || e.URL == nil || e.Code != nil {
		t.Errorf("%+v", e)
	}
}

// exchange asks a stdio server itself, without any of our client's code, and returns the result member as it was sent.
func exchange(t *testing.T, mode behave.Mode, method, params string) string {
	t.Helper()
	r := faketest.Open(t, faketest.Stdio(t, mode))
	r.Handshake()
	frame := r.Request(7, method, params)
	env, err := jsonrpc.Scan(frame)
	require.NoError(t, err)
	r.Close()
	return string(env.Result)
}

func TestJSONIsWhatTheServerSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode           behave.Mode
		args           []string
		method, params string
	}{
		{behave.Good, []string{"tools", "list"}, "tools/list", "{}"},
		{behave.ManyTools, []string{"tools", "list"}, "tools/list", "{}"},
		{behave.Malformed, []string{"tools", "list"}, "tools/list", "{}"},
		{behave.HostileText, []string{"tools", "list"}, "tools/list", "{}"},
		{behave.Good, []string{"resources", "list"}, "resources/list", "{}"},
		{behave.Good, []string{"resources", "templates"}, "resources/templates/list", "{}"},
		{behave.Good, []string{"prompts", "list"}, "prompts/list", "{}"},
		{behave.Good, []string{"tools", "call", "kinds"}, "tools/call", `{"name":"kinds","arguments":{}}`},
		{behave.Good, []string{"tools", "call", "add", "a=1", "b=2"}, "tools/call", `{"name":"add","arguments":{"a":1,"b":2}}`},
		{behave.Good, []string{"resources", "read", "fake://text"}, "resources/read", `{"uri":"fake://text"}`},
		{behave.Good, []string{"prompts", "get", "greet", "who=Ada"}, "prompts/get", `{"name":"greet","arguments":{"who":"Ada"}}`},
		{behave.Good, []string{"complete", "greet", "who", "A"}, "completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"A"}}`},
		{behave.Good, []string{"raw", "ping"}, "ping", "{}"},
	} {
		t.Run(string(c.mode)+" "+strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			want := exchange(t, c.mode, c.method, c.params)
			if got := mcphud(t, fake(t, c.mode, append(c.args, "--format", "json")...)...).ok(t); got != want+"\n" {
				t.Errorf("printed %d bytes, want %d\ngot  %.300q\nwant %.300q", len(got), len(want)+1, got, want)
			}
		})
	}
}

func TestOneToolIsPrintedAsSent(t *testing.T) {
	t.Parallel()
	var list struct{ Tools []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(exchange(t, behave.Good, "tools/list", "{}")), &list))
	if got := mcphud(t, fake(t, behave.Good, "tools", "show", "add")...).ok(t); got != string(list.Tools[1])+"\n" {
		t.Errorf("got  %s\nwant %s", got, list.Tools[1])
	}
}

func TestSeveralPagesBecomeOneList(t *testing.T) {
	t.Parallel()
	o := mcphud(t, fake(t, behave.Pages, "tools", "list")...)
	var list map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(o.ok(t)), &list))
	var tools []struct{ Name string }
	require.NoError(t, json.Unmarshal(list["tools"], &tools))
	if len(tools) != 100 || list["nextCursor"] != nil {
		t.Errorf("%d tools, nextCursor %s", len(tools), list["nextCursor"])
	}
	raw := mcphud(t, fake(t, behave.Pages, "tools", "list", "--format", "raw")...).ok(t)
	if n := strings.Count(raw, "\n"); n != 10 {
		t.Errorf("raw printed %d frames, want one a page: 10", n)
	}
}

// The bundled agent in both eras over HTTP, against requests that net/http sends by itself.
func TestJSONOverHTTP(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	post := func(body string, headers map[string]string) (string, http.Header) {
		req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		res, err := (&http.Client{Transport: tr}).Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		env, err := jsonrpc.Scan([]byte(strings.TrimSpace(string(b))))
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		return string(env.Result), res.Header
	}
	_, h := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, nil)
	legacy, _ := post(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`, map[string]string{"Mcp-Session-Id": h.Get("Mcp-Session-Id")})
	modern, _ := post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
	for version, want := range map[string]string{"2025-11-25": legacy, "2026-07-28": modern} {
		if got := mcphud(t, "tools", "list", "--url", url, "--protocol", version).ok(t); got != want+"\n" {
			t.Errorf("%s: printed %d bytes, want %d", version, len(got), len(want)+1)
		}
		var i struct{ ProtocolVersion, Era, Transport string }
		if err := json.Unmarshal([]byte(mcphud(t, "info", "--url", url, "--protocol", version).ok(t)), &i); err != nil || i.ProtocolVersion != version || i.Transport != "http" {
			t.Errorf("%s: info says %+v, %v", version, i, err)
		}
	}
}

func TestSSE(t *testing.T) {
	t.Parallel()
	url := faketest.SSE(t, behave.Good, behave.Fault{}).URL
	want := exchange(t, behave.Good, "tools/list", "{}")
	for _, transport := range []string{"sse", "auto"} {
		if got := mcphud(t, "tools", "list", "--url", url, "--transport", transport).ok(t); got != want+"\n" {
			t.Errorf("%s: printed %d bytes, want %d", transport, len(got), len(want)+1)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	file := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"name":"from file","kind":"person","z":1.0}`), 0o600))
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{args: []string{"name=42", "kind=person", "age=42", "agree=true"}, want: `{"name":"42","kind":"person","age":42,"agree":true}`},
		{args: []string{"name=Ada", "kind=person", "big=9007199254740993", "price=1.50"}, want: `{"name":"Ada","kind":"person","big":9007199254740993,"price":1.50}`},
		{args: []string{"name=Ada", "kind=person", `anything:={"x":[1.0]}`}, want: `{"name":"Ada","kind":"person","anything":{"x":[1.0]}}`},
		{
			args: []string{"name=Ada", "kind=person", "address.street=A", "address.city=Bern", "address.geo.lat=46.9", "address.geo.lon=7.4", "people[0].name=Ada"},
			want: `{"name":"Ada","kind":"person","address":{"street":"A","city":"Bern","geo":{"lat":46.9,"lon":7.4}},"people":[{"name":"Ada"}]}`,
		},
		{args: []string{"--args", `{"name":"Ada","kind":"person","b":1,"a":2}`}, want: `{"name":"Ada","kind":"person","b":1,"a":2}`},
		{args: []string{"--args", "@" + file, "age=7"}, want: `{"name":"from file","kind":"person","z":1.0,"age":7}`},
		{args: []string{"--args", "-"}, stdin: `{"name":"from stdin","kind":"person"}`, want: `{"name":"from stdin","kind":"person"}`},
		{args: []string{"name=Ada", "kind=person", "notes:=null", "nickname="}, want: `{"name":"Ada","kind":"person","notes":null,"nickname":""}`},
	} {
		cmd := command(t, append([]string{"tools", "call", "form_gallery", "--url", url}, c.args...)...)
		cmd.Stdin = strings.NewReader(c.stdin)
		var r struct{ Content []struct{ Text string } }
		require.NoError(t, json.Unmarshal([]byte(finish(t, cmd).ok(t)), &r))
		if got := r.Content[0].Text; got != c.want {
			t.Errorf("%v sent %s, want %s", c.args, got, c.want)
		}
	}
}

// A wrong name must not cost the server anything but the list.
func TestUnknownToolSendsNothing(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "j.jsonl")
	mcphud(t, fake(t, behave.Good, "tools", "call", "nothing", "a=1", "--journal", log)...)
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	if !strings.Contains(string(b), "tools/list") || strings.Contains(string(b), "tools/call") {
		t.Errorf("the journal: %s", b)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, args := range [][]string{
		{"tools", "call", "reset_counter"}, {"raw", "tools/call", `{"name":"reset_counter","arguments":{}}`}, {"tools", "call", "create_agent", "name=x", "description=y"},
	} {
		if o := mcphud(t, append(args, "--read-only", "--url", url)...); o.code != 1 || !strings.Contains(o.errorLine(t).Message, "not marked as read-only") {
			t.Errorf("%v: exit %d, %s", args, o.code, o.stderr)
		}
	}
	for params, want := range map[string]string{
		`{"name":"reset_counter","NAME":"echo","arguments":{}}`: "not marked as read-only",
		`{"name":"echo","name":"reset_counter","arguments":{}}`: "read in two ways",
		`{"name":"reset_counter","name":"echo","arguments":{}}`: "read in two ways",
	} {
		if o := mcphud(t, "raw", "tools/call", params, "--read-only", "--url", url); o.code != 1 || !strings.Contains(o.errorLine(t).Message, want) {
			t.Errorf("%s: exit %d, %s", params, o.code, o.stderr)
		}
	}
	mcphud(t, "tools", "call", "reset_counter", "--url", url).ok(t) // nobody is there to be asked
	mcphud(t, "tools", "call", "echo", "message=x", "--read-only", "--url", url).ok(t)
	for _, format := range []string{"text", "json"} {
		o := mcphud(t, "tools", "list", "--read-only", "--format", format, "--url", url)
		if out := o.ok(t); strings.Contains(out, "reset_counter") || strings.Contains(out, "create_agent") || !strings.Contains(out, "echo") {
			t.Errorf("%s: %s", format, out)
		}
		assert.Contains(t, o.stderr, "mcphud: --read-only hides ")
	}
}

// On a terminal a destructive tool asks, and shows what it would be called with; --yes answers beforehand.
func TestDestructiveToolAsksOnATerminal(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for name, c := range map[string]struct {
		args          []string
		answer, shows string
		code          int
	}{
		"yes":      {[]string{"tools", "call", "reset_counter"}, "y\n", "Call it without arguments? [y/N]", 0},
		"no":       {[]string{"tools", "call", "reset_counter"}, "\n", "not called; nothing was sent", 1},
		"raw":      {[]string{"raw", "tools/call", `{"name":"reset_counter","arguments":{"token":"geheim"}}`}, "n\n", `Call it with {"token":"***"}? [y/N]`, 1},
		"agreed":   {[]string{"tools", "call", "reset_counter", "--yes"}, "", "counter", 0},
		"harmless": {[]string{"tools", "call", "echo", "message=hello"}, "", "hello", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startUI(t, append(c.args, "--url", url)...)
			if c.answer != "" {
				s.shows("marks reset_counter as destructive.")
				if _, err := io.WriteString(s.f, c.answer); err != nil {
					t.Fatal(err)
				}
			}
			if code := s.exit(); code != c.code || !strings.Contains(s.written(), c.shows) || c.answer == "" && strings.Contains(s.written(), "[y/N]") {
				t.Errorf("exit %d: %s", code, s.written())
			}
		})
	}
}

// config.yaml says which tools ask.
func TestConfigSaysWhichToolsAsk(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for rule, c := range map[string]struct {
		tool, question string
		code           int
	}{
		"writing": {"ask_agent", "does not mark ask_agent as read-only. Call it", 1},
		"none":    {"reset_counter", "", 0},
	} {
		folder := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(folder, "mcphud"), 0o700))
		write(t, filepath.Join(folder, "mcphud", "config.yaml"), "ask_first: "+rule+"\n")
		s := startUIWith(t, []string{"XDG_CONFIG_HOME=" + folder}, "tools", "call", c.tool, "--url", url)
		if c.question != "" {
			s.shows(c.question)
			s.types(t, "n\n")
		}
		if code := s.exit(); code != c.code || c.question == "" && strings.Contains(s.written(), "[y/N]") {
			t.Errorf("%s: exit %d: %s", rule, code, s.written())
		}
	}
}

// An interrupt answers the question with no, and nothing that waits for an answer stays: the process checks itself for goroutines.
func TestInterruptWhileAsked(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "j.jsonl")
	s := startUI(t, "tools", "call", "reset_counter", "--url", agent(t, agentsrv.Options{}), "--journal", log)
	s.shows("[y/N]")
	s.signal(os.Interrupt)
	if code := s.exit(); code != cli.ExitInterrupted || !strings.Contains(s.written(), "interrupted; nothing was sent") {
		t.Errorf("exit %d: %s", code, s.written())
	}
	assert.NotContains(t, contents(log), `"tools/call"`)
}

func TestJSONL(t *testing.T) {
	t.Parallel()
	o := mcphud(t, fake(t, behave.Good, "tools", "call", "progress", "count=250", "--format", "jsonl")...)
	lines := strings.Split(strings.TrimRight(o.ok(t), "\n"), "\n")
	n := 0
	for _, l := range lines[:len(lines)-1] {
		if !strings.HasPrefix(l, `{"jsonrpc":"2.0","method":"notifications/progress"`) {
			t.Fatalf("line %q", l)
		}
		n++
	}
	assert.Equalf(t, n, 250, "progress lines")
	assert.Equalf(t, lines[len(lines)-1], `{"content":[{"type":"text","text":"done"}]}`, "the last line")
}

func TestRawPrintsTheFrame(t *testing.T) {
	t.Parallel()
	env, err := jsonrpc.Scan([]byte(mcphud(t, fake(t, behave.Good, "tools", "call", "add", "a=1", "b=2", "--format", "raw")...).ok(t)))
	if err != nil || env.Kind != jsonrpc.Response || !strings.Contains(string(env.Result), `"sum":3`) {
		t.Errorf("%+v, %v", env, err)
	}
}

func TestTextIsForPeople(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for _, c := range []struct {
		args []string
		want []string
		not  []string
	}{
		{[]string{"tools", "list"}, []string{"reset_counter", "destructive", "Adds two numbers"}, []string{"{"}},
		{[]string{"tools", "show", "add"}, []string{"First summand", "required", "output schema"}, nil},
		{[]string{"tools", "call", "contents"}, []string{"## Markdown", "image (image/png)", "32x32 pixels", "audio (audio/wav), 1644 bytes", "link to demo://readme"}, []string{"iVBOR"}},
		{[]string{"tools", "call", "add", "a=1", "b=2"}, []string{"3\n", `"sum": 3`}, nil},
		{[]string{"resources", "list"}, []string{"demo://logo", "image/png"}, []string{"{"}},
		{[]string{"resources", "read", "demo://readme"}, []string{"# mcphud demo"}, []string{`"contents"`}},
		{[]string{"resources", "templates"}, []string{"demo://note/{id}"}, nil},
		{[]string{"prompts", "list"}, []string{"greet", "name [language]"}, nil},
		{[]string{"prompts", "get", "greet", "name=Ada"}, []string{"[user]", "greet Ada"}, nil},
		{[]string{"complete", "greet", "name", "a"}, []string{"Ada\nAlan\n"}, nil},
		{[]string{"complete", "demo://note/{id}", "id", "to"}, []string{"today\ntomorrow\n"}, nil},
		{[]string{"info"}, []string{"mcphud-agent", "2026-07-28", "tools"}, []string{"{"}},
		{[]string{"ping"}, []string{"answered"}, nil},
	} {
		out := mcphud(t, append(c.args, "--format", "text", "--url", url)...).ok(t)
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%v does not say %q:\n%s", c.args, w, out)
			}
		}
		for _, n := range c.not {
			if strings.Contains(out, n) {
				t.Errorf("%v says %q:\n%s", c.args, n, out)
			}
		}
	}
}

func TestServersList(t *testing.T) {
	t.Parallel()
	cfg := filepath.Join(t.TempDir(), "c.json")
	server := faketest.Stdio(t, behave.Good)
	body := fmt.Sprintf(`{"mcpServers":{"fake":{"command":%q,"args":["good"],"env":{"API_TOKEN":"s3cret-value"}},"web":{"url":"http://127.0.0.1:1/mcp"}}}`, server.Command)
	require.NoError(t, os.WriteFile(cfg, []byte(body), 0o600))
	for _, format := range []string{"json", "text"} {
		out := mcphud(t, "servers", "list", "--config", cfg, "--format", format).ok(t)
		if !strings.Contains(out, "fake") || !strings.Contains(out, "http://127.0.0.1:1/mcp") || !strings.Contains(out, "c.json") || strings.Contains(out, "s3cret") {
			t.Errorf("%s: %s", format, out)
		}
	}
	assert.Contains(t, mcphud(t, "tools", "call", "echo", "text=hi", "--server", "fake", "--config", cfg).ok(t), "hi")
}

// A long problem does not push the other columns away: its row says that the entry cannot start, and why stands whole below the table.
func TestServersListKeepsProblemsBelow(t *testing.T) {
	t.Parallel()
	cfg := filepath.Join(t.TempDir(), "c.json")
	body := `{"mcpServers":{"good":{"command":"x"},"bad":{"command":"x","args":["${A_VARIABLE_THAT_NOBODY_HAS_SET}"]}}}`
	require.NoError(t, os.WriteFile(cfg, []byte(body), 0o600))
	rows, below, _ := strings.Cut(mcphud(t, "servers", "list", "--config", cfg, "--format", "text").ok(t), "\n\n")
	assert.Equal(t, strings.Join(strings.Fields(strings.ReplaceAll(rows, filepath.Dir(cfg), "")), " "),
		"good stdio /c.json:1 x bad stdio ✗ cannot start /c.json:1 x ${A_VARIABLE_THAT_NOBODY_HAS_SET}")
	if !strings.HasPrefix(below, "bad: args[0]: environment variable ") || !strings.Contains(below, "is not set; set it before") {
		t.Errorf("below it is %q", below)
	}
}

// What came with a folder is not started because somebody stands in it.
func TestProjectServersNeedTrust(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "started")
	cmd := command(t, "info", "--server", "evil")
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, ".mcp.json"), fmt.Appendf(nil, `{"mcpServers":{"evil":{"command":"touch","args":[%q]}}}`, marker), 0o600))
	cmd.Dir = mustRealPath(t, cmd.Dir)
	// The home folder is not the working folder here: home files need no trust.
	cmd.Env = append(cmd.Env, "HOME="+t.TempDir())
	o := finish(t, cmd)
	if e := o.errorLine(t); o.code != 4 || e.Kind != "ServerDisabled" || !strings.Contains(e.Message, "trust") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it was started")
	}
}

func mustRealPath(t *testing.T, dir string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return p
}

func TestStderrIsPassedThrough(t *testing.T) {
	t.Parallel()
	o := mcphud(t, fake(t, behave.ExitAtOnce, "info", "--format", "json")...)
	r := faketest.Open(t, faketest.Stdio(t, behave.ExitAtOnce))
	r.Close()
	if want := r.Stderr.String(); want == "" || !strings.HasPrefix(o.stderr, want) {
		t.Errorf("stderr is %q\nwant first %q", o.stderr, want)
	}
}

func TestHelpAndCompletion(t *testing.T) {
	t.Parallel()
	assert.Contains(t, mcphud(t, "tools", "call", "--help").ok(t), "--args", "--url")
	assert.NotContains(t, mcphud(t, "--help").ok(t), "`")
	assert.Contains(t, mcphud(t, "completion", "bash").ok(t), "mcphud")
	assert.Contains(t, ownProcess(t, "man").ok(t), ".TH")
	url := agent(t, agentsrv.Options{})
	for _, target := range [][]string{{"--url", url}, {url}} {
		args := append(append([]string{"__complete", "tools", "call"}, target...), "")
		if out := mcphud(t, args...).ok(t); !strings.Contains(out, "reset_counter\t") {
			t.Errorf("%v: %s", target, out)
		}
	}
}
