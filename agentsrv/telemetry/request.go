package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/wire/span"
)

// The attributes of spans.
const (
	attrTool     = "mcp.tool.name"
	attrPrompt   = "mcp.prompt.name"
	attrResource = "mcp.resource.uri"
	attrTenant   = "mcp.tenant_id"
	attrSession  = "mcp.session_id"
	attrUser     = "mcp.user_id"
	attrError    = "error.type"
	attrWait     = "mcp.queue.wait_ms"
)

// request is one that is traced.
type request struct {
	span   trace.Span // nil if nobody collects it
	tool   string     // as the client says
	tenant atomic.Pointer[string]
	queued atomic.Bool // Queued counts and logs it
	steps  steps
	parent trace.SpanContext
	began  time.Time

	mu   sync.Mutex // a call that becomes a task is answered before it is over
	runs bool       // Queued has it
	task bool       // it was answered, and its span ends when Queued has done with it
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// Tenant tells the span and the log line of ctx's request whose it is.
func Tenant(ctx context.Context, id string) {
	if r := requestOf(ctx); r != nil {
		r.tenant.Store(&id)
	}
}

// subject is what a method's span is called and which of its parameters says what it is about.
type subject struct{ span, param, attribute string }

var subjects = map[string]subject{
	"tools/call":     {"mcp.tool.call", "name", attrTool},
	"resources/read": {"mcp.resource.read", "uri", attrResource},
	"prompts/get":    {"mcp.prompt.get", "name", attrPrompt},
}

// Middleware traces, counts and logs tools/call, and traces resources/read and prompts/get. It belongs before everything
// but what makes several calls of one. The trace id goes to kit.Caller, and on to other servers with the context.
func (t *Telemetry) Middleware() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			s, ok := subjects[x.Method]
			if !ok || !t.ready() {
				return next(ctx, x)
			}
			return t.trace(ctx, x, s, next)
		}
	}
}

func (t *Telemetry) trace(ctx context.Context, x *front.Exchange, s subject, next front.Next) (result json.RawMessage, err error) {
	began := time.Now()
	name, meta := about(x.Params, s.param)
	parent := remote(x.Header, meta)
	r := &request{tool: name, steps: steps{t.o.Sink}, parent: parent, began: began}
	if !t.export.Wants(parent) {
		ctx = trace.ContextWithSpanContext(ctx, telemetry.Local(parent))
	} else {
		ctx, r.span = t.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, parent), s.span,
			trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began), trace.WithAttributes(identity(s, name, x.Caller)...))
		r.span.AddEvent(eventReceived, trace.WithTimestamp(began))
	}
	x.Caller.Trace = trace.SpanContextFromContext(ctx).TraceID().String()
	ctx = context.WithValue(kit.WithCaller(ctx, x.Caller), requestKey{}, r)

	kind := jsonrpc.KindInternal // of a panic, which passes through
	defer func() { t.endSpan(ctx, x, r, kind, time.Since(began)) }()
	result, err = next(ctx, x)
	kind = failure(result, err)
	if r.span != nil {
		r.span.SetAttributes(attribute.Int(span.AttrIn, len(x.Params)), attribute.Int(span.AttrOut, len(result)))
	}
	return result, err
}

// endSpan ends the span. A tool call that did not get as far as Queued is counted and logged here.
func (t *Telemetry) endSpan(ctx context.Context, x *front.Exchange, r *request, kind jsonrpc.ErrorKind, took time.Duration) {
	if r.span != nil {
		if tenant := r.whose(x); tenant != "" {
			r.span.SetAttributes(attribute.String(attrTenant, tenant))
		}
		if kind != "" || !r.goesOn(x.Caller) {
			r.end(kind)
		}
	}
	if x.Method == "tools/call" && !r.queued.Load() {
		t.recordCall(ctx, x, r, kind, took)
	}
}

// end ends the span of a call.
func (r *request) end(kind jsonrpc.ErrorKind) {
	if kind != "" {
		r.span.SetAttributes(attribute.String(attrError, string(kind)))
		r.span.SetStatus(codes.Error, string(kind))
	}
	r.span.End()
}

