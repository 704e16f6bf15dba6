// Package batch is the experimental method tools/call_batch, by which a client calls several tools with one request. It
// is not part of MCP: a server that offers it says so under capabilities.experimental.
//
// Params are {"calls":[{"name":NAME,"arguments":{…}},…]}, the result is {"results":[{"index":0,"result":{…}} or
// {"index":0,"error":{…}},…]}, in the order of the calls. Each call takes the same way as a tools/call by itself, through
// limits, validation and queue, and fails by itself.
package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
)

const (
	// Method is the method's name, and its key under capabilities.experimental.
	Method = "tools/call_batch"
	// MaxCalls is how many calls one request may have.
	MaxCalls = 100
	// atOnce is how many calls of one request are under way at a time; how many of these run is the queue's affair.
	atOnce = 10
)

// Capability is what belongs under capabilities.experimental where the method is offered.
func Capability() map[string]any { return map[string]any{Method: map[string]any{"maxCalls": MaxCalls}} }

// Options are optional.
type Options struct {
	Logger *slog.Logger // receives errors that clients do not see; nil discards
}

// Middleware answers the method by sending each call on its way as a tools/call. It belongs before everything that a
// call has to pass.
func Middleware(o Options) front.Middleware {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			if x.Method != Method || x.ID == nil {
				return next(ctx, x)
			}
			calls, meta, err := parse(x.Params)
			if err != nil {
				return nil, err
			}
			b := &batch{x: x, next: next, log: log, results: make([]result, len(calls))}
			return b.run(ctx, calls, meta)
		}
	}
}

// call is one item of the request.
type call struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitempty"`
}

// result is one item of the answer.
type result struct {
	Index  int             `json:"index"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *jsonrpc.Error  `json:"error,omitempty"`
}

// parse reads the params. What a call has beside its two members, or twice, is refused: only what is understood here is
// passed on.
func parse(params []byte) ([]call, map[string]jsontext.Value, error) {
	var in struct {
		Calls *[]jsontext.Value         `json:"calls"`
		Meta  map[string]jsontext.Value `json:"_meta"`
	}
	if err := jsonv2.Unmarshal(params, &in); err != nil {
		return nil, nil, kit.Invalid("calls", "must be an array of {name, arguments}")
	}
	switch {
	case in.Calls == nil:
		return nil, nil, kit.Invalid("calls", kit.Required)
	case len(*in.Calls) > MaxCalls:
		return nil, nil, kit.Invalid("calls", fmt.Sprintf("has %d items and may have %d; send several batches", len(*in.Calls), MaxCalls))
	}
	calls := make([]call, len(*in.Calls))
	for i, raw := range *in.Calls {
		field := fmt.Sprintf("calls[%d]", i)
		if err := jsonv2.Unmarshal(raw, &calls[i], jsonv2.RejectUnknownMembers(true)); err != nil || raw.Kind() != '{' {
			return nil, nil, kit.Invalid(field, "must be an object with name and arguments, and nothing else")
		}
		if calls[i].Name == "" {
			return nil, nil, kit.Invalid(field+".name", kit.Required)
		}
		if a := calls[i].Arguments; len(a) > 0 && a.Kind() != '{' {
			return nil, nil, kit.Invalid(field+".arguments", "must be an object")
		}
	}
	// One token for all would make the steps of one call look like those of another.
	delete(in.Meta, "progressToken")
	return calls, in.Meta, nil
}

type batch struct {
	x       *front.Exchange
	next    front.Next
	log     *slog.Logger
	results []result

	mu   sync.Mutex
	done int
}

// run makes the calls, some at a time, and returns when all have an answer or none is wanted any more.
func (b *batch) run(ctx context.Context, calls []call, meta map[string]jsontext.Value) (json.RawMessage, error) {
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, atOnce)
	for i, c := range calls {
		params, err := jsonv2.Marshal(struct {
			call
			Meta map[string]jsontext.Value `json:"_meta,omitempty"`
		}{c, meta})
		if err != nil {
			return nil, fmt.Errorf("%s: pass on call %d: %w", Method, i, err)
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		wg.Go(func() {
			defer func() { <-slots }()
			b.one(ctx, i, params)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out := struct {
		ResultType string   `json:"resultType,omitempty"`
		Results    []result `json:"results"`
	}{Results: b.results}
	if b.x.Modern {
		out.ResultType = string(mcp.ResultTypeComplete)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("%s: encode the results: %w", Method, err)
	}
	return raw, nil
}

// one makes one call.
func (b *batch) one(ctx context.Context, i int, params []byte) {
	x := front.NewExchange(b.x, fmt.Appendf(nil, `"%s %d"`, Method, i), string(mcp.MethodToolsCall), params)
	x.Token = nil
	res, err := b.pass(front.WithExchange(ctx, x), x)
	r := result{Index: i, Result: res}
	if err != nil {
		r = result{Index: i, Error: b.wire(err)}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results[i] = r
	b.done++
	if !b.x.WantsProgress() {
		return
	}
	err = b.x.Notify(ctx, string(mcp.MethodNotificationProgress), map[string]any{
		"progressToken": json.RawMessage(b.x.Token), "progress": b.done, "total": len(b.results),
	})
	if err != nil { // the client does not hear of it, and the batch goes on
		b.log.Debug("batch: report progress", "err", err)
	}
}

// pass keeps a panic of one call from the others.
func (b *batch) pass(ctx context.Context, x *front.Exchange) (res json.RawMessage, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n%s", mask.Log(fmt.Sprint(v)), debug.Stack())
		}
	}()
	return b.next(ctx, x)
}

// wire is the error object of a call, numbered as if the call had been made by itself.
func (b *batch) wire(err error) *jsonrpc.Error {
	var rpc *jsonrpc.Error
	if f, ok := jsonrpc.AsRequestError(err); ok {
		rpc = f.RPC(b.x.Modern)
	} else if !errors.As(err, &rpc) {
		b.log.Error("batch: call failed", "err", strings.TrimSpace(err.Error()))
		rpc = jsonrpc.Errorf(jsonrpc.KindInternal, "internal error").RPC(b.x.Modern)
	}
	return rpc
}
