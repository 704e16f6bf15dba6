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

	"github.com/mcphud/mcphud/cmd/cli"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/test/peertest"
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
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
		all = append(all, inOurWords(v))
	}
}

// inOurWords is an answer without the sentences in it, of --strict and --verify: those are ours.
func inOurWords(v any) any {
	top, _ := v.(map[string]any)
	each := func(list any, f func(map[string]any)) {
		all, _ := list.([]any)
		for _, one := range all {
			f(one.(map[string]any))
		}
	}
	each(top["schemaFindings"], func(tool map[string]any) {
		each(tool["findings"], func(f map[string]any) {
			delete(f, "issue")
			delete(f, "suggestion")
		})
	})
	if _, report := top["outcome"]; report {
		for _, list := range []string{"conformance", "frontmatter", "files"} {
			each(top[list], func(f map[string]any) {
				for _, said := range []string{"message", "reason"} {
					if _, ok := f[said]; ok {
						f[said] = true
					}
				}
			})
		}
		if _, ok := top["incomplete"]; ok {
			top["incomplete"] = true
		}
	}
	return v
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
	{"tools/list", "--strict", "--format", "json"},
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
		{"--method", "nope", "x"},
		{"--method", "servers/list"},
		{"--method", "servers/show"},
		{"--method", "tools/list", "--load", "x"},
		{"--method", "tools/call", "--load-rate", "5", "x"},
		{"--method", "tools/call", "--load", "--load-requests", "0", "x"},
		{"--method", "tools/call", "--load", "--load-duration", "-1", "x"},
		{"--method", "tools/call", "--load", "--app-info", "x"},
		{"--method", "tools/call", "--load", "--output", "f", "x"},
		{"--method", "tools/list", "--rename", "y", "x"},
		{"--method", "tools/list", "--verify", "x"},
		{"--method", "skills/list", "--require-digests", "x"},
		{"--method", "skills/list", "--skill-catalog-max-skills", "1", "x"},
		{"--method", "skills/list", "--skill-catalog-max-bytes", "1", "x"},
		{"--method", "skills/list", "--verify", "--skill-catalog-max-bytes", "0x10", "x"},
		{"--method", "skills/list", "--verify", "--skill-catalog-max-skills", "9007199254740992", "x"},
		{"--method", "skills/list", "--verify", "--output", "f", "x"},
		{"--method", "skills/list", "--verify", "--", "./no-such-program"},
		{"--completion", "tcsh"},
		{"--completion"},
		{"--relogin", "--stored-auth-only"},
		{"--relogin", "--use-stored-auth"},
		{"--relogin", "--wait-for-auth", "1"},
		{"--relogin", "--list-stored-auth"},
		{"--relogin", "--print-handoff"},
		{"--relogin", "--method", "servers/list"},
		{"--relogin", "--method", "tools/list", "x"},
		{"--no-revoke", "--method", "tools/list", "x"},
		{"--wait-for-auth", "0"},
		{"--wait-for-auth", "soon"},
		{"--wait-for-auth", "1", "--method", "tools/list", gone.URL + "/mcp"},
		{"--use-stored-auth", "--method", "tools/list", gone.URL + "/mcp"},
		{"--print-handoff"},
		{"--list-stored-auth", "--advertise-apps"},
		{"--list-stored-auth", "--output", "f"},
		{"--print-handoff", "--load", "--method", "tools/call"},
		{"--callback-url", "https://127.0.0.1/x", "--method", "tools/list", "x"},
		{"--callback-url", "x", "--method", "tools/list", "x"},
		{"--method", "servers/add"},
		{"--method", "servers/add", "--server", "c", "--catalog", "one.json"},
		{"--method", "servers/add", "--server", "c", "--config", "one.json", "x"},
		{"--method", "servers/add", "--server", "gone", "--catalog", "one.json", "x"},
		{"--method", "servers/add", "--server", "a b", "--catalog", "one.json", "x"},
		{"--method", "servers/add", "--server", "c", "--catalog", "one.json", "http://h/mcp", "--cwd", "/tmp"},
		{"--method", "servers/add", "--server", "c", "--catalog", "one.json", "http://h/"},
		{"--method", "servers/edit", "--server", "gone", "--catalog", "one.json"},
		{"--method", "servers/edit", "--server", "gone", "--catalog", "one.json", "--rename", " "},
		{"--method", "servers/edit", "--server", "gone", "--catalog", "one.json", "--transport", "http"},
		{"--method", "servers/edit", "--server", "gone", "--catalog", "one.json", "--cwd", "/tmp"},
		{"--method", "servers/edit", "--server", "nope", "--catalog", "one.json", "--cwd", "/tmp"},
		{"--method", "servers/remove", "--server", "nope", "--catalog", "one.json"},
		{"--method", "servers/remove", "--server", "gone", "--catalog", "one.json", "--cwd", "/tmp", "--header", "A: b"},
		{"--method", "tools/list", "--config", "two.json"},
		{"--method", "tools/list", "--config", "two.json", "--server", "c"},
		{"--method", "tools/list", "--config", "none.json"},
		{"--method", "tools/list", "--config", "other.json"},
		{"--method", "tools/list", "--config", "missing.json"},
		{"--method", "tools/list", "--config", "one.json"},
		{"--method", "tools/list", "--config", "one.json", "--catalog", "two.json"},
		{"--method", "tools/list", "--config", "one.json", "x"},
		{"--method", "tools/list", "--catalog", "one.json", "--server-url", "http://h/mcp"},
		{"--method", "servers/list", "--config", "two.json"},
		{"--method", "servers/list", "--config", "two.json", "--format", "json"},
		{"--method", "servers/show", "--config", "two.json", "--server", "A"},
		{"--method", "servers/show", "--config", "two.json", "--server", "b", "-e", "L=1", "--header", "X-Token: 1"},
		{"--method", "servers/show", "--config", "two.json", "--server", "z"},
		{"--method", "servers/list", "--catalog", "new.json"},
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
		{"--method", "tools/call", "--strict", "x"},
		{"--method", "tools/list", "--strict", "--app-info", "x"},
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

// The list of servers has the same entries after each change, and what is printed of it is the same.
func TestPeerInspectorChangesItsList(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	const list = `{
  "mcpServers": {
    "a": {"type": "stdio", "command": "run", "args": ["x"], "cwd": "/tmp", "protocolEra": "modern", "mine": {"kept": true}},
    "b": {"type": "streamable-http", "url": "http://127.0.0.1:1/mcp", "headers": {"A": "b"}, "requestTimeout": 5}
  }
}
`
	for name, args := range map[string][]string{
		"add command":     {"servers/add", "--server", "c", "--", "node", "server.js", "-v"},
		"add URL":         {"servers/add", "--server", "c", "--server-url", "http://127.0.0.1:2/mcp", "--header", "X: y", "--protocol-era", "auto", "--format", "json"},
		"add folder":      {"servers/add", "--server", "c", "--cwd", "/tmp", "node"},
		"new command":     {"servers/edit", "--server", "a", "node", "y"},
		"new URL":         {"servers/edit", "--server", "a", "http://127.0.0.1:3/sse"},
		"other folder":    {"servers/edit", "--server", "a", "--cwd", "/"},
		"header and era":  {"servers/edit", "--server", "b", "--header", "C: d", "--protocol-era", "modern"},
		"era of old":      {"servers/edit", "--server", "a", "--protocol-era", "legacy"},
		"remove":          {"servers/remove", "--server", "a"},
		"rename":          {"servers/edit", "--server", "a", "--rename", "z", "--format", "json"},
		"rename and more": {"servers/edit", "--server", "b", "--rename", "z", "--header", "C: d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			file := filepath.Join(home, "list.json")
			run := func(cmd *exec.Cmd) (outcome, any) {
				write(t, file, list)
				cmd.Dir = home
				cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "MCPHUD_CONFIG=", "NO_COLOR=1", "MCP_CATALOG_PATH=", "MCP_INSPECTOR_SECRET_STORE=file")
				o := finish(t, cmd)
				return o, jsonValues(t, contents(file))
			}
			args := append([]string{"--catalog", file, "--method"}, args...)
			theirs, want := run(exec.Command(program[0], append(program[1:len(program):len(program)], args...)...))
			ours, got := run(command(t, append([]string{verbinspect.Inspecting}, args...)...))
			if ours.code != theirs.code || ours.code != cli.ExitOK || !reflect.DeepEqual(jsonValues(t, ours.out), jsonValues(t, theirs.out)) {
				t.Errorf("%q: exit %d, %s%s\nthe Inspector: exit %d, %s%s", args, ours.code, ours.out, ours.stderr, theirs.code, theirs.out, theirs.stderr)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q wrote\n%s\nthe Inspector\n%s", args, got, want)
			}
		})
	}
}

