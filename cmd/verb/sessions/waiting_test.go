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
	got, release, err := p.take(c.ID)
	require.NoError(t, err)
	if string(got.Params) != `{"secret":1}` {
		t.Errorf("%+v", got)
	}
	release()
	p.calls[0].Until = time.Now().Add(-time.Second)
	if _, _, err := p.take(c.ID); !errors.Is(err, kept.ErrNotWaiting) || len(p.list()) != 0 {
		t.Errorf("it is there still: %v", err)
	}
}

// Values go to the questions that have the fields, converted by their schemas.
func TestAnswersGoToTheQuestionsThatAsk(t *testing.T) {
	form := func(fields string) string {
		return `{"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{` + fields + `}}}}`
	}
	waits := kept.Waiting{ID: "shop-1", Result: json.RawMessage(`{"inputRequests":{"a":` + form(`"size":{"type":"string"}`) + `,"b":` + form(`"count":{"type":"integer"},"gift":{"type":"boolean"}`) + `,"c":{"method":"roots/list"},` +
		`"d":{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com"}}}}`)}
	got, err := answers(waits, []string{"count=3", "size=large", "gift:=true"}, "", false, false)
	require.NoError(t, err)
	assert.Equal(t, strings.Join(got, " "), `{"size":"large"} {"count":3,"gift":true} accept`)
	both, err := answers(waits, nil, `{"size":"s"}`, false, false)
	require.NoError(t, err)
	assert.Equal(t, len(both), 3)
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

// One answers a call, and no second one meanwhile; it asks again under its id, and the time that its server waits goes on.
func TestOneAnswersACall(t *testing.T) {
	p := newWaiting("shop", time.Minute)
	c, err := p.add(kept.Waiting{Result: json.RawMessage(`{"requestState":"a"}`)})
	require.NoError(t, err)
	_, release, err := p.take(c.ID)
	require.NoError(t, err)
	_, _, err = p.take(c.ID)
	assert.ErrorIs(t, err, errTaken)
	p.calls[0].Until = p.calls[0].Until.Add(-time.Second)
	same, err := p.add(kept.Waiting{ID: c.ID, Result: json.RawMessage(`{"requestState":"a"}`)})
	require.NoError(t, err)
	if !same.Until.Equal(c.Until.Add(-time.Second)) {
		t.Errorf("the same question has until %v, after %v", same.Until, c.Until)
	}
	_, again, err := p.take(c.ID)
	require.NoError(t, err)
	release() // of the one before
	_, _, err = p.take(c.ID)
	assert.ErrorIs(t, err, errTaken)
	again()
	full := json.RawMessage(make([]byte, maxWaitingAll+1))
	if _, err := p.add(kept.Waiting{ID: c.ID, Result: full}); !errors.Is(err, errFull) || len(p.list()) != 1 {
		t.Errorf("a call is lost whose next question is too large: %v, %d left", err, len(p.list()))
	}
	if was, ok := p.forget(c.ID); !ok || string(was.Result) != `{"requestState":"a"}` {
		t.Errorf("%+v %v", was, ok)
	}
}
