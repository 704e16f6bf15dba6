package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// eras are a protocol version of each era.
var eras = []string{"2025-11-25", "2026-07-28"}

const colour = `{"role":"assistant","content":{"type":"text","text":"blue"},"model":"m","stopReason":"endTurn"}`

// asker runs tools call against the bundled agent, which asks in either era and over either transport.
type asker struct{ http string }

func newAsker(t *testing.T) asker {
	return asker{agent(t, agentsrv.Options{Profile: agentsrv.Everything})}
}

func (a asker) each(t *testing.T, f func(t *testing.T, call func(words ...string) outcome)) {
	for _, era := range eras {
		t.Run("http "+era, func(t *testing.T) {
			t.Parallel()
			f(t, func(words ...string) outcome {
				return mcphud(t, append([]string{"tools", "call", "--format", "json", "--url", a.http, "--protocol", era}, words...)...)
			})
		})
		t.Run("stdio "+era, func(t *testing.T) {
			t.Parallel()
			f(t, func(words ...string) outcome {
				args := append([]string{"tools", "call", "--format", "json", "--protocol", era, "-e", asMain + "=1"}, words...)
				return mcphud(t, append(args, ownAgent(t, "everything")...)...)
			})
		})
	}
}

func TestP10_AnswersInEitherEra(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	write(t, rules, "- kind: sampling\n  message: colour\n  answer: "+colour+"\n- fields: [username, email]\n  answer: {username: Ann, email: ann@example.com}\n- kind: elicitation\n  answer: decline\n")
	content := filepath.Join(t.TempDir(), "content.json")
	write(t, content, `{"name":"Bo"}`)
	newAsker(t).each(t, func(t *testing.T, call func(...string) outcome) {
		for _, x := range []struct {
			words []string
			want  string
		}{
			{[]string{"test_elicitation_sep1034_defaults", "--answer", "accept"}, `content={\"age\":30,\"name\":\"John Doe\",\"score\":95.5`},
			{[]string{"test_elicitation_sep1034_defaults", "--answer", "cancel"}, `action=cancel`},
			{[]string{"test_elicitation_url", "--answer", "accept"}, `action=accept`},
			{[]string{"test_elicitation", "message=Who?", "--answer", "@" + rules}, `\"username\":\"Ann\"`},
			{[]string{"test_elicitation_sep1034_defaults", "--answer", "accept", "--answer", "@" + rules}, `action=decline`},
			{[]string{"test_sampling", "prompt=Name a colour", "--answer", "decline", "--answer", "@" + rules}, `blue`},
			{[]string{"test_sampling", "prompt=x", "--answer", colour}, `blue`},
			{[]string{"test_input_required_result_elicitation", "--answer", "@" + content}, `Bo`},
		} {
			if got := call(x.words...).ok(t); !strings.Contains(got, x.want) {
				t.Errorf("%q printed %s, want %s in it", x.words, got, x.want)
			}
		}
	})
}

// What nobody answered is named, whether the server's own error came before ours or not.
func TestP10_E11_UnansweredQuestionsEndInExit8(t *testing.T) {
	t.Parallel()
	newAsker(t).each(t, func(t *testing.T, call func(...string) outcome) {
		for _, x := range []struct {
			words          []string
			why, kind, has string
		}{
			{[]string{"test_elicitation", "message=Who are you?", "--capabilities", "elicitation"}, "nobody was there to answer", "form", `"message":"Who are you?"`},
			{[]string{"test_elicitation", "message=Who are you?", "--answer", "accept"}, "these required fields have no default: ", "form", `"requestedSchema"`},
			{[]string{"test_sampling", "prompt=Name a colour", "--as", "vscode"}, "nobody was there to answer", "sampling", "Name a colour"},
			{[]string{"test_elicitation_url", "--capabilities", "elicitation.url"}, "nobody was there to answer", "url", `"mode":"url"`},
		} {
			o := call(x.words...)
			e := o.errorLine(t)
			if o.code != cli.ExitNeedsInput || e.Kind != "NeedsInput" || !strings.Contains(e.Message, x.why) {
				t.Errorf("%q: exit %d, %s", x.words, o.code, o.stderr)
			}
			var asked []struct {
				Kind, Method, Cause, Why string
				Params                   json.RawMessage
			}
			if err := json.Unmarshal(e.Asked, &asked); err != nil || len(asked) != 1 {
				t.Fatalf("%q: asked %s: %v", x.words, e.Asked, err)
			}
			if a := asked[0]; a.Kind != x.kind || !strings.HasPrefix(a.Why, x.why) || a.Cause != "tools/call "+x.words[0] || !strings.Contains(string(a.Params), x.has) {
				t.Errorf("%q: asked %s", x.words, e.Asked)
			}
		}
	})
	declined := mcphud(t, "tools", "call", "test_sampling", "prompt=x", "--answer", "decline", "--protocol", eras[1], "--format", "json", "--url", newAsker(t).http)
	if e := declined.errorLine(t); declined.code != cli.ExitNeedsInput || !strings.Contains(e.Message, "sampling/createMessage was declined") {
		t.Errorf("declined: exit %d, %s", declined.code, declined.stderr)
	}
	text := mcphud(t, "tools", "call", "test_elicitation", "message=Who?", "--capabilities", "elicitation", "--format", "text", "--url", newAsker(t).http)
	text.exits(t, cli.ExitNeedsInput, "asked   form: Who? (username, email)")
}