// Values of -e go through the same changes of the file beside it, and the server is started with the same ones after each. Each
// keeps them in a store of its own.
func TestPeerInspectorKeepsValues(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	const list = `{"mcpServers": {"b": {"type": "stdio", "command": "run", "env": {"K": ""}}}}`
	server := []string{"--", "sh", "-c", `echo "$K/$L/$M" >seen`}
	type client struct {
		home string
		cmd  func(args ...string) *exec.Cmd
	}
	theirs := client{t.TempDir(), func(args ...string) *exec.Cmd {
		return exec.Command(program[0], append(program[1:len(program):len(program)], args...)...)
	}}
	ours := client{t.TempDir(), func(args ...string) *exec.Cmd {
		return command(t, append([]string{verbinspect.Inspecting}, args...)...)
	}}
	run := func(c client, args ...string) (o outcome) {
		cmd := c.cmd(append([]string{"--catalog", "list.json", "--method"}, args...)...)
		cmd.Dir = c.home
		cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+c.home, "XDG_STATE_HOME="+c.home+"/.state", "MCPHUD_CONFIG=", "MCPHUD_CREDENTIALS=file", "NO_COLOR=1", "MCP_CATALOG_PATH=",
			"MCP_INSPECTOR_SECRET_STORE=file")
		o = finish(t, cmd)
		o.out = strings.ReplaceAll(o.out, c.home, "HOME")
		o.stderr = strings.ReplaceAll(o.stderr, c.home, "HOME")
		return o
	}
	for _, c := range []client{theirs, ours} {
		write(t, filepath.Join(c.home, "list.json"), list)
	}
	for _, step := range []struct {
		args  []string
		opens string // the entry that is opened then
	}{
		{append([]string{"servers/add", "--server", "a", "-e", "K=one", "-e", "L=two=2"}, server...), "a"},
		{append([]string{"servers/add", "--server", "a", "-e", "K=no"}, server...), "a"},
		{[]string{"servers/edit", "--server", "a", "-e", "K=three", "-e", "M=four", "--format", "json"}, "a"},
		{[]string{"servers/show", "--server", "a"}, ""},
		{[]string{"servers/edit", "--server", "a", "--cwd", "."}, "a"},
		{[]string{"servers/edit", "--server", "a", "--rename", "c"}, "c"},
		{[]string{"servers/edit", "--server", "c", "--rename", "b", "-e", "K=no"}, "c"},
		{[]string{"servers/edit", "--server", "c", "--rename", "d", "-e", "L=five", "--protocol-era", "auto"}, "d"},
		{append([]string{"servers/edit", "--server", "d", "-e", "M=six"}, server...), "d"},
		{[]string{"servers/edit", "--server", "b", "--rename", "e"}, ""},
		{append([]string{"servers/edit", "--server", "d"}, server...), "d"},
		{[]string{"servers/edit", "--server", "d", "-e", "K=seven"}, "d"},
		{[]string{"servers/remove", "--server", "d"}, ""},
		{append([]string{"servers/add", "--server", "d", "-e", "L=eight"}, server...), "d"},
		{[]string{"servers/edit", "--server", "d", "http://127.0.0.1:1/mcp", "-e", "K=no"}, "d"},
		{[]string{"servers/edit", "--server", "d", "http://127.0.0.1:1/mcp"}, ""},
		{[]string{"servers/edit", "--server", "d", "-e", "K=no"}, ""},
	} {
		was, is := run(theirs, step.args...), run(ours, step.args...)
		if is.code != was.code || lastLine(is) != lastLine(was) || !reflect.DeepEqual(jsonValues(t, is.out), jsonValues(t, was.out)) {
			t.Errorf("%q: exit %d, %s%s\nthe Inspector: exit %d, %s%s", step.args, is.code, is.out, is.stderr, was.code, was.out, was.stderr)
		}
		if want, got := contents(filepath.Join(theirs.home, "list.json")), contents(filepath.Join(ours.home, "list.json")); !reflect.DeepEqual(jsonValues(t, got), jsonValues(t, want)) {
			t.Errorf("%q wrote\n%s\nthe Inspector\n%s", step.args, got, want)
		}
		if step.opens == "" {
			continue
		}
		seen := func(c client) string {
			run(c, "tools/list", "--server", step.opens)
			said := contents(filepath.Join(c.home, "seen"))
			write(t, filepath.Join(c.home, "seen"), "not started")
			return said
		}
		if want, got := seen(theirs), seen(ours); got != want || want == "not started" {
			t.Errorf("after %q %s is started with %q, by the Inspector with %q", step.args, step.opens, got, want)
		}
	}
}

