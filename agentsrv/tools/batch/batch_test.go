package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// answered is what came back of a batch.
type answered struct {
	ResultType string
	Results    []struct {
		Index  int
		Result json.RawMessage
		Error  *jsonrpc.Error
	}
}

func send(t *testing.T, next front.Next, modern bool, params string) (a answered, err error) {
	t.Helper()
	x := front.NewExchange(nil, []byte("1"), Method, []byte(params))
	x.Modern = modern
	raw, err := Middleware(Options{})(next)(front.WithExchange(t.Context(), x), x)
	if err == nil {
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
	}
	return a, err
}

func TestP12_BatchKeepsOrderAndFailsItemByItem(t *testing.T) {
	var mu sync.Mutex
	ids := map[string]bool{}
	late := make(chan struct{})
	next := func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		mu.Lock()
		ids[string(x.ID)] = true
		mu.Unlock()
		var in struct {
			Name      string
			Arguments json.RawMessage
			Meta      map[string]json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(x.Params, &in); err != nil {
			return nil, err
		}
		if x.Method != "tools/call" || x.Token != nil || in.Meta["progressToken"] != nil || string(in.Meta["tenant"]) != `"a"` || front.From(ctx) != x {
			t.Errorf("%s %s", x.Method, x.Params)
		}
		switch in.Name {
		case "late": // answers after all others
			<-late
		case "last":
			close(late)
		case "full":
			return nil, jsonrpc.Errorf(jsonrpc.KindQueueFull, "Task queue at capacity")
		case "own":
			return nil, &jsonrpc.Error{Code: -32021, Message: "own"}
		case "broken":
			return nil, errors.New("secret")
		case "panic":
			panic("secret")
		}
		return fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, in.Name, in.Arguments), nil
	}
	for modern, full := range map[bool]int64{false: -32002, true: -31002} {
		late, ids = make(chan struct{}), map[string]bool{}
		a, err := send(t, next, modern, `{"_meta":{"tenant":"a","progressToken":7},"calls":[
			{"name":"late","arguments":{"big":9007199254740993}},{"name":"full","arguments":{}},{"name":"own","arguments":{}},
			{"name":"broken","arguments":{}},{"name":"panic","arguments":{}},{"arguments":{"x":1},"name":"last"}]}`)
		if err != nil || len(a.Results) != 6 || len(ids) != 6 || (a.ResultType == "complete") != modern {
			t.Fatalf("%v: %+v, ids %v", err, a, ids)
		}
		for i, want := range []int64{0, full, -32021, -32603, -32603, 0} {
			r := a.Results[i]
			if r.Index != i || (r.Error == nil) != (want == 0) || r.Error != nil && (r.Error.Code != want || strings.Contains(r.Error.Message, "secret")) {
				t.Errorf("item %d: %+v", i, r)
			}
		}
		assert.Equal(t, string(a.Results[0].Result), `{"name":"late","arguments":{"big":9007199254740993}}`)
	}
}

func TestP12_BatchRefusesWhatItDoesNotUnderstand(t *testing.T) {
	next := func(context.Context, *front.Exchange) (json.RawMessage, error) {
		t.Error("a call of a refused batch was made")
		return json.RawMessage(`{}`), nil
	}
	item := `{"name":"echo","arguments":{}}`
	for params, field := range map[string]string{
		``:                                    "calls",
		`{}`:                                  "calls",
		`{"calls":null}`:                      "calls",
		`{"calls":{}}`:                        "calls",
		`{"Calls":[]}`:                        "calls",
		`{"calls":[],"calls":[]}`:             "calls",
		`{"calls":[` + item + `,1]}`:          "calls[1]",
		`{"calls":[null]}`:                    "calls[0]",
		`{"calls":[{"arguments":{}}]}`:        "calls[0].name",
		`{"calls":[{"name":"a","Name":"b"}]}`: "calls[0]",
		`{"calls":[{"name":"a","name":"b"}]}`: "calls",
		`{"calls":[{"name":"a","arguments":{"x":1,"x":2}}]}`:            "calls",
		`{"calls":[{"name":"a","task":{}}]}`:                            "calls[0]",
		`{"calls":[{"name":1}]}`:                                        "calls[0]",
		`{"calls":[{"name":"a","arguments":[]}]}`:                       "calls[0].arguments",
		`{"calls":[` + strings.Repeat(item+",", MaxCalls) + item + `]}`: "calls",
	} {
		_, err := send(t, next, false, params)
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.Code(false) != -32602 || !strings.HasPrefix(fmt.Sprint(f.Data["field"]), field) {
			t.Errorf("%.80s: %v, want a complaint about %s", params, err, field)
		}
	}
	if a, err := send(t, next, false, `{"calls":[]}`); err != nil || a.Results == nil || len(a.Results) != 0 {
		t.Errorf("an empty batch: %v, %+v", err, a)
	}
}

func TestP12_BatchIsBoundedAndEndsWhenCancelled(t *testing.T) {
	var now, most atomic.Int64
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the client went")
	next := func(ctx context.Context, _ *front.Exchange) (json.RawMessage, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == atOnce {
			cancel(reason)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	params := `{"calls":[` + strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, MaxCalls), ",") + `]}`
	x := front.NewExchange(nil, []byte("1"), Method, []byte(params))
	if _, err := Middleware(Options{})(next)(ctx, x); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
	if most.Load() != atOnce || now.Load() != 0 {
		t.Errorf("%d at once, %d left", most.Load(), now.Load())
	}
}

func TestOtherMethodsPass(t *testing.T) {
	for _, x := range []*front.Exchange{front.NewExchange(nil, []byte("1"), "tools/list", nil), front.NewExchange(nil, nil, Method, nil)} {
		seen := false
		next := func(_ context.Context, got *front.Exchange) (json.RawMessage, error) {
			seen = got == x
			return nil, nil
		}
		if _, err := Middleware(Options{})(next)(t.Context(), x); err != nil || !seen {
			t.Errorf("%s: %v, passed on: %t", x.Method, err, seen)
		}
	}
}
