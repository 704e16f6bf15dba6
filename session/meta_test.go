package session_test

import (
	"slices"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/sessiontest"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMetaWords(t *testing.T) {
	words := []string{"tenant_id=acme", "example.com/n:=17", `o:={"a":[1,2]}`, "empty=", "sum=1+1=2", "tenant_id=other"}
	meta, err := session.ParseMeta(words)
	if want := `{"tenant_id":"other","example.com/n":17,"o":{"a":[1,2]},"empty":"","sum":"1+1=2"}`; err != nil || string(meta) != want {
		t.Fatalf("%s, %v; want %s", meta, err, want)
	}
	if again, err := session.ParseMeta(session.MetaWords(meta)); err != nil || string(again) != string(meta) {
		t.Errorf("%s becomes %s, %v", meta, again, err)
	}
	for _, wrong := range []string{"", "=x", "x", "x:=", "x:={", ":=1", "progressToken=1"} {
		if meta, err := session.ParseMeta([]string{wrong}); failure.KindOf(err) != failure.Usage {
			t.Errorf("%q gives %s, %v", wrong, meta, err)
		}
	}
}

// What is set goes with every request, leaves alone what a request has itself, and makes lists be loaded again.
func TestSetMeta(t *testing.T) {
	got := make(chan string, 10)
	_, s := sessiontest.Open(t, session.Options{Meta: []byte(`{"tenant_id":"first"}`), HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Handshake(`{"tools":{}}`)
		p.Serve(func(env jsonrpc.Envelope) {
			got <- env.Method + " " + string(jsonrpc.Get(env.Params, "_meta", "tenant_id"))
			p.Answer(env, `{"tools":[]}`)
		})
	})}, config.Server{Protocol: "2025-11-25"})
	call := func(params, meta, want string) {
		t.Helper()
		if _, err := s.Call(t.Context(), "x", []byte(params), session.CallOptions{Meta: []byte(meta)}); err != nil {
			t.Fatal(err)
		}
		assert.Equal(t, <-got, want)
	}
	call(`{}`, ``, `x "first"`)
	call(`{}`, `{"tenant_id":"call"}`, `x "call"`)
	call(`{"_meta":{"tenant_id":"params"}}`, ``, `x "params"`)
	require.NoError(t, s.SetMeta([]byte(`{"tenant_id":"second"}`)))
	call(`{}`, ``, `x "second"`)
	if err := s.SetMeta([]byte(`[]`)); err == nil {
		t.Error("a list was accepted")
	}
	if _, err := s.List(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	listed := <-got
	if err := s.SetMeta(nil); err != nil || s.Meta() != nil {
		t.Fatal(err)
	}
	if again := <-got; listed != `tools/list "second"` || again != "tools/list " { // nobody asks but the session
		t.Errorf("listed with %s, then with %s", listed, again)
	}
	call(`{}`, ``, `x `)
	if w := session.MetaWords([]byte(`{"a":"b c","d":null}`)); !slices.Equal(w, []string{"a=b c", "d:=null"}) {
		t.Errorf("%q", w)
	}
}