// A load has as many calls, and its summary the same members; an error is counted by what it says.
func TestPeerInspectorLoad(t *testing.T) {
	t.Parallel()
	url := serveAgent(t, "--profile", "everything").url
	for _, args := range [][]string{
		{"--tool-name", "echo", "--tool-arg", "message=x", "--load-requests", "7", "--load-concurrency", "2"},
		{"--tool-name", "echo", "--tool-arg", "message=x", "--load-requests", "3", "--load-rate", "100", "--load-duration", "30", "--format", "json"},
	} {
		args := append([]string{url, "--method", "tools/call", "--load"}, args...)
		theirs, ours := both(t, nil, args...)
		shape := func(o outcome) any {
			all := jsonValues(t, o.out)
			if len(all) != 1 {
				t.Fatalf("%q: exit %d, %s%s", args, o.code, o.out, o.stderr)
			}
			top := all[0].(map[string]any)
			if inner, ok := top["result"].(map[string]any); ok {
				top = inner
			}
			latency, _ := top["latencyMs"].(map[string]any)
			for _, timed := range []map[string]any{top, latency} {
				for _, name := range []string{"elapsedMs", "throughput", "min", "mean", "p50", "p90", "p99", "max"} {
					if f, ok := timed[name].(float64); ok {
						timed[name] = f > 0
					}
				}
			}
			return all
		}
		if got, want := shape(ours), shape(theirs); !reflect.DeepEqual(got, want) {
			t.Errorf("%q printed\n%v\nthe Inspector\n%v", args, got, want)
		}
	}
	for _, args := range [][]string{{"--load"}, {"--load", "--tool-name", "nope"}} {
		alike(t, nil, append([]string{url, "--method", "tools/call"}, args...)...)
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
				if o.code != 0 || !strings.Contains(o.out, `GREETING\": \"hi there`) {
					t.Errorf("exit %d, %s %s", o.code, o.out, o.stderr)
				}
			}
		})
	}
}
