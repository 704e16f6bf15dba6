package session_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// open connects a session and returns it with its manager's journal.
func open(t *testing.T, s config.Server) (*session.Session, *journal.Journal) {
	t.Helper()
	m := session.NewManager(session.Options{})
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	sess, err := m.Register(s)
	require.NoError(t, err)
	if err := sess.Connect(t.Context()); err != nil {
		t.Fatalf("connect %s: %v", s.Name, err)
	}
	return sess, m.Journal()
}

// sent is every frame that went to a server over its present connection, as
// the journal recorded it.
func sent(t *testing.T, j *journal.Journal) [][]byte {
	t.Helper()
	all := j.Snapshot(0, nil)
	var frames [][]byte
	for _, e := range all {
		if e.Dir != journal.Out || e.Conn != all[len(all)-1].Conn || e.Kind == journal.HTTP {
			continue
		}
		body, err := j.Body(e.Seq)
		require.NoError(t, err)
		frames = append(frames, body)
	}
	return frames
}

// Every list of every pinned server comes through with every byte: a raw pipe
// that repeats the session's own requests gets the same result.
func TestPeerListsAreWhatTheServerSent(t *testing.T) {
	for _, s := range peertest.All(t) {
		t.Run(s.Name, func(t *testing.T) {
			sess, j := open(t, s)
			lists := map[string][]byte{}
			items := 0
			for _, kind := range []offer.Kind{offer.Tools, offer.Resources, offer.Templates, offer.Prompts} {
				if !sess.Supports(kind.Method()) {
					continue
				}
				l, err := sess.List(t.Context(), kind)
				require.NoError(t, err)
				items += len(l.Items)
				if len(l.Pages) == 1 {
					lists[kind.Method()] = l.JSON()
				}
				for _, it := range l.Items {
					if it.Flaw != nil {
						t.Errorf("%s %q: %v", kind, it.Name, it.Flaw)
					}
				}
			}
			if items == 0 || len(lists) == 0 {
				t.Fatalf("%d items in %d lists of one page", items, len(lists))
			}
			compared := map[string]bool{} // a list_changed makes the session ask again
			raw := faketest.Open(t, s)
			for _, frame := range sent(t, j) {
				env, err := jsonrpc.Scan(frame)
				require.NoError(t, err)
				raw.Send(string(frame))
				if env.Kind != jsonrpc.Request || env.Method == "subscriptions/listen" {
					continue // listen is answered when it ends
				}
				answer := answerTo(t, raw, env.ID)
				if ours, ok := lists[env.Method]; ok {
					compared[env.Method] = true
					if !bytes.Equal(ours, answer) {
						t.Errorf("%s differs:\nsession %s\nserver  %s", env.Method, ours, answer)
					}
				}
			}
			if len(compared) != len(lists) {
				t.Errorf("%d of %d lists were compared", len(compared), len(lists))
			}
		})
	}
}

// answerTo reads until the response with the given id and returns its result,
// nil for an error.
func answerTo(t *testing.T, raw *faketest.Raw, id []byte) []byte {
	t.Helper()
	for {
		line, err := raw.Line()
		if err != nil {
			t.Fatalf("waiting for the answer to %s: %v", id, err)
		}
		env, err := jsonrpc.Scan(bytes.TrimSpace(line))
		if err == nil && bytes.Equal(env.ID, id) && env.Method == "" {
			return env.Result
		}
	}
}

// Content of every kind comes through from a server that was not made for us.
func TestPeerContents(t *testing.T) {
	sess, _ := open(t, peertest.Everything(t))
	reply, err := sess.CallTool(t.Context(), "get-annotated-message", json.RawMessage(`{"messageType":"error","includeImage":true}`), session.CallOptions{})
	require.NoError(t, err)
	blocks, err := offer.Contents(reply.Result)
	if err != nil || len(blocks) != 2 || blocks[1].Type != "image" || !bytes.HasPrefix(blocks[1].Data, []byte("\x89PNG")) {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
	l, err := sess.List(t.Context(), offer.Resources)
	if err != nil || len(l.Items) == 0 {
		t.Fatalf("%d resources, %v", len(l.Items), err)
	}
	if reply, err = sess.ReadResource(t.Context(), l.Items[0].URI, session.CallOptions{}); err != nil {
		t.Fatal(err)
	}
	if blocks, err = offer.Contents(reply.Result); err != nil || len(blocks) == 0 || blocks[0].Text == "" {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
	if reply, err = sess.GetPrompt(t.Context(), "args-prompt", map[string]string{"city": "Oslo"}, session.CallOptions{}); err != nil {
		t.Fatal(err)
	}
	if blocks, err = offer.Contents(reply.Result); err != nil || len(blocks) == 0 || !strings.Contains(blocks[0].Text, "Oslo") {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
}
