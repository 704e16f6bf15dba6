package proxy

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// token is an entry of a file of tokens.
func token(secret, name, targets string) string {
	sum := sha256.Sum256([]byte(secret))
	return fmt.Sprintf(`{"sha256":%q,"name":%q,"allowedTargets":%s}`, hex.EncodeToString(sum[:]), name, targets)
}

func tokens(t testing.TB, entries ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.json")
	retoken(t, file, entries...)
	return file
}

func retoken(t testing.TB, file string, entries ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(`{"tokens":[`+strings.Join(entries, ",")+`]}`), 0o600))
}

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

func TestR8_X7_CallersNeedTheirToken(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Tokens: tokens(t, token("alpha-secret", "alpha", `["*"]`), token("beta-secret", "beta", `["a"]`))}, route("a", a.at(), ""))
	for _, good := range []string{"Bearer alpha-secret", "bearer alpha-secret", "BEARER beta-secret"} {
		if got := f.post(t, "/mcps/a/mcp", ping, "Authorization", good); got.status != 200 {
			t.Errorf("%s: %+v", good, got)
		}
		if h, _ := a.seen(); h.Get("Authorization") != "" {
			t.Errorf("the agent saw %s", h.Get("Authorization"))
		}
	}
	opened := a.opened.Load()
	for name, bad := range map[string][]string{
		"none":          nil,
		"wrong":         {"Authorization", "Bearer gamma"},
		"prefix":        {"Authorization", "Bearer alpha-secre"},
		"hash":          {"Authorization", "Bearer " + strings.SplitN(token("alpha-secret", "", ""), `"`, 5)[3]},
		"basic":         {"Authorization", "Basic alpha-secret"},
		"no scheme":     {"Authorization", "alpha-secret"},
		"no token":      {"Authorization", "Bearer "},
		"two headers":   {"Authorization", "Bearer alpha-secret", "Authorization", "Bearer alpha-secret"},
		"two tokens":    {"Authorization", "Bearer alpha-secret beta-secret"},
		"listed":        {"Authorization", "Bearer alpha-secret, Bearer beta-secret"},
		"tab":           {"Authorization", "Bearer\talpha-secret"},
		"in the middle": {"Authorization", "Bearer alpha- secret"},
		"other header":  {"X-Authorization", "Bearer alpha-secret"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			got := f.send(t, method, "/mcps/a/mcp", map[string]string{"POST": ping}[method], bad...)
			e := got.rpcError(t)
			if got.status != 401 || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") || e.Error.Data["kind"] != "unauthorized" || strings.Contains(got.body, "secret") {
				t.Errorf("%s, %s: %+v", name, method, got)
			}
		}
	}
	if got := f.post(t, "/mcps/a/mcp", ping); got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("challenge %q", got.header.Get("WWW-Authenticate"))
	}
	assert.Equalf(t, a.opened.Load(), opened, "a caller without a token reached the agent")
}

func TestR8_WithoutTokensThisMachineIsLetIn(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	if got := f.post(t, "/mcps/a/mcp", ping, "Authorization", "Bearer whatever"); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if h, _ := a.seen(); h.Get("Authorization") != "" {
		t.Error("the agent saw Authorization")
	}
}

