package pending

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TestUnansweredIsBounded: in bytes, too.
func TestUnansweredIsBounded(t *testing.T) {
	q := New(Options{})
	big := `{"message":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 100 {
		_, _, _ = q.Ask(t.Context(), Question{Method: "elicitation/create", Params: json.RawMessage(big)}, func() {})
	}
	n := 0
	for _, e := range q.Unanswered() {
		n += e.size()
	}
	if n > maxEndedBytes {
		t.Errorf("%d bytes are kept", n)
	}
}

type slow struct{ begun, goOn chan struct{} }

func (slow) Name() string { return "slow" }

func (s slow) Answer(context.Context, Question) (json.RawMessage, *jsonrpc.Error, bool) {
	close(s.begun)
	<-s.goOn
	return json.RawMessage(`{"rule":1}`), nil, true
}

// TestAnswerThatWasTakenCounts: a person whose answer was taken is not overruled by a rule that comes later.
func TestAnswerThatWasTakenCounts(t *testing.T) {
	r := slow{make(chan struct{}), make(chan struct{})}
	q := New(Options{Attended: true, Rules: []Rule{r}})
	done := make(chan string, 1)
	go func() {
		result, _, err := q.Ask(t.Context(), Question{Method: "elicitation/create"}, func() {})
		done <- fmt.Sprint(string(result), err)
	}()
	<-r.begun
	require.NoError(t, q.Answer(1, json.RawMessage(`{"you":1}`)))
	close(r.goOn)
	assert.Equal(t, <-done, `{"you":1}<nil>`)
}

// TestAnswerAtTheEnd: what was taken is given to whoever asked, at whatever moment the question ends.
func TestAnswerAtTheEnd(t *testing.T) {
	lost := 0
	for range 5000 {
		q := New(Options{Attended: true})
		ctx, cancel := context.WithCancel(t.Context())
		opened := make(chan struct{}, 2)
		done := make(chan error, 1)
		go func() {
			_, _, err := q.Ask(ctx, Question{Method: "elicitation/create"}, func() { opened <- struct{}{} })
			done <- err
		}()
		<-opened
		go cancel()
		err := q.Answer(1, json.RawMessage(`{}`))
		if got := <-done; err == nil && got != nil {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d answers were lost", lost)
	}
}
