package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestA1_Port(t *testing.T) {
	t.Parallel()
	port := nettest.FreePort(t)
	url := fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
	assert.Equalf(t, serveAgent(t, "--port", strconv.Itoa(port)).url, url, "--port %d", port)
	port = nettest.FreePort(t)
	url = fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
	s := serveIn(t, t.TempDir(), []string{"AGENT_PORT=" + strconv.Itoa(port)})
	assert.Equalf(t, s.url, url, "AGENT_PORT=%d", port)
	if ln, err := net.Listen("tcp", "[::1]:0"); err == nil { // clients that say localhost may mean this one
		_ = ln.Close()
		if r, err := s.send("GET", fmt.Sprintf("http://[::1]:%d/health", port), ""); err != nil || r.status != 200 {
			t.Errorf("on ::1: %v %v", r.status, err)
		}
	}

	e := refused(t, nil, "--port", strconv.Itoa(port))
	assert.Contains(t, e.Message, strconv.Itoa(port), "--port")
	if runtime.GOOS == "linux" && !strings.Contains(e.Message, fmt.Sprintf("(pid %d)", s.cmd.Process.Pid)) {
		t.Errorf("it does not say by whom: %s", e.Message)
	}
	for variable, value := range map[string]string{"AGENT_PORT": "abc", "AGENT_CONCURRENCY": "many"} {
		if e := refused(t, []string{variable + "=" + value}); !strings.Contains(e.Message, variable) || !strings.Contains(e.Message, value) {
			t.Errorf("%s=%s: %s", variable, value, e.Message)
		}
	}
}

// Another program may hold the port on the machine that runs the tests; then its number is in the error.
func TestA1_DefaultPort(t *testing.T) {
	t.Parallel()
	cmd := agentCommand(t, t.TempDir(), nil)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said strings.Builder
	buf := make([]byte, 4096)
	for err == nil && !strings.Contains(said.String(), ":7000") {
		var n int
		n, err = stderr.Read(buf)
		said.Write(buf[:n])
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_, _ = io.Copy(io.Discard, stderr)
	_ = cmd.Wait()
	if !strings.Contains(said.String(), "listening on http://127.0.0.1:7000/mcp\n") && !strings.Contains(said.String(), "127.0.0.1:7000") {
		t.Error(said.String())
	}
}

func TestA2_Introduction(t *testing.T) {
	t.Parallel()
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	info := serveAgent(t).post(initialize, "Accept", "application/json, text/event-stream").rpc(t).Result.ServerInfo
	if info.Name != "mcphud-agent" || info.Version != cli.Version() || info.Version == "" {
		t.Errorf("%+v", info)
	}
	if info = serveAgent(t, "--name", "other").post(initialize, "Accept", "application/json, text/event-stream").rpc(t).Result.ServerInfo; info.Name != "other" {
		t.Errorf("--name: %+v", info)
	}
}

func TestA9_OtherMachinesNeedAToken(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"0.0.0.0", "::", "192.0.2.1"} {
		if e := refused(t, nil, "--port", "0", "--host", host); !strings.Contains(e.Message, "AGENT_TOKEN") || !strings.Contains(e.Message, "--jwks") || !strings.Contains(e.Message, host) {
			t.Errorf("--host %s: %s", host, e.Message)
		}
	}
	const token = "s3cret-t0ken-value"
	s := serveIn(t, t.TempDir(), []string{"AGENT_TOKEN=" + token}, "--port", "0", "--host", "0.0.0.0", "--log-level", "debug")
	if !strings.HasPrefix(s.url, "http://127.0.0.1:") {
		t.Errorf("it says to listen on %s, which no client can use", s.url)
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if r := s.post(list); r.status != 401 || !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("without a token: %d %v", r.status, r.header)
	}
	assert.Equalf(t, s.post(list, "Authorization", "Bearer wrong").status, 401, "with a wrong one")
	if r := s.post(list, "Authorization", "Bearer "+token); r.status != 200 || r.rpc(t).Error != nil {
		t.Errorf("with the token: %d %.300s", r.status, r.body)
	}
	assert.Equalf(t, s.get("/health").status, 200, "/health asks who it is")
	for _, what := range []string{s.log(), s.get("/metrics", "Authorization", "Bearer "+token).body} {
		assert.NotContains(t, what, token)
	}
}

func TestX2_NoTenantsButThoseNamed(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--tenant", "acme", "--tenant", "globex")
	search := func(tenant string) rpcAnswer {
		return s.call("search_knowledge_base", `{"query":"session","tenant_id":"`+tenant+`"}`)
	}
	for _, tenant := range []string{"acme", "globex", "default"} {
		search(tenant).text(t)
	}
	if r := search("initech"); r.Error == nil || r.Error.Code != -32000 || r.Error.Message != "Tenant not found" {
		t.Errorf("a tenant that nobody named: %+v", r)
	}
	if e := refused(t, nil, "--port", "0", "--tenant", "a b"); !strings.Contains(e.Message, "a b") {
		t.Errorf("no name of a tenant: %s", e.Message)
	}
}