func TestR9_E15_TargetsDecide(t *testing.T) {
	a, b := newAgent(t), newAgent(t)
	f := start(t, Options{Tokens: tokens(
		t, token("all", "boss", `["*"]`), token("some", "alpha", `["a","a.b"]`), token("none", "nobody", `[]`), token("null", "nothing", `["A"]`),
	)}, route("a", a.at(), `"stream":true`), route("b", b.at(), ""), route("A", b.at(), ""), route("a.b", b.at(), ""))
	for _, c := range []struct {
		token, who, agent string
		status            int
	}{
		{"all", "boss", "a", 200},
		{"all", "boss", "b", 200},
		{"all", "boss", "ghost", 404},
		{"some", "alpha", "a", 200},
		{"some", "alpha", "a.b", 200},
		{"some", "alpha", "b", 403},
		{"some", "alpha", "A", 403},
		{"some", "alpha", "a%2eb", 403},
		{"some", "alpha", "%61", 403},
		{"some", "alpha", "a%20", 403},
		{"some", "alpha", "ghost", 403},
		{"some", "alpha", `a"\u0000`, 403},
		{"some", "alpha", "*", 403},
		{"none", "nobody", "a", 403},
		{"null", "nothing", "a", 403},
		{"null", "nothing", "A", 200},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "PUT"} {
			got := f.raw(t, method, "/mcps/"+c.agent+"/mcp", map[string]string{"POST": ping}[method], "Authorization: Bearer "+c.token)
			if c.status != 403 && method == "POST" && got.status != c.status || (got.status == 403) != (c.status == 403) {
				t.Errorf("%s %s by %s: %+v", method, c.agent, c.who, got)
			}
			if c.status != 403 {
				continue
			}
			detail, err := json.Marshal("Agent '" + c.who + "' is not authorized to access agent '" + c.agent + "'")
			require.NoError(t, err)
			var want, is map[string]string
			require.NoError(t, json.Unmarshal([]byte(`{"error":"forbidden","detail":`+string(detail)+`}`), &want))
			if err := json.Unmarshal([]byte(got.body), &is); err != nil || is["error"] != want["error"] || is["detail"] != want["detail"] || len(is) != 2 {
				t.Errorf("%s %s: %s", method, c.agent, got.body)
			}
		}
	}
	if got := f.post(t, "/mcps/b/mcp", ping, "Authorization", "Bearer some"); got.body != `{"error":"forbidden","detail":"Agent 'alpha' is not authorized to access agent 'b'"}` {
		t.Errorf("%s", got.body)
	}
}

// raw sends a request whose path is as it is written.
func (f *fixture) raw(t testing.TB, method, path, body string, headers ...string) response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.Router.URL(), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	lines := append([]string{
		method + " " + path + " HTTP/1.1", "Host: " + strings.TrimPrefix(f.Router.URL(), "http://"), "Connection: close",
		"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)),
	}, headers...)
	if _, err := conn.Write([]byte(strings.Join(lines, "\r\n") + "\r\n\r\n" + body)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(t, err)
	defer res.Body.Close()
	var b strings.Builder
	if _, err := bufio.NewReader(res.Body).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, b.String(), res.ProtoMajor}
}

func TestR10_ASessionIsOfItsPrincipal(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Tokens: tokens(t, token("one", "alpha", `["*"]`), token("two", "beta", `["*"]`), token("new", "alpha", `["*"]`))}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp", "Authorization", "Bearer one")
	for secret, status := range map[string]int{"one": 200, "two": 404, "new": 200} {
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Authorization", "Bearer "+secret, "Mcp-Session-Id", id); got.status != status {
			t.Errorf("%s: %+v", secret, got)
		}
	}
}

