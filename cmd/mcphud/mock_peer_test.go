//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// explorer is a client of others, which prints what it saw of a server.
type explorer struct {
	name string
	argv func(calls string) []string
}

func explorers(t *testing.T) []explorer {
	t.Helper()
	node, script := peertest.Script(t, "explore.mjs")
	goSDK := peertest.GoSDKExplore(t)
	return []explorer{
		{"TypeScript SDK", func(calls string) []string { return []string{node, script, "v1", calls} }},
		{"TypeScript SDK v2", func(calls string) []string { return []string{node, script, "v2", calls} }},
		{"go-sdk", func(calls string) []string { return []string{goSDK, calls} }},
	}
}

// sees runs an explorer on a server.
func (x explorer) sees(t *testing.T, calls string, env map[string]string, where ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	argv := append(x.argv(calls), where...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", x.name, err, errs.String())
	}
	return string(out)
}

// What each pinned server says to the clients of others is recorded, and they see the same of the recording, over stdio and over HTTP.
func TestPeerMockIsWhatClientsSawBefore(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "hello\n")
	// go-sdk's server sends a ping also in the modern era, where servers send no requests, and waits for an answer that SDK v2 does not give.
	const ping = `,{"name":"ping","arguments":{}}`
	servers := []struct {
		server func(testing.TB) config.Server
		calls  string
	}{
		{peertest.Everything, `[{"name":"echo","arguments":{"message":"grüß <b>"}},{"name":"get-sum","arguments":{"a":1,"b":2}},{"name":"get-structured-content","arguments":{"location":"Chicago"}},
			{"name":"trigger-long-running-operation","arguments":{"duration":0.2,"steps":3},"reports":3},{"name":"trigger-sampling-request","arguments":{"prompt":"say","maxTokens":10}},
			{"name":"trigger-elicitation-request","arguments":{}},{"name":"get-roots-list","arguments":{}},{"name":"nope","arguments":{}},{"name":"echo","arguments":{}}]`},
		{func(t testing.TB) config.Server { return peertest.Filesystem(t, dir) }, `[{"name":"list_allowed_directories","arguments":{}},
			{"name":"read_text_file","arguments":{"path":"` + dir + `/a.txt"}},{"name":"read_text_file","arguments":{"path":"/nowhere"}}]`},
		{peertest.Memory, `[{"name":"read_graph","arguments":{}},{"name":"create_entities","arguments":{"entities":[{"name":"a","entityType":"b","observations":["c"]}]}},{"name":"read_graph","arguments":{}},{"name":"read_graph","arguments":{}}]`},
		{peertest.SequentialThinking, `[{"name":"sequentialthinking","arguments":{"thought":"x","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}}]`},
		{peertest.GoSDKEverything, `[{"name":"greet","arguments":{"name":"Ada"}},{"name":"greet","arguments":{}},{"name":"log","arguments":{}},{"name":"sample","arguments":{}},{"name":"elicit (form)","arguments":{}},
			{"name":"elicit (url)","arguments":{}},{"name":"roots","arguments":{}}` + ping + `]`},
		{peertest.GoSDKMemory, `[{"name":"read_graph","arguments":{}}]`},
		{peertest.MCPGoEverything, `[{"name":"echo","arguments":{"message":"hi"}},{"name":"longRunningOperation","arguments":{"duration":0.2,"steps":3},"reports":3},{"name":"add","arguments":{"a":1,"b":2}}]`},
		{peertest.Questions, `[{"name":"ask","arguments":{}}]`},
		{peertest.Patient, `[{"name":"count","arguments":{}},{"name":"ask","arguments":{}}]`},
	}
	for _, s := range servers {
		for _, x := range explorers(t) {
			server, calls := s.server(t), s.calls
			if x.name == "TypeScript SDK v2" {
				calls = strings.Replace(calls, ping, "", 1)
			}
			t.Run(server.Name+" by "+x.name, func(t *testing.T) {
				t.Parallel()
				seenAgain(t, server, x, calls)
			})
		}
	}
}