// goesOn reports whether a call that was answered became a task. Its span ends with the task, and a sink gets it now as well, as far as
// it is: who looks at the call meanwhile, or after this process died, sees where it is.
func (r *request) goesOn(c kit.Identity) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.task = r.runs; !r.task {
		return false
	}
	own := r.span.SpanContext()
	if r.steps.to != nil && own.IsSampled() {
		s := span.Span{
			Trace: own.TraceID().String(), ID: own.SpanID().String(), Name: span.Call, Kind: span.KindServer, Start: r.began, End: time.Now(),
			Attributes: map[string]any{attrTool: clip(r.tool), span.AttrTask: span.TaskRuns},
		}
		if c.Session != "" {
			s.Attributes[attrSession] = c.Session
		}
		if r.parent.HasSpanID() {
			s.Parent = r.parent.SpanID().String()
		}
		r.steps.to.Span(s)
	}
	return true
}

// run notes that Queued has a call, and that it has done with it, which ends the span of one that became a task.
func (r *request) run() (over func(jsonrpc.ErrorKind)) {
	r.mu.Lock()
	r.runs = true
	r.mu.Unlock()
	return func(kind jsonrpc.ErrorKind) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.runs = false
		if r.task {
			r.span.SetAttributes(attribute.String(span.AttrTask, span.TaskOver))
			r.end(kind)
		}
	}
}

// whose is the tenant of the request, "" if it was refused before that was clear.
func (r *request) whose(x *front.Exchange) string {
	if seen := r.tenant.Load(); seen != nil {
		return *seen
	}
	return x.Caller.Tenant
}

// recordCall counts one tool call, and writes its line.
func (t *Telemetry) recordCall(ctx context.Context, x *front.Exchange, r *request, kind jsonrpc.ErrorKind, took time.Duration) {
	t.tools.add(time.Since(t.started), kind != "")
	l := t.metrics.label(r.tool, t.o.Known)
	t.metrics.countCall(ctx, l, took, kind != "")
	t.log(ctx, calledMessage, r.tool, l.name == r.tool, r.whose(x), x.Caller.Trace, kind, took)
}

// about finds what a request is about, and its _meta.
func about(params []byte, param string) (name string, meta []byte) {
	if param == "name" {
		c, _ := kit.ParseCall(params) // whoever checks params refuses the malformed; here they are just not named
		return c.Name, c.Meta
	}
	err := jsonrpc.Members(params, func(key string, value []byte) bool {
		switch {
		case key == param:
			name, _ = jsonrpc.String(value)
		case key == "_meta" && value[0] == '{':
			meta = value
		}
		return true
	})
	if err != nil {
		return "", nil
	}
	return name, meta
}

func identity(s subject, name string, c kit.Identity) []attribute.KeyValue {
	if s.attribute == attrResource {
		name = mask.URL(name)
	} else { // any text may be called
		name = mask.Text(name)
	}
	kv := append(make([]attribute.KeyValue, 0, 4), attribute.String(s.attribute, clip(name)))
	if c.Session != "" {
		kv = append(kv, attribute.String(attrSession, c.Session))
	}
	if c.User != "" {
		kv = append(kv, attribute.String(attrUser, c.User))
	}
	return kv
}

// toolError is the kind of a result with isError.
const toolError jsonrpc.ErrorKind = "tool_error"

// failure is the kind of what went wrong, "" if nothing did.
func failure(result []byte, err error) jsonrpc.ErrorKind {
	if err == nil {
		if isError(result) {
			return toolError
		}
		return ""
	}
	if f, ok := jsonrpc.AsRequestError(err); ok {
		return f.Kind
	}
	var e *jsonrpc.Error
	switch {
	case errors.As(err, &e):
		return "rpc_error"
	case errors.Is(err, context.Canceled):
		return jsonrpc.KindCancelled
	}
	return jsonrpc.KindInternal
}

// isError reads that member of a tool's result. The bytes are searched first, since a result may be many megabytes.
func isError(result []byte) (is bool) {
	if !bytes.Contains(result, []byte(`"isError"`)) {
		return false
	}
	_ = jsonrpc.Members(result, func(key string, value []byte) bool {
		if key == "isError" {
			is = string(value) == "true"
		}
		return true
	})
	return is
}
