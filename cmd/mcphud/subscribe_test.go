package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
)

// asServer makes the test binary a server that says that what is subscribed to was updated, as often as the uri's length.
const asServer = "MCPHUD_TEST_SERVER"

// serveUpdates ends when a subscription to updates://leave comes.
func serveUpdates(in io.Reader, out io.Writer) {
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		env, err := jsonrpc.Scan(sc.Bytes())
		if err != nil || env.ID == nil {
			continue
		}
		switch env.Method {
		case "initialize":
			fmt.Fprintf(out, "%s\n", jsonrpc.NewResult(env.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"updates","version":"1"}}`)))
		case "resources/subscribe":
			fmt.Fprintf(out, "%s\n", jsonrpc.NewResult(env.ID, nil))
			for i := range 3 {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"updates://%d","n":1.0}}`+"\n", i)
			}
			if bytes.Contains(env.Params, []byte("updates://leave")) {
				return
			}
		case "resources/unsubscribe":
			fmt.Fprintln(os.Stderr, env.Method, jsonrpc.GetString(env.Params, "uri"))
			fmt.Fprintf(out, "%s\n", jsonrpc.NewResult(env.ID, nil))
		default:
			fmt.Fprintf(out, "%s\n", jsonrpc.NewError(env.ID, jsonrpc.CodeMethodNotFound, "Method not found", nil))
		}
	}
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	exe := ownProgram(t)
	// mcphud itself runs as the program: the variable that says so must not reach the server.
	server := []string{"--", "env", "-u", asMain, asServer + "=1", exe}
	o := mcphud(t, append([]string{"resources", "subscribe", "updates://leave"}, server...)...)
	want := ""
	for i := range 3 {
		want += fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"updates://%d","n":1.0}}`+"\n", i)
	}
	if o.out != want || o.code != cli.ExitUnreachable || o.errorLine(t).Kind != "ChannelClosed" {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	o = mcphud(t, append([]string{"resources", "subscribe", "updates://leave", "--format", "text"}, server...)...)
	if o.out != "resources/updated updates://0\nresources/updated updates://1\nresources/updated updates://2\n" {
		t.Errorf("%s%s", o.out, o.stderr)
	}

	// A limit is an end, which the server is told.
	o = mcphud(t, append([]string{"resources", "subscribe", "updates://stay", "--max-bytes", "200"}, server...)...)
	o.exits(t, cli.ExitOK, "resources/unsubscribe updates://stay\n", "--max-bytes 200 is reached: what came then is not printed")
	if !strings.HasPrefix(want, o.out) || len(o.out) > 200 || o.out == "" {
		t.Error(o.out)
	}

	cmd := command(t, append([]string{"resources", "subscribe", "updates://stay", "updates://too"}, server...)...)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(pipe)
	for range 6 {
		if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "updated") {
			t.Fatal(line, err)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	wait2(t, cmd, &bytes.Buffer{}, &stderr).exits(t, cli.ExitInterrupted, "resources/unsubscribe updates://stay\nresources/unsubscribe updates://too\n")
}

// TestSubscribeToTheAgent: several resources at once, over HTTP in both eras; a line for each update, until ctrl-c.
func TestSubscribeToTheAgent(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0", "--profile", "everything")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			cmd := command(t, "resources", "subscribe", "test://static-text", "test://watched-resource", "--format", "jsonl", "--protocol", version, "--url", a.url)
			pipe, err := cmd.StdoutPipe()
			require.NoError(t, err)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			require.NoError(t, cmd.Start())
			lines := make(chan string, 100)
			go func() {
				for r := bufio.NewScanner(pipe); r.Scan(); {
					lines <- r.Text()
				}
				close(lines)
			}()
			updated := func() bool { // nothing tells when the subscription is in force: change the resource until it does
				for range 300 {
					mcphud(t, "tools", "call", "test_trigger_resource_update", "--yes", "--protocol", version, "--url", a.url).ok(t)
					for {
						select {
						case l, open := <-lines:
							if !open {
								return false
							}
							if strings.Contains(l, "notifications/resources/updated") && strings.Contains(l, `"test://watched-resource"`) {
								return true
							}
							continue
						case <-time.After(100 * time.Millisecond):
						}
						break
					}
				}
				return false
			}
			if !updated() {
				t.Errorf("no update; stderr %s", stderr.String())
			}
			_ = cmd.Process.Signal(syscall.SIGINT)
			for range lines { // until it ends
			}
			wait2(t, cmd, &bytes.Buffer{}, &stderr).exits(t, cli.ExitInterrupted)
		})
	}
}