func TestA10_Stdio(t *testing.T) {
	t.Parallel()
	cmd := agentCommand(t, t.TempDir(), nil, "--stdio", "--log-level", "debug", "--drain-timeout", "1h")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	answers := map[string]string{}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":"é","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}`,
		`no JSON`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"console.log('out'); 6*7"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	dec := json.NewDecoder(out)
	for len(answers) < 5 {
		var frame json.RawMessage
		if err := dec.Decode(&frame); err != nil {
			t.Fatalf("after the answers to %v: %v; stderr %s", slices.Sorted(maps.Keys(answers)), err, stderr.String())
		}
		env, err := jsonrpc.Scan(frame)
		if err != nil {
			t.Fatalf("no frame: %s", frame)
		}
		if env.Method == "" {
			answers[cmp.Or(string(env.ID), "null")] = string(frame)
		}
	}
	for id, want := range map[string]string{`"é"`: `"protocolVersion":"2025-06-18"`, "9007199254740993": `"hi"`, "null": "-32700", "3": "42", "4": `"execute_code"`} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("the answer to %s has no %s: %.300s", id, want, answers[id])
		}
	}
	start := time.Now()
	_ = in.Close()
	rest, _ := io.ReadAll(io.MultiReader(dec.Buffered(), out))
	if len(bytes.TrimSpace(rest)) > 0 {
		t.Errorf("after the last answer: %q", rest)
	}
	if err := cmd.Wait(); err != nil || time.Since(start) > 30*time.Second { // far from what a signal would give to calls
		t.Errorf("the end of input: %v after %v; %s", err, time.Since(start), stderr.String())
	}
}

func TestA13_PathsForGet(t *testing.T) {
	t.Parallel()
	s := serveAgent(t)
	var health struct{ Status, Name, Version string }
	if r := s.get("/health"); r.status != 200 || json.Unmarshal([]byte(r.body), &health) != nil || health.Status != "ok" || health.Name != "mcphud-agent" || health.Version != cli.Version() {
		t.Errorf("/health: %d %s", r.status, r.body)
	}
	if r := s.get("/ready"); r.status != 200 {
		t.Errorf("/ready: %d %s", r.status, r.body)
	}
	s.call("echo", `{"message":"x"}`).text(t)
	if r := s.get("/metrics"); r.status != 200 || !strings.Contains(r.body, "mcp_tool_duration_ms_count") || !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") {
		t.Errorf("/metrics: %d %.500s", r.status, r.body)
	}
	var queue map[string]json.RawMessage
	if r := s.get("/queue"); json.Unmarshal([]byte(r.body), &queue) != nil || string(queue["queued"]) != "0" || string(queue["running"]) != "0" || string(queue["concurrency"]) != "1" {
		t.Errorf("/queue: %d %s", r.status, r.body)
	}
	id := s.async("sleep", `{"seconds":0}`)
	for _, path := range []string{"/tasks/" + id, "/task?taskId=" + id, "/getTaskStatus?taskId=" + id} {
		require.Eventually(t, path+" to be completed", func() bool { return s.task(path).Status == "completed" })
	}
	for _, path := range []string{"/tasks/nobody", "/getTaskStatus?taskId=nobody"} {
		if r := s.get(path); r.status != 404 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := s.get("/getTaskStatus"); r.status != 400 || !strings.Contains(r.body, "taskId=ID") {
		t.Errorf("no taskId: %d %s", r.status, r.body)
	}
}

// writes are the files below a folder.
func filesBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, strings.TrimPrefix(path, dir))
		}
		return err
	})
	require.NoError(t, err)
	return files
}

func TestEphemeralWritesNoFile(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral")
	s.call("execute_code", `{"code":"1+1"}`).text(t)
	s.call("search_knowledge_base", `{"query":"protocol","tenant_id":"acme"}`).text(t)
	s.call("create_agent", `{"tenant_id":"acme","user_id":"ada","agent_name":"poet","description":"writes","output_schema":{"type":"object"}}`).text(t)
	s.async("echo", `{"message":"x"}`)
	if files := filesBelow(t, s.home); len(files) > 0 {
		t.Errorf("while it runs: %v", files)
	}
	s.signal(os.Interrupt)
	if code := s.exit(); code != 0 {
		t.Errorf("exit %d: %s", code, s.log())
	}
	if files := filesBelow(t, s.home); len(files) > 0 {
		t.Errorf("at the end: %v", files)
	}
	durable := serveAgent(t)
	durable.call("create_agent", `{"tenant_id":"acme","user_id":"ada","agent_name":"poet","description":"writes","output_schema":{"type":"object"}}`).text(t)
	if len(filesBelow(t, durable.home)) == 0 {
		t.Error("without --ephemeral nothing was written either, so that this test shows nothing")
	}
}
