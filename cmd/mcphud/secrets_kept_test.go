package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// usualSecrets are the usual forms of secrets, split so that nobody takes them for real ones.
var usualSecrets = map[string]string{
	"openai": "sk-" + "proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z", "anthropic": "sk-" + "ant-api03-" + strings.Repeat("Zq7Xw2Ve9R", 8) + "-AA", "github": "ghp" + "_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d",
	"aws": "AKIA" + "IOSFODNN7ABCDEFG", "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"slack": "xoxb" + "-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "google": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "gitlab": "glpat" + "-Ab3dEf6hIj9kLm2nOp5q",
	"npm": "npm" + "_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d", "hf": "hf" + "_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb", "stripe": "sk" + "_live_Ab3dEf6hIj9kLm2nOp5qRs8t",
	"bearer": "Bearer Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z", "url": "https://ann:" + "pa55-word-of-ann@db.example/x", "pem": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
}

// namedSecrets are secrets by the name of the argument, or by what the schema says of it.
var namedSecrets = map[string]string{"api_key": "a-key-of-nobody-1", "password": "hunter2-hunter", "token": "t0ken-t0ken", "pin": "4711-8088-1379"}

// secretPart is what must not be found of a usual secret.
func secretPart(s string) string {
	switch {
	case strings.HasPrefix(s, "Bearer "):
		return strings.TrimPrefix(s, "Bearer ")
	case strings.HasPrefix(s, "https://"):
		return "pa55-word-of-ann"
	case strings.HasPrefix(s, "-----"):
		return "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
	}
	return s
}

// echoing is a server with a tool that answers what it was told, in a text and as it was.
func echoing(t *testing.T) string {
	t.Helper()
	s := server.NewMCPServer("echoing", "1")
	s.AddTool(mcp.NewToolWithRawSchema("login", "Logs in", json.RawMessage(`{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string"},"api_key":{"type":"string"},"token":{"type":"string"},"note":{"type":"string"},"pin":{"type":"string","format":"password"}}}`)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			said, err := json.Marshal(r.GetArguments())
			if err != nil {
				return nil, err
			}
			text := "welcome"
			for _, v := range r.GetArguments() {
				text += " " + v.(string)
			}
			if r.GetString("user", "") == "refused" {
				return nil, fmt.Errorf("nobody lets refused in: %s", said)
			}
			return mcp.NewToolResultStructured(map[string]any{"said": string(said), "plain": text}, text), nil
		})
	h := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(h.Close)
	return h.URL + "/mcp"
}

// What is a secret by its looks, by its name or by its schema is in no file that a call leaves, neither as it was sent nor where the server
// repeats it: the journal, the history, exports of both.
func TestNothingThatIsKeptHasASecretInIt(t *testing.T) {
	t.Parallel()
	url := echoing(t)
	run := sameHome(t)
	args := []string{"tools", "call", "login", "user=ann", "--url", url, "--journal", "j.jsonl"}
	for name, v := range namedSecrets {
		args = append(args, name+"="+v)
	}
	var note []string
	for name, v := range usualSecrets {
		note = append(note, name+" "+v)
	}
	args = append(args, "note="+strings.Join(note, "\n"))
	first := run(args...)
	first.Env = append(first.Env, cli.NoHistory+"=")
	if o := finish(t, first); !strings.Contains(o.ok(t), "hunter2-hunter") {
		t.Fatalf("stdout is what the server said: %s", o.out)
	}
	for _, line := range [][]string{
		{"journal", "export", "j.jsonl", "--format", "har", "-o", "j.har"},
		{"journal", "export", "j.jsonl", "--format", "html", "-o", "j.html"},
		{"journal", "export", "j.jsonl", "--format", "otlp", "-o", "j.json"},
		{"journal", "export", "j.jsonl", "--format", "jsonl", "-o", "again.jsonl"},
		{"history", "export", "-o", "calls.json"},
	} {
		cmd := run(line...)
		cmd.Env = append(cmd.Env, cli.NoHistory+"=")
		if o := finish(t, cmd); o.code != 0 && line[0] == "journal" {
			t.Errorf("%v: %s", line, o.stderr)
		}
	}
	looked, found := 0, 0
	err := filepath.WalkDir(first.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(b)
		if strings.Contains(text, "ann") {
			looked++
		}
		for what, v := range namedSecrets {
			if strings.Contains(text, v) {
				t.Errorf("%s has %s", d.Name(), what)
				found++
			}
		}
		for what, v := range usualSecrets {
			if strings.Contains(text, secretPart(v)) {
				t.Errorf("%s has %s", d.Name(), what)
				found++
			}
		}
		return nil
	})
	require.NoError(t, err)
	if looked < 3 {
		t.Errorf("only %d files have the call", looked)
	}
	if found > 0 {
		t.Logf("%.6000s", contents(filepath.Join(first.Dir, "j.jsonl")))
	}
}

// Whoever needs the bytes asks for them, and is told what is in the file.
func TestJournalRaw(t *testing.T) {
	t.Parallel()
	cmd := command(t, "tools", "call", "login", "password=hunter2-hunter", "--url", echoing(t), "--journal", "j.jsonl", "--journal-raw")
	o := finish(t, cmd)
	o.ok(t)
	assert.Contains(t, o.stderr, "j.jsonl keeps messages as they are, with every secret in them")
	file := filepath.Join(cmd.Dir, "j.jsonl")
	assert.Contains(t, contents(file), `"password":"hunter2-hunter"`)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	mcphud(t, "tools", "list", "--url", echoing(t), "--journal-raw").exits(t, cli.ExitFailure, "--journal-raw goes with --journal FILE")
}