// A call that wants a page to be visited first (-32042) is made again once that is agreed to, and else names the page.
func TestPagesToVisitFirst(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		env, err := jsonrpc.Scan(b)
		if err != nil || env.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch env.Method {
		case "initialize":
			_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"pages","version":"1"}}`)))
		case "tools/list":
			_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(`{"tools":[{"name":"pay","inputSchema":{"type":"object"}}]}`)))
		default:
			page := []byte(`{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://pay.example.com/1","message":"Pay first"}]}`)
			_, _ = w.Write(jsonrpc.NewError(env.ID, jsonrpc.CodeURLElicitation, "visit a page", page))
		}
	}))
	t.Cleanup(srv.Close)
	o := mcphud(t, "tools", "call", "pay", "--protocol", "2025-11-25", "--format", "json", "--url", srv.URL)
	if e := o.errorLine(t); o.code != cli.ExitNeedsInput || !strings.Contains(string(e.Asked), `"kind":"url"`) || !strings.Contains(string(e.Asked), "https://pay.example.com/1") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	o = mcphud(t, "tools", "call", "pay", "--protocol", "2025-11-25", "--format", "json", "--answer", "accept", "--url", srv.URL) // it never has enough
	if e := o.errorLine(t); o.code != cli.ExitNeedsInput || e.Code == nil || *e.Code != jsonrpc.CodeURLElicitation {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// The shell completes what can be answered, advertised and presented.
func TestCompletionOfAnswersAndClients(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		flag, typed string
		want        []string
	}{
		{"--answer", "", []string{"accept", "decline", "cancel"}},
		{"--as", "c", []string{"claude-code", "cursor"}},
		{"--capabilities", "roots,samp", []string{"roots,sampling", "roots,sampling.tools"}},
	} {
		got := mcphud(t, "__complete", "info", x.flag, x.typed).out
		for _, word := range x.want {
			if !strings.Contains("\n"+got, "\n"+word) {
				t.Errorf("%s %s: %q lacks %s", x.flag, x.typed, got, word)
			}
		}
	}
}

func TestAnswersAndClientsAreCheckedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		write(t, filepath.Join(dir, name), content)
		return filepath.Join(dir, name)
	}
	for _, x := range []struct{ flag, value, says string }{
		{"--answer", "acept", "did you mean accept?"},
		{"--answer", `{"a":`, "not a valid JSON object"},
		{"--answer", "@/nowhere.yaml", "/nowhere.yaml"},
		{"--answer", "@" + file("rules.yaml", "- knd: form\n  answer: accept\n"), `rule 1: unknown key "knd"; the keys are`},
		{"--answer", "@" + file("broken.yaml", "- a: [\n"), "broken.yaml:"},
		{"--capabilities", "elicitation,samplng", "did you mean sampling"},
		{"--as", "vscod", "did you mean vscode"},
		{"--as", file("own.yaml", "name: own\n"), "capabilities must be an object"},
	} {
		o := mcphud(t, "info", x.flag, x.value, "--format", "json", "--", "/nowhere/server")
		if e := o.errorLine(t); o.code != cli.ExitFailure || e.Kind != "Usage" || !strings.Contains(e.Message, x.says) {
			t.Errorf("%s %s: exit %d, %s", x.flag, x.value, o.code, o.stderr)
		}
	}
}

// hello is what a run says of itself to the server, in either era.
func hello(t *testing.T, url string, flags ...string) (version, info, capabilities string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "journal")
	mcphud(t, append([]string{"info", "--url", url, "--journal", file}, flags...)...).ok(t)
	var p struct {
		Params struct {
			ProtocolVersion          string
			ClientInfo, Capabilities json.RawMessage
			Meta                     map[string]json.RawMessage `json:"_meta"`
		}
	}
	frames := requests(t, file)
	require.NoError(t, json.Unmarshal(frames[0], &p))
	if m := p.Params.Meta; m["io.modelcontextprotocol/clientInfo"] != nil {
		return strings.Trim(string(m["io.modelcontextprotocol/protocolVersion"]), `"`), string(m["io.modelcontextprotocol/clientInfo"]), string(m["io.modelcontextprotocol/clientCapabilities"])
	}
	return p.Params.ProtocolVersion, string(p.Params.ClientInfo), string(p.Params.Capabilities)
}

