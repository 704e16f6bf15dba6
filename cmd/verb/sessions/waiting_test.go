package sessions

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// However much a server asks, what waits is bounded, and the newest is refused.
func TestWaitingIsBounded(t *testing.T) {
	p := newWaiting("shop", time.Minute)
	for i := range maxCalls {
		c, err := p.add(kept.Waiting{Method: "tools/call"})
		require.NoError(t, err)
		assert.Equal(t, c.ID, kept.ID("shop", int64(i+1)))
	}
	if _, err := p.add(kept.Waiting{}); !errors.Is(err, errFull) {
		t.Errorf("one more: %v", err)
	}
	if c, err := p.add(kept.Waiting{ID: "shop-1", Method: "prompts/get"}); err != nil || c.ID != "shop-1" { // takes its own place
		t.Errorf("%+v %v", c, err)
	}
	p.forget("shop-2")
	if c, err := p.add(kept.Waiting{}); err != nil || c.ID != "shop-101" {
		t.Errorf("an id comes again: %+v %v", c, err)
	}
	large := newWaiting("shop", time.Minute)
	for range 2 {
		_, err := large.add(kept.Waiting{Params: make(json.RawMessage, maxWaitingAll/2)})
		require.NoError(t, err)
	}
	if _, err := large.add(kept.Waiting{Params: json.RawMessage("{}")}); !errors.Is(err, errFull) {
		t.Errorf("beyond the bytes: %v", err)
	}
}

// What nobody answers in time is gone, and a list has no requests in it.
func TestWaitingExpires(t *testing.T) {
	p := newWaiting("shop", time.Minute)
	c, err := p.add(kept.Waiting{Params: json.RawMessage(`{"secret":1}`), Result: json.RawMessage(`{}`)})
	require.NoError(t, err)
	if all := p.list(); len(all) != 1 || all[0].Params != nil || all[0].Result != nil {
		t.Errorf("%+v", all)
	}
	if got, ok := p.get(c.ID); !ok || string(got.Params) != `{"secret":1}` {
		t.Errorf("%+v %v", got, ok)
	}
	p.calls[0].Until = time.Now().Add(-time.Second)
	if _, ok := p.get(c.ID); ok || len(p.list()) != 0 {
		t.Error("it is there still")
	}
}

// Values go to the questions that have the fields, converted by their schemas.
func TestAnswersGoToTheQuestionsThatAsk(t *testing.T) {
	form := func(fields string) string {
		return `{"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{` + fields + `}}}}`
	}
	waits := kept.Waiting{ID: "shop-1", Result: json.RawMessage(`{"inputRequests":{"a":` + form(`"size":{"type":"string"}`) + `,"b":` + form(`"count":{"type":"integer"},"gift":{"type":"boolean"}`) + `}}`)}
	got, err := answers(waits, []string{"count=3", "size=large", "gift:=true"}, "", false, false)
	require.NoError(t, err)
	assert.Equal(t, strings.Join(got, " "), `{"size":"large"} {"count":3,"gift":true}`)
	for _, x := range []struct {
		given   []string
		whole   string
		decline bool
	}{{given: []string{"colour=red"}}, {given: []string{"size=1"}, decline: true}, {whole: "{}", decline: true}} {
		if got, err := answers(waits, x.given, x.whole, x.decline, false); failure.KindOf(err) != failure.Usage {
			t.Errorf("%+v: %q %v", x, got, err)
		}
	}
}