func TestR9_NamesCannotBeSmuggled(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), `"methods":["tools/call","ping"],"tools":["echo"]`))
	f.post(t, "/mcps/a/mcp", callEcho)
	for name, body := range map[string]string{
		"method":           `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"tool":             `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}`,
		"twice":            `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"rm"}}`,
		"twice, other way": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","name":"echo"}}`,
		"case":             `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"rm"}}`,
		"escaped":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n\u0061me":"rm"}}`,
		"params case":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"Params":{"name":"rm"}}`,
		"long s":           `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"param\u017f":{"name":"rm"}}`,
		"method twice":     `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`,
		"Method":           `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/list"}`,
		"escaped method":   `{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/list"}`,
	} {
		got := f.post(t, "/mcps/a/mcp", body)
		if _, sent := a.seen(); sent == body {
			t.Errorf("%s reached the agent", name)
		}
		e := got.rpcError(t)
		want := map[string]int{"method": -32601, "tool": -32602}[name]
		if want == 0 {
			want = -32600
		}
		if e.Error.Code != want {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

func TestR8_TokensAreFollowed(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	file := tokens(t, token("one", "alpha", `["*"]`))
	f := start(t, Options{Tokens: file}, route("a", a.at(), ""))
	status := func(secret string) int {
		return f.post(t, "/mcps/a/mcp", ping, "Authorization", "Bearer "+secret).status
	}
	if status("one") != 200 || status("two") != 401 {
		t.Fatal("the tokens of the start are not used")
	}
	retoken(t, file, token("two", "alpha", `["*"]`))
	require.Eventually(t, "the new token", func() bool { return status("two") == 200 })
	assert.Equalf(t, status("one"), 401, "a token that was taken away is still good")
	require.NoError(t, os.WriteFile(file, []byte(`{"tokens":[{"sha2`), 0o600))
	if err := f.Reload(); err == nil || status("two") != 200 || f.Status().Tokens.Error == "" {
		t.Errorf("half a file: %v, %d, %+v", err, status("two"), f.Status().Tokens)
	}
	require.NoError(t, os.Remove(file))
	if err := f.Reload(); err == nil || status("two") != 200 || status("one") != 401 {
		t.Errorf("no file: %v, %d", err, status("two"))
	}
	retoken(t, file, token("three", "alpha", `["*"]`))
	if err := f.Reload(); err != nil || status("three") != 200 || status("two") != 401 || f.Status().Tokens.Error != "" {
		t.Errorf("%v %+v", err, f.Status().Tokens)
	}
}

// A stream without an end must not outlive the token that opened it.
func TestR8_StreamsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	left := make(chan struct{}, 4)
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		rc := sseHead(w)
		_, _ = io.WriteString(w, "data: hello\n\n")
		_ = rc.Flush()
		<-r.Context().Done()
		left <- struct{}{}
	}
	one, two := token("one", "alpha", `["*"]`), token("two", "beta", `["a"]`)
	file, log := tokens(t, one, two), filepath.Join(t.TempDir(), "audit.jsonl")
	f := start(t, Options{Tokens: file, Audit: audit.Options{File: log}}, route("a", a.at(), `"stream":true`))
	open := func(secret string) *bufio.Reader {
		t.Helper()
		id := f.open(t, "/mcps/a/mcp", "Authorization", "Bearer "+secret)
		res := f.stream(t.Context(), t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "Authorization", "Bearer "+secret)
		t.Cleanup(func() { _ = res.Body.Close() })
		r := bufio.NewReader(res.Body)
		if line, err := r.ReadString('\n'); err != nil || line != "data: hello\n" {
			t.Fatalf("%d %q %v", res.StatusCode, line, err)
		}
		return r
	}
	stays, ends := open("one"), open("two")
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen", "Authorization", "Bearer two")
	defer func() { _ = res.Body.Close() }()
	retoken(t, file, one)
	for what, r := range map[string]io.Reader{"GET": ends, "listen": res.Body} {
		if rest, err := io.ReadAll(r); err != nil || !strings.HasSuffix(string(rest), "\n") {
			t.Errorf("%s: %q, %v", what, rest, err)
		}
		<-left
	}
	assert.Equalf(t, f.Calls("a"), 1, "calls go on")
	require.Eventually(t, "both lines of the audit", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && strings.Count(string(text), `"decision":"denied","why":"unauthorized","status":200`) == 2
	})
	// One that may call other agents now, and this one no more.
	retoken(t, file, token("one", "alpha", `["b"]`))
	require.NoError(t, f.Reload())
	if _, err := io.ReadAll(stays); err != nil {
		t.Error(err)
	}
}

// A mistake in what routes say about tokens must not let everybody in.
func TestR8_TokensThatCannotBeReadLetNobodyIn(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	f.write(t, `{"tokens":"nowhere.json","routes":{`+route("a", a.at(), "")+`}}`)
	if err := f.Reload(); err == nil && f.Status().Routes.Error == "" {
		t.Error("nobody says that the tokens are missing")
	}
	if got := f.post(t, "/mcps/a/mcp", ping); got.status != 401 {
		t.Errorf("%+v", got)
	}
	if got := f.send(t, "GET", "/ready", ""); got.status != 503 {
		t.Errorf("%+v", got)
	}
	if _, err := New(Options{Routes: f.file}); err == nil || !strings.Contains(err.Error(), "nowhere.json") {
		t.Errorf("a router started without its tokens: %v", err)
	}
}

