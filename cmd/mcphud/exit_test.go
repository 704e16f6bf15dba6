package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/testdata/hostile"
)

// deafServer and deafLater are values of asServer for a server that answers initialize, closes its standard input and stays:
// before anything else is sent, or when a request is in the pipe.
const (
	deafServer = "deaf"
	deafLater  = "deaf later"
)

func serveDeaf(in *os.File, out io.Writer) {
	later := os.Getenv(asServer) == deafLater
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		env, err := jsonrpc.Scan(sc.Bytes())
		switch {
		case err != nil || env.ID == nil:
		case env.Method == "initialize":
			if !later {
				_ = in.Close()
			}
			fmt.Fprintf(out, "%s\n", jsonrpc.NewResult(env.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"deaf","version":"1"}}`)))
			for later && sc.Scan() && !bytes.Contains(sc.Bytes(), []byte(`"id"`)) {
			}
			_ = in.Close()
			time.Sleep(time.Minute)
		default:
			fmt.Fprintf(out, "%s\n", jsonrpc.NewError(env.ID, jsonrpc.CodeMethodNotFound, "Method not found", nil))
		}
	}
}

// A broken pipe to the server is a failure; only one to whoever reads our output is not.
func TestAServerThatStopsReadingIsAFailure(t *testing.T) {
	t.Parallel()
	exe := ownProgram(t)
	for _, args := range []string{"tools list", "tools call echo", "resources list", "ping", "raw tools/list"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			o := mcphud(t, append(strings.Fields(args), "--", "env", "-u", asMain, asServer+"="+deafServer, exe)...)
			if e := o.errorLine(t); o.code != cli.ExitUnreachable || e.Kind != "Transport" && e.Kind != "ChannelClosed" || o.out != "" {
				t.Errorf("exit %d\nstdout %q\nstderr %s", o.code, o.out, o.stderr)
			}
			o = mcphud(t, append(strings.Fields(args), "--timeout", "3s", "--", "env", "-u", asMain, asServer+"="+deafLater, exe)...)
			if e := o.errorLine(t); o.code != cli.ExitUnreachable || !strings.Contains(e.Message, "closed its standard input") || o.out != "" {
				t.Errorf("exit %d\nstdout %q\nstderr %s", o.code, o.out, o.stderr)
			}
		})
	}
}

func TestAnHTTPServerThatHangsUpIsAFailure(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var head [64]byte
		n, _ := io.ReadFull(r.Body, head[:])
		if bytes.Contains(head[:n], []byte("tools/call")) {
			panic(http.ErrAbortHandler)
		}
		rest, _ := io.ReadAll(r.Body)
		env, err := jsonrpc.Scan(append(head[:n], rest...))
		switch {
		case err != nil || env.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case env.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)))
		case env.Method == "tools/list":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(`{"tools":[{"name":"take","inputSchema":{"type":"object"}}]}`)))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	times := 6 // how much of the request is on its way by then is chance
	if !budget.All() {
		times = 2
	}
	for range times {
		cmd := command(t, "tools", "call", "take", "--args", "-", "--protocol", "2025-11-25", "--url", srv.URL)
		cmd.Stdin = strings.NewReader(`{"x":"` + strings.Repeat("a", 8<<20) + `"}`)
		if o := finish(t, cmd); o.code != cli.ExitUnreachable || o.errorLine(t).Kind != "Transport" {
			t.Errorf("exit %d\nstderr %.300s", o.code, o.stderr)
		}
	}
}

// With stdout in a pipe the error line is JSON, and stderr may still be the terminal.
func TestErrorLineOnATerminalDoesNotActThere(t *testing.T) {
	t.Parallel()
	said := ""
	for _, s := range hostile.Strings() {
		said += s.Value + " "
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if env, err := jsonrpc.Scan(b); err == nil && env.ID != nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(jsonrpc.NewError(env.ID, -1, "\u009d52;c;QQ==\u009c "+said, nil))
		}
	}))
	t.Cleanup(srv.Close)
	for _, format := range []string{output.FormatJSON, output.FormatJSONL, output.FormatRaw} {
		cmd := command(t, "tools", "list", "--format", format, "--url", srv.URL)
		terminal, stderr, err := pty.Open()
		if err != nil {
			t.Skip(err)
		}
		cmd.Stderr = stderr
		require.NoError(t, cmd.Start())
		_ = stderr.Close()
		shown, _ := io.ReadAll(terminal) // ends with an error once nobody has the other end
		_ = terminal.Close()
		if err := cmd.Wait(); err == nil {
			t.Error("the exit code is 0")
		}
		text := strings.ReplaceAll(string(shown), "\r\n", "\n")
		if why := hostile.Harm(text); why != "" || !strings.Contains(text, `52;c;QQ==`) {
			t.Errorf("%s: the terminal was sent %s: %.300q", format, why, text)
		}
	}
}
