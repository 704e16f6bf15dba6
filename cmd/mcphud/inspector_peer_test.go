package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// both runs a command line of the Inspector by it and by mcphud, each in a home of its own with the same files.
func both(t *testing.T, files map[string]string, args ...string) (theirs, ours outcome) {
	t.Helper()
	program := peertest.Inspector(t)
	at := func(cmd *exec.Cmd, home string) outcome {
		cmd.Dir = home
		cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "MCPHUD_CONFIG=", "NO_COLOR=1", "CI=1",
			"MCP_CATALOG_PATH=", "MCP_INSPECTOR_SECRET_STORE=memory")
		return finish(t, cmd)
	}
	home := t.TempDir() // one after the other, for messages with paths
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	theirs = at(exec.Command(program[0], append(program[1:], args...)...), home)
	_ = os.Remove(filepath.Join(home, ".mcp-inspector", "mcp.json")) // it may not be there
	return theirs, at(command(t, append([]string{verbinspect.Inspecting}, args...)...), home)
}

// jsonValues are the JSON values of a text.
func jsonValues(t *testing.T, text string) (all []any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in %.2000s", err, text)
		}
		all = append(all, v)
	}
}

// lastLine is the last line of what a run wrote to stderr, where the run failed.
func lastLine(o outcome) string {
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	if o.code == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

func alike(t *testing.T, files map[string]string, args ...string) {
	t.Helper()
	theirs, ours := both(t, files, args...)
	if ours.code != theirs.code || lastLine(ours) != lastLine(theirs) {
		t.Errorf("%q: exit %d\n%s\nthe Inspector: exit %d\n%s", args, ours.code, lastLine(ours), theirs.code, lastLine(theirs))
	}
	if got, want := jsonValues(t, ours.out), jsonValues(t, theirs.out); !reflect.DeepEqual(got, want) || strings.Count(ours.out, "\n") == 1 != (strings.Count(theirs.out, "\n") == 1) {
		t.Errorf("%q printed\n%s\nthe Inspector\n%s", args, ours.out, theirs.out)
	}
}

// inspections are every method of the Inspector on a server that has a bit of everything, but for what it asks of files.
var inspections = [][]string{
	{"initialize"},
	{"tools/list"},
	{"tools/list", "--metadata", "a=1", "b=x", "--format", "json"},
	{"tools/list", "--app-info"},
	{"tools/call"},
	{"tools/call", "--tool-name", "nope"},
	{"tools/call", "--tool-name", "echo", "--tool-arg", "message=a b=c"},
	{"tools/call", "--tool-name", "echo", "--tool-arg", "message=1", "--format", "json"},
	{"tools/call", "--tool-name", "echo", "--tool-args-json", `{"message":"1"}`, "--tool-metadata", `k={"a":[1]}`, "--format=json"},
	{"tools/call", "--tool-name", "echo", "--app-info"},
	{"tools/call", "--tool-name", "echo", "--app-info", "--format", "json"},
	{"tools/call", "--tool-name", "echo"},
	{"resources/list"},
	{"resources/list", "--format", "json"},
	{"resources/read"},
	{"resources/read", "--uri", "demo://nope"},
	{"resources/templates/list"},
	{"prompts/list"},
	{"prompts/get"},
	{"prompts/get", "--prompt-name", "nope"},
	{"logging/setLevel"},
	{"logging/setLevel", "--log-level", "warning"},
	{"skills/list"},
	{"skills/get"},
	{"skills/get", "--uri", "skill://x/SKILL.md"},
	{"resources/directory/read"},
	{"resources/directory/read", "--uri", "skill://x"},
}

// everythings are those that need what the everything server has.
var everythings = [][]string{
	{"tools/call", "--tool-name", "get-sum", "--tool-arg", "a=1", "b=2"},
	{"tools/call", "--tool-name", "get-sum", "--tool-arg", "a=x", "b=0x10"},
	{"tools/call", "--tool-name", "get-structured-content", "--tool-arg", "location=Chicago", "--format", "json"},
	{"tools/call", "--tool-name", "get-annotated-message", "--tool-arg", "messageType=success", "includeImage=TRUE"},
	{"tools/call", "--tool-name", "get-tiny-image"},
	{"resources/read", "--uri", "demo://resource/static/document/architecture.md"},
	{"prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Oslo", "state=5"},
	{"prompts/get", "--prompt-name", "args-prompt"},
	{"prompts/get", "--prompt-name", "simple-prompt", "--format", "json"},
}

// Every method gives the same JSON, exit code and error line as the Inspector does: on the everything server over stdio and over
// HTTP, and on our own agent over HTTP.
func TestPeerInspectorMethods(t *testing.T) {
	t.Parallel()
	peertest.Inspector(t)
	s := peertest.Everything(t)
	for name, target := range map[string][]string{
		"stdio": append([]string{s.Command}, s.Args...),
		"http":  {peertest.EverythingHTTP(t).Server.URL},
		"sse":   {peertest.EverythingSSE(t).Server.URL},
		"agent": {serveAgent(t, "--profile", "everything").url},
	} {
		cases := inspections
		switch name {
		case "http":
			cases = append(cases[:len(cases):len(cases)], everythings...)
		case "stdio": // each process takes its time to end
			cases = nil
			seen := map[string]bool{}
			for _, c := range append(inspections[:len(inspections):len(inspections)], everythings[0], everythings[7]) {
				if !seen[c[0]] || len(c) > 3 && !seen[c[0]+"+"] {
					cases = append(cases, c)
				}
				seen[c[0]] = true
				seen[c[0]+"+"] = seen[c[0]+"+"] || len(c) > 3
			}
		case "sse":
			cases = cases[:7]
		case "agent":
			cases = append(cases[:13:13], []string{"resources/list"}, []string{"resources/templates/list"}, []string{"prompts/list"}, []string{"skills/list"}, []string{"logging/setLevel", "--log-level", "error"})
		}
		for _, c := range cases {
			t.Run(name+" "+strings.Join(c, " "), func(t *testing.T) {
				t.Parallel()
				alike(t, nil, append(append(target[:len(target):len(target)], "--method"), c...)...)
			})
		}
	}
}

// What is wrong with a command line, a file of servers or a server is reported in the same line, and with the same exit code.
func TestPeerInspectorFailures(t *testing.T) {
	t.Parallel()
	peertest.Inspector(t)
	refused := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := map[string]int{"/403/mcp": 403, "/404/mcp": 404, "/500/mcp": 500}[r.URL.Path]
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "no such luck")
	}))
	t.Cleanup(refused.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	files := map[string]string{
		"two.json":   `{"mcpServers":{"b":{"command":"node","args":["x"],"env":{"K":"secret"},"cwd":"/tmp"},"A":{"type":"http","url":"http://h/mcp","headers":{"Authorization":"secret","X":"y"},"metadata":{"a":{"token":"z"}},"oauth":{"clientId":"c","clientSecret":"secret"}}}}`,
		"one.json":   `{"mcpServers":{"gone":{"type":"streamable-http","url":"` + gone.URL + `/mcp","connectionTimeout":5000}}}`,
		"none.json":  `{"mcpServers":{}}`,
		"other.json": `{"servers":{}}`,
	}
	for _, args := range [][]string{
		{},
		{"--method"},
		{"--method", "tools/list"},
		{"--completion", "tcsh"},
		{"--completion"},
		{"--use-stored-auth", "--method", "tools/list", gone.URL + "/mcp"},
		{"--callback-url", "https://127.0.0.1/x", "--method", "tools/list", "x"},
		{"--callback-url", "x", "--method", "tools/list", "x"},
		{"--method", "tools/list", "--config", "two.json"},
		{"--method", "tools/list", "--config", "two.json", "--server", "c"},
		{"--method", "tools/list", "--config", "none.json"},
		{"--method", "tools/list", "--config", "other.json"},
		{"--method", "tools/list", "--config", "missing.json"},
		{"--method", "tools/list", "--config", "one.json"},
		{"--method", "tools/list", "--config", "one.json", "--catalog", "two.json"},
		{"--method", "tools/list", "--config", "one.json", "x"},
		{"--method", "tools/list", "--catalog", "one.json", "--server-url", "http://h/mcp"},
		{"--method", "tools/list", "--log-level", "loud"},
		{"--method", "tools/list", "--transport", "ws", "x"},
		{"--method", "tools/list", "--transport", "http", "x"},
		{"--method", "tools/list", "--transport", "stdio", "http://h/mcp"},
		{"--method", "tools/list", "--server-url", "http://h/mcp", "x"},
		{"--method", "tools/list", "http://h/mcp", "x"},
		{"--method", "tools/list", "http://h/"},
		{"--method", "tools/list", "--format", "xml", "x"},
		{"--method", "tools/list", "--header", "x", "--", "x"},
		{"--method", "tools/list", "-e", "x", "--", "x"},
		{"--method", "tools/list", "--connect-timeout", "soon", "x"},
		{"--method", "tools/list", "--protocol-era", "old", "x"},
		{"--method", "tools/call", "--tool-arg", "x", "--", "y"},
		{"--method", "tools/call", "--tool-arg", "x=1e999", "--", "y"},
		{"--method", "tools/call", "--tool-arg", "x=1", "--tool-args-json", "{}", "--", "no-such-program"},
		{"--method", "tools/call", "--tool-args-json", "[]", "--", "no-such-program"},
		{"--method", "prompts/list", "--app-info", "x"},
		{"--method", "tools/list", "--output-format", "raw", "x"},
		{"--method", "tools/list", "--output", "f", "--output-format", "raw", "x"},
		{"--method", "tools/list", "--output", "f", "--app-info", "x"},
		{"--method", "tools/list", "--", "./no-such-program"},
		{"./no-such-program", "--", "--method", "tools/list"},
		{"false", "--method", "tools/list"},
		{refused.URL + "/403/mcp", "--method", "tools/list"},
		{refused.URL + "/404/mcp", "--method", "tools/list"},
		{refused.URL + "/500/mcp", "--method", "tools/list"},
		{gone.URL + "/mcp", "--method", "tools/list"},
		{gone.URL + "/elsewhere", "--transport", "http", "--method=tools/list", "-q"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			alike(t, files, args...)
		})
	}
}

// What is sent to a server is what the Inspector sends, but for its name: the headers, the environment, the era.
func TestPeerInspectorSettings(t *testing.T) {
	t.Parallel()
	peertest.Inspector(t)
	s := peertest.Everything(t)
	for name, args := range map[string][]string{
		"environment": append(append([]string{s.Command}, s.Args...), "-e", "GREETING=hi there", "--method", "tools/call", "--tool-name", "get-env"),
		"modern":      {"--server-url", serveAgent(t, "--profile", "everything").url, "--protocol-era", "modern", "--method", "initialize"},
		"auto":        {"--server-url", serveAgent(t, "--profile", "everything").url, "--protocol-era", "auto", "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "environment" {
				alike(t, nil, args...)
				return
			}
			theirs, ours := both(t, nil, args...)
			for _, o := range []outcome{theirs, ours} { // ours inherits all of the environment as well
				o.prints(t, 0, `GREETING\": \"hi there`)
			}
		})
	}
}