func TestPersonasAndCapabilitiesOnTheWire(t *testing.T) {
	t.Parallel()
	url := newAsker(t).http
	own := filepath.Join(t.TempDir(), "own.yaml")
	write(t, own, "name: own\nclientInfo: {name: Own, version: '3'}\ncapabilities: {sampling: {}}\nversions: ['2025-06-18']\n")
	for _, x := range []struct {
		flags                       []string
		version, info, capabilities string
	}{
		{nil, "2026-07-28", `{"name":"mcphud"`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{[]string{"--answer", "accept"}, "2026-07-28", `{"name":"mcphud"`, `{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{[]string{"--answer", "decline"}, "2026-07-28", `{"name":"mcphud"`, `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{[]string{"--as", "claude-code"}, "2025-11-25", `{"name":"claude-code","title":"Claude Code","version":"2.1.261"`, `{"roots":{"listChanged":true},"elicitation":{}}`},
		{[]string{"--as", "claude-code", "--protocol", "2026-07-28"}, "2026-07-28", `{"name":"claude-code"`, `{"roots":{"listChanged":true},"elicitation":{}}`},
		{[]string{"--as", "none", "--answer", "accept"}, "2026-07-28", `{"name":"mcphud"`, `{}`},
		{[]string{"--as", own}, "2025-06-18", `{"name":"Own","version":"3"}`, `{"sampling":{}}`},
		{[]string{"--as", own, "--capabilities", "elicitation,elicitation.url, roots"}, "2025-06-18", `{"name":"Own"`, `{"elicitation":{"form":{},"url":{}},"roots":{}}`},
		{[]string{"--capabilities", "elicitation,sampling"}, "2026-07-28", `{"name":"mcphud"`, `{"elicitation":{},"sampling":{}}`},
		{[]string{"--capabilities", ""}, "2026-07-28", `{"name":"mcphud"`, `{}`},
	} {
		version, info, capabilities := hello(t, url, x.flags...)
		if version != x.version || !strings.HasPrefix(info, x.info) || capabilities != x.capabilities {
			t.Errorf("%q sent %s %s %s", x.flags, version, info, capabilities)
		}
	}
}

// server-everything lists the tools that ask only to clients that can be asked, and a tool that was refused has its own error.
func TestPeerEverythingAsks(t *testing.T) {
	t.Parallel()
	s := peertest.Everything(t)
	names := func(flags ...string) string {
		return mcphud(t, target(s, append([]string{"tools", "list", "--format", "json"}, flags...)...)...).out
	}
	const asks = "trigger-elicitation-request"
	if strings.Contains(names("--as", "none"), asks) || !strings.Contains(names("--as", "vscode"), asks) {
		t.Error("the tools do not depend on the persona")
	}
	o := mcphud(t, target(s, "tools", "call", asks, "--as", "inspector", "--format", "json")...)
	if e := o.errorLine(t); o.code != cli.ExitNeedsInput || !strings.Contains(string(e.Asked), `"kind":"form"`) {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	o = mcphud(t, target(s, "tools", "call", asks, "--answer", "decline", "--format", "json")...)
	o.prints(t, 0, "declined")
	for name, url := range map[string]string{"http": peertest.EverythingHTTP(t).Server.URL, "sse": peertest.EverythingSSE(t).Server.URL} {
		o = mcphud(t, "tools", "call", asks, "--answer", `{"name":"Ann"}`, "--format", "json", "--url", url)
		o.prints(t, 0, "Ann")
		o = mcphud(t, "tools", "call", asks, "--capabilities", "elicitation", "--format", "json", "--url", url)
		if e := o.errorLine(t); o.code != cli.ExitNeedsInput || !strings.Contains(string(e.Asked), `"kind":"form"`) {
			t.Errorf("over %s: exit %d, %s", name, o.code, o.stderr)
		}
	}
	o = mcphud(t, target(s, "tools", "call", "trigger-sampling-request", "prompt=colour", "--answer", colour, "--format", "json")...)
	o.prints(t, 0, "blue")
	// A client with roots is asked for them, and has none.
	if o = mcphud(t, target(s, "tools", "call", "get-roots-list", "--as", "claude-code", "--format", "json")...); o.code != 0 {
		t.Errorf("exit %d, %s %s", o.code, o.out, o.stderr)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}