// seenAgain records what an explorer sees of a server, and compares that with what it sees of a mock.
func seenAgain(t *testing.T, server config.Server, x explorer, calls string) {
	file, taps := filepath.Join(t.TempDir(), "session.jsonl"), runtimePath(t)
	w := watchTapIn(t, taps, "--journal", file)
	w.looks()
	server = watchedFirst(t, server, w)
	tapped := wrapping(t, server, "--name", server.Name)
	tapped.Env["MCPHUD_TAP_DIR"] = taps
	before := x.sees(t, calls, tapped.Env, append([]string{"stdio", tapped.Command}, tapped.Args...)...)
	w.shows(`"note":"ended"`)
	w.stop()

	mocked := []string{"mock", file, "--speed", "max"}
	if legacyOnly(t, file) {
		mocked = append(mocked, "--protocol", "2025-11-25")
	}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		exe := ownProgram(t)
		if after := x.sees(t, calls, map[string]string{asMain: "1"}, append([]string{"stdio", exe}, append(mocked, "--stdio")...)...); after != before {
			t.Error(firstDifference(before, after))
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		if after := x.sees(t, calls, nil, "http", startMock(t, mocked...)); after != before {
			t.Error(firstDifference(before, after))
		}
	})
}

// legacyOnly reports whether a recorded server refused the modern era.
func legacyOnly(t *testing.T, file string) bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return bytes.Contains(raw, []byte(`"method":"initialize"`))
}

// firstDifference is the first lines that differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			from, to := max(0, i-3), i+6
			return "server:\n" + strings.Join(x[from:min(to, len(x))], "\n") + "\nmock:\n" + strings.Join(y[from:min(to, len(y))], "\n")
		}
	}
	return "one is longer"
}

// startMock starts a mock over HTTP and returns its URL.
func startMock(t *testing.T, args ...string) string {
	t.Helper()
	cmd := command(t, args...)
	errs := &faketest.Buffer{}
	cmd.Stderr = errs
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, errs)
		}
	})
	const ready = "listening on "
	require.Eventually(t, "the mock to listen", func() bool { return strings.Contains(errs.String(), ready) && strings.HasSuffix(errs.String(), "\n") })
	_, url, _ := strings.Cut(errs.String(), ready)
	url, _, _ = strings.Cut(url, "\n")
	return url
}

// Several servers are served at their own paths, chosen ones by themselves, and faults come on top.
func TestMockOfSeveralServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two.jsonl")
	write(t, file, twoServers)
	url := startMock(t, "mock", file)
	if !strings.HasSuffix(url, "/mcps/a/mcp") {
		t.Fatalf("%s", url)
	}
	for name, tool := range map[string]string{"a": "y", "b": "x"} {
		out := mcphud(t, "tools", "call", tool, "--url", strings.Replace(url, "/a/", "/"+name+"/", 1)).ok(t)
		if !strings.Contains(out, `"of `+name+`"`) {
			t.Errorf("%s: %s", name, out)
		}
	}
	one := startMock(t, "mock", file, "--server", "b", "--strict")
	if !strings.HasSuffix(one, "/mcp") || strings.Contains(one, "/mcps/") {
		t.Errorf("%s", one)
	}
	mcphud(t, "tools", "call", "x", "--url", one).ok(t)
	if o := mcphud(t, "raw", "tools/call", `{"name":"x","arguments":{"z":1}}`, "--url", one); o.code == 0 || !strings.Contains(o.stderr, "not in the recording") {
		t.Errorf("exit %d, %s %s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, "tools", "call", "x", "--url", startMock(t, "mock", file, "--filter", "server:b", "--fault", "error_percent=100")); o.code == 0 {
		t.Errorf("no fault: %s", o.out)
	}
}
