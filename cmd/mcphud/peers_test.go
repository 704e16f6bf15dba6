package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// requests are the frames that a run sent, by its journal file.
func requests(t *testing.T, file string) []json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var frames []json.RawMessage
	for line := range bytes.Lines(text) {
		var e struct {
			Dir, Kind, Method string
			Frame             json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Dir == "out" && e.Frame != nil && e.Method != "subscriptions/listen" && e.Method != "notifications/cancelled" {
			frames = append(frames, e.Frame)
		}
	}
	return frames
}

// What tools list prints is what the server sent: a pipe that sends the same
// frames, and so advertises the same capabilities, gets the same bytes. Over
// HTTP the same server sends the same list.
func TestPeerToolsAreWhatTheServerSent(t *testing.T) {
	t.Parallel()
	for _, s := range []config.Server{peertest.Everything(t), peertest.GoSDKEverything(t)} {
		t.Run(s.Name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "journal")
			run := mcphud(t, target(s, "tools", "list", "--format", "json", "--journal", file)...)
			want := answered(t, s, requests(t, file), "tools/list")
			if run.code != 0 || run.out != want+"\n" { // stderr is the server's own to write to
				t.Errorf("exit %d, printed\n%s\nthe server sent\n%s", run.code, run.out, want)
			}
			if s.Name != "everything" {
				return
			}
			for name, url := range map[string]string{"http": peertest.EverythingHTTP(t).Server.URL, "sse": peertest.EverythingSSE(t).Server.URL} {
				if got := mcphud(t, "tools", "list", "--format", "json", "--url", url).ok(t); got != want+"\n" {
					t.Errorf("over %s printed\n%s\nthe server sent\n%s", name, got, want)
				}
			}
		})
	}
}

// answered sends frames through a pipe and returns the result of the last
// request of the given method.
func answered(t *testing.T, s config.Server, frames []json.RawMessage, method string) string {
	t.Helper()
	raw, result := faketest.Open(t, s), ""
	for _, frame := range frames {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		require.NoError(t, json.Unmarshal(frame, &r))
		raw.Send(string(frame))
		if r.ID == nil || r.Method == "" {
			continue
		}
		for {
			line, err := raw.Line()
			if err != nil {
				t.Fatalf("waiting for the answer to %s: %v", frame, err)
			}
			var a struct {
				ID     json.RawMessage
				Method string
				Result json.RawMessage
			}
			require.NoError(t, json.Unmarshal(line, &a))
			if a.Method == "" && bytes.Equal(a.ID, r.ID) {
				if r.Method == method {
					result = string(a.Result)
				}
				break
			}
		}
	}
	if result == "" {
		t.Fatalf("no answer to %s", method)
	}
	return result
}
