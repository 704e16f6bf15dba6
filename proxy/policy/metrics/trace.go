package metrics

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// The attributes of spans and metrics.
const (
	attrAgent    = "mcp.agent"
	attrMethod   = "mcp.method"
	attrTool     = "mcp.tool.name"
	attrPrompt   = "mcp.prompt.name"
	attrResource = "mcp.resource.uri"
	attrSession  = "mcp.session_id"
	attrUser     = "mcp.user_id"
	attrStatus   = "http.response.status_code"
	attrError    = "error.type"
)

// known are the methods with series of their own.
var known = func() map[string]bool {
	out := map[string]bool{}
	for _, m := range []mcp.MCPMethod{
		mcp.MethodInitialize, mcp.MethodServerDiscover, mcp.MethodPing, mcp.MethodToolsList, mcp.MethodToolsCall, mcp.MethodResourcesList,
		mcp.MethodResourcesTemplatesList, mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe, mcp.MethodPromptsList,
		mcp.MethodPromptsGet, mcp.MethodCompletionComplete, mcp.MethodSetLogLevel, mcp.MethodSubscriptionsListen,
	} {
		out[string(m)] = true
	}
	for _, m := range []string{
		"tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "tasks/update", "tools/call_batch", string(mcp.MethodNotificationInitialized),
		string(mcp.MethodNotificationCancelled), "notifications/progress", "notifications/roots/list_changed",
	} {
		out[m] = true
	}
	return out
}()

// maxValue bounds attributes of spans, in bytes: callers make them up.
const maxValue = 200

func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, maxValue), "\uFFFD") }

// Trace is middleware that finds the trace of a call. With a collector, the call becomes a span, whose id the agent gets in
// the header traceparent; without one, the agent gets the caller's. It must be inside of where the envelope is parsed.
func (m *Metrics) Trace(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		named := len(c.R.Header["Traceparent"]) > 0 || c.Params.Trace != nil
		if m.tracer == nil {
			if named {
				belongs(c)
			}
			next(c)
			return
		}
		var parent trace.SpanContext
		if named {
			parent = telemetry.Remote(c.R.Header, c.Params.Trace, c.Params.State)
		}
		ctx := trace.ContextWithRemoteSpanContext(context.Background(), parent)
		ctx, span := m.tracer.Start(ctx, "mcp.router.forward", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(c.Began))
		c.Trace, c.Parent = span.SpanContext().TraceID().String(), parent.SpanID()
		c.Span, c.Sampled = span.SpanContext().SpanID(), span.SpanContext().IsSampled()
		delete(c.R.Header, "Tracestate")
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(c.R.Header))
		defer end(span, c) // also when the forwarder ends a connection by a panic
		if span.IsRecording() {
			steps(span, c)
		}
		next(c)
	}
}

// belongs notes which trace a call belongs to.
func belongs(c *flow.Call) {
	if v := c.R.Header["Traceparent"]; len(v) == 1 && common(v[0], c) {
		return
	}
	if parent := telemetry.Remote(c.R.Header, c.Params.Trace, c.Params.State); parent.IsValid() {
		c.Trace, c.Parent, c.Sampled = parent.TraceID().String(), parent.SpanID(), parent.IsSampled()
	}
}

// common reads a traceparent as nearly all are written; false for any other, which telemetry.Remote reads.
func common(v string, c *flow.Call) bool {
	const form = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if len(v) != len(form) || v[:3] != "00-" || v[35] != '-' || v[52:54] != "-0" || v[54] != '0' && v[54] != '1' {
		return false
	}
	var id [16]byte
	var span [8]byte
	for i := 3; i < 52; i++ {
		if ch := v[i]; i != 35 && (ch < '0' || ch > '9') && (ch < 'a' || ch > 'f') {
			return false
		}
	}
	_, _ = hex.Decode(id[:], []byte(v[3:35])) // they are digits
	_, _ = hex.Decode(span[:], []byte(v[36:52]))
	if id == [16]byte{} || span == [8]byte{} {
		return false
	}
	c.Trace, c.Parent, c.Sampled = v[3:35], span, v[54] == '1'
	return true
}

// steps makes events of the span of what the router does with a call: it received it, found it valid and its agent in the table,
// forwards it, has the beginning of the answer, and returned that.
func steps(span trace.Span, c *flow.Call) {
	span.AddEvent("received", trace.WithTimestamp(c.Began))
	span.AddEvent("validated")
	if c.Route == nil {
		return
	}
	span.AddEvent("routed")
	serve := c.Target
	c.Target = func(c *flow.Call) {
		began := time.Now()
		span.AddEvent("forwarded", trace.WithTimestamp(began))
		defer func() {
			if c.Upstream > 0 {
				span.AddEvent("answered", trace.WithTimestamp(began.Add(c.Upstream)))
				span.AddEvent("returned")
			}
		}()
		serve(c)
	}
}

// end ends the span of a call.
func end(span trace.Span, c *flow.Call) {
	if span.IsRecording() {
		span.SetAttributes(attributes(c)...)
		if outcomeOf(c) != ok {
			kind := "http"
			if c.Failure != nil {
				kind = string(c.Failure.Kind)
			}
			span.SetAttributes(attribute.String(attrError, kind))
			span.SetStatus(codes.Error, kind)
		}
	}
	span.End()
}

func attributes(c *flow.Call) []attribute.KeyValue {
	kv := append(make([]attribute.KeyValue, 0, 6), attribute.String(attrAgent, clip(c.Agent)), attribute.Int(attrStatus, c.Status))
	add := func(key, value string) {
		if value != "" {
			kv = append(kv, attribute.String(key, clip(value)))
		}
	}
	if c.Env.Kind == jsonrpc.Request || c.Env.Kind == jsonrpc.Notification {
		add(attrMethod, c.Env.Method)
	}
	switch name := c.Name(); {
	case c.Params.Name == nil:
		add(attrResource, mask.URL(name))
	case strings.HasPrefix(c.Env.Method, "prompts/"):
		add(attrPrompt, mask.Text(clip(name)))
	default:
		add(attrTool, mask.Text(clip(name)))
	}
	add(attrSession, c.Session)
	add(attrUser, c.Principal)
	return kv
}