func TestX3_R8_ARouteLimitsEachCaller(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Tokens: tokens(t, token("one", "alpha", `["*"]`), token("two", "beta", `["*"]`))}, route("a", a.at(), `"rateLimit":3`), route("b", a.at(), ""))
	send := func(agent, secret string) response {
		return f.post(t, "/mcps/"+agent+"/mcp", ping, "Authorization", "Bearer "+secret)
	}
	for i := range 3 {
		if got := send("a", "one"); got.status != 200 || strings.Contains(got.body, "error") {
			t.Fatalf("request %d: %+v", i+1, got)
		}
	}
	got := send("a", "one")
	e := got.rpcError(t)
	if e.Error.Code != -32002 || e.Error.Data["kind"] != "rate_limited" || e.Error.Data["retryAfterMs"] == nil || got.header.Get("Retry-After") == "" || string(e.ID) != "7" {
		t.Errorf("%+v", got)
	}
	note := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, "Authorization", "Bearer one")
	if note.status != 202 {
		t.Errorf("a notification: %+v", note)
	}
	if got := send("a", "two"); strings.Contains(got.body, "error") {
		t.Errorf("another caller: %+v", got)
	}
	if got := send("b", "one"); strings.Contains(got.body, "error") {
		t.Errorf("another route: %+v", got)
	}
}

func TestR18_RequestsAreWrittenDown(t *testing.T) {
	a := newAgent(t)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	f := start(t, Options{
		Audit: audit.Options{File: file}, Tokens: tokens(t, token("one", "alpha", `["a"]`)),
	}, route("a", a.at(), `"tools":["echo"]`), route("b", a.at(), ""))
	auth := []string{"Authorization", "Bearer one"}
	f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"password":"hunter2"}}}`,
		append(auth, "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")...)
	f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm\n{\"forged\":true}\u001b]0;x\u0007"}}`, auth...)
	f.post(t, "/mcps/b/mcp", ping, auth...)
	f.post(t, "/mcps/a/mcp", ping)
	f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"http://u:p@h/x?token=hunter2"}}`, auth...)
	f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"sum"}}`, auth...)
	f.post(t, "/mcp", ping, "Authorization", "Bearer two")
	f.raw(t, "POST", "/mcps/x\x1b[2J/mcp", ping, "Authorization: Bearer one")
	require.NoError(t, f.Close(t.Context()))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, secret := range []string{"hunter2", "password", "one", "\x1b", "\x07", "u:p"} {
		assert.NotContains(t, string(raw), secret)
	}
	type line struct {
		Time, Principal, Agent, HTTP, Method, Tool, URI, Prompt, Decision, Why, Trace, Session string
		Status, In, Out                                                                        int
		DurationMS                                                                             float64 `json:"duration_ms"`
	}
	var got []line
	for text := range strings.Lines(string(raw)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		got = append(got, l)
	}
	want := []line{
		{Principal: "alpha", Agent: "a", Method: "tools/call", Tool: "echo", Decision: "allowed", Status: 200, Trace: "4bf92f3577b34da6a3ce929d0e0e4736"},
		{Principal: "alpha", Agent: "a", Method: "tools/call", Tool: "rm\n{\"forged\":true}\x1b]0;x\x07", Decision: "denied", Why: "tool_not_found", Status: 200},
		{Principal: "alpha", Agent: "b", Decision: "denied", Why: "forbidden", Status: 403},
		{Agent: "a", Decision: "denied", Why: "unauthorized", Status: 401},
		{Principal: "alpha", Agent: "a", Method: "resources/read", URI: got[4].URI, Decision: "allowed", Status: 200},
		{Principal: "alpha", Agent: "a", Method: "prompts/get", Prompt: "sum", Decision: "allowed", Status: 200},
		{Decision: "denied", Why: "unauthorized", Status: 401}, // at all agents
	}
	for i, w := range want {
		g := got[i]
		if g.Time == "" || g.HTTP != "POST" || g.DurationMS <= 0 || g.Decision == "allowed" && (g.In == 0 || g.Out == 0) {
			t.Errorf("line %d: %+v", i, g)
		}
		w.Time, w.HTTP, w.DurationMS, w.In, w.Out = g.Time, g.HTTP, g.DurationMS, g.In, g.Out
		if g != w {
			t.Errorf("line %d:\n%+v, want\n%+v", i, g, w)
		}
	}
}

// pager answers tools/list with what it is told.
func pager(a *agent, list func() string) {
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		if e.Method == "tools/list" {
			reply(w, e.ID, `{"tools":[`+list()+`]}`)
			return
		}
		reply(w, e.ID, `{}`)
	}
}
