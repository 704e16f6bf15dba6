package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Names of attributes of the semantic conventions for MCP (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp).
const (
	semMethod    = "mcp.method.name"
	semResource  = "mcp.resource.uri"
	semTool      = "gen_ai.tool.name"
	semPrompt    = "gen_ai.prompt.name"
	semOperation = "gen_ai.operation.name"
	semRequest   = "jsonrpc.request.id"
	semCode      = "rpc.response.status_code"
	attrServer   = "mcphud.server" // the name in the configuration
)

// Exchange is a request and its answer as one span, which has the names of the semantic conventions for MCP. Its ids are those of the
// trace context that the request carried; one without gets a trace of its own. ok is false where there is no such request, or it is
// not over.
func Exchange(j *journal.Journal, request uint64) (s span.Span, ok bool) {
	e, ok := j.Get(request)
	if !ok || e.Kind != journal.Request || e.Status == journal.Pending {
		return s, false
	}
	s = span.Span{
		Name: e.Method, Kind: span.KindClient, Start: e.Time, End: e.Time.Add(e.Took), Failed: e.Status != journal.OK,
		Attributes: map[string]any{semMethod: e.Method, semRequest: e.ID, attrServer: e.Server},
	}
	if name, isText := jsonrpc.String([]byte(e.ID)); isText {
		s.Attributes[semRequest] = mask.Text(name)
	}
	name := mask.Text(e.Tool) // any text may be called
	switch e.Method {
	case "tools/call":
		s.Attributes[semTool], s.Attributes[semOperation] = name, "execute_tool"
		s.Name = words(e.Method, name)
	case "prompts/get":
		s.Attributes[semPrompt] = name
		s.Name = words(e.Method, name)
	default:
		if e.Tool != "" {
			s.Attributes[semResource] = mask.URL(e.Tool)
		}
	}
	if s.Failed {
		s.Attributes[span.AttrError] = e.Status
		fail(j, e, &s)
	}
	c := collector{j: j}
	if s.Trace, s.ID, _, ok = span.ParseParent(c.parentOf(request)); !ok || e.Dir != journal.Out {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s\x00%d", e.Server, e.Conn, e.Dir, e.ID, e.Time.UnixNano()))
		s.Trace, s.ID = hex.EncodeToString(sum[:16]), hex.EncodeToString(sum[16:24])
	}
	return s, true
}

// fail says what kind of failure an answer is: the code of an error, or that of a tool.
func fail(j *journal.Journal, e journal.Entry, s *span.Span) {
	a, ok := j.Get(e.Peer)
	if !ok || e.Peer == 0 {
		return
	}
	if a.Kind != journal.ErrorResponse {
		s.Attributes[span.AttrError] = "tool_error"
		return
	}
	if body, err := j.Body(a.Seq); err == nil {
		if code := jsonrpc.Get(body, "error", "code"); code != nil && len(code) < 20 {
			s.Attributes[semCode], s.Attributes[span.AttrError] = string(code), string(code)
		}
	}
}

// What a request of the OTLP/HTTP exporter is made of, in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
type (
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		Parent     string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes"`
		Status     map[string]int  `json:"status,omitempty"`
	}
	otlpResource struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		Scopes [1]struct {
			Scope struct {
				Name string `json:"name"`
			} `json:"scope"`
			Spans []otlpSpan `json:"spans"`
		} `json:"scopeSpans"`
	}
)

// openSpan is one that was recorded before it was over.
type openSpan struct {
	service string
	span.Span
}

// otlpBatch is how many spans are in one part of what WriteOTLP writes.
const otlpBatch = 512

// WriteOTLP writes what a journal knows of traces as one request of OTLP/HTTP in JSON, which a collector takes as it is: the spans of
// routers and agents, and each exchange of a client as a span. keep says which entries are wanted, nil for all; of an exchange it is
// asked about the request. n is how many spans were written.
func WriteOTLP(w io.Writer, j *journal.Journal, keep func(*journal.Entry) bool) (n int, err error) {
	o := otlpWriter{w: w, sep: `{"resourceSpans":[`, by: map[string]*otlpResource{}}
	calls, seen, open := callsWithTasks(j), map[string]bool{}, map[string]openSpan{}
	j.Each(0, func(e *journal.Entry) bool {
		if keep != nil && !keep(e) {
			return true
		}
		switch {
		case e.Kind == journal.Span:
			body, bad := j.Body(e.Seq)
			if bad != nil {
				return true
			}
			s, bad := span.Parse(body)
			switch {
			case bad != nil:
			case s.Attributes[span.AttrTask] == span.TaskRuns: // it may come again
				open[s.Trace+s.ID] = openSpan{service(e), s}
			default:
				delete(open, s.Trace+s.ID)
				o.add(service(e), s)
			}
		case e.Kind == journal.Request && e.Hop == "":
			s, ok := Exchange(j, e.Seq)
			if !ok {
				break
			}
			if n := calls[e.Seq]; n != nil {
				n.copyEnd(&s)
			}
			if id := s.Trace + s.ID; seen[id] || e.Trace != "" && strings.HasPrefix(e.Method, taskMethods) { // a further request of a call
				sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", id, e.Conn, e.ID))
				s.Parent, s.ID = s.ID, hex.EncodeToString(sum[:8])
			} else {
				seen[id] = true
			}
			o.add("mcphud client", s)
		}
		return o.err == nil
	})
	for _, id := range slices.Sorted(maps.Keys(open)) {
		o.add(open[id].service, open[id].Span)
	}
	for _, name := range slices.Sorted(maps.Keys(o.by)) {
		o.flush(o.by[name])
	}
	if o.n == 0 {
		o.write([]byte(o.sep))
	}
	o.write([]byte("]}\n"))
	return o.n, o.err
}

// service is the name of the service that a span is of.
func service(e *journal.Entry) string {
	if e.Hop == span.Router {
		return "mcphud router"
	}
	return words("mcphud", e.Hop, e.Server)
}

type otlpWriter struct {
	w   io.Writer
	sep string
	by  map[string]*otlpResource
	n   int
	err error
}

func (o *otlpWriter) write(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

// add writes spans of a service in parts; of very many services each span is a part.
func (o *otlpWriter) add(service string, s span.Span) {
	r := o.by[service]
	if r == nil {
		r = &otlpResource{}
		r.Resource.Attributes = attributes(map[string]any{"service.name": service})
		r.Scopes[0].Scope.Name = "github.com/mcphud/mcphud/session/journal/trace"
		if len(o.by) < otlpBatch {
			o.by[service] = r
		}
	}
	r.Scopes[0].Spans = append(r.Scopes[0].Spans, otlpOf(s))
	if len(r.Scopes[0].Spans) >= otlpBatch || o.by[service] == nil {
		o.flush(r)
	}
}

func (o *otlpWriter) flush(r *otlpResource) {
	spans := r.Scopes[0].Spans
	if len(spans) == 0 {
		return
	}
	raw, err := json.Marshal(r)
	if err != nil { // a number that JSON does not have
		o.err = err
		return
	}
	o.write([]byte(o.sep))
	o.write(raw)
	o.sep = ","
	o.n += len(spans)
	r.Scopes[0].Spans = spans[:0]
}

func otlpOf(s span.Span) otlpSpan {
	out := otlpSpan{
		TraceID: s.Trace, SpanID: s.ID, Parent: s.Parent, Name: s.Name, Kind: map[string]int{"": 1, span.KindServer: 2, span.KindClient: 3}[s.Kind],
		Start: nano(s.Start), End: nano(s.End), Attributes: attributes(s.Attributes),
	}
	if s.Failed {
		out.Status = map[string]int{"code": 2}
	}
	return out
}

func nano(t time.Time) string { return strconv.FormatInt(max(t.UnixNano(), 0), 10) }

func attributes(all map[string]any) []otlpAttribute {
	out := []otlpAttribute{}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		one := otlpAttribute{Key: k}
		switch v := all[k].(type) {
		case string:
			one.Value = map[string]any{"stringValue": v}
		case int64:
			one.Value = map[string]any{"intValue": strconv.FormatInt(v, 10)}
		case float64:
			one.Value = map[string]any{"doubleValue": v}
		case bool:
			one.Value = map[string]any{"boolValue": v}
		default:
			continue
		}
		out = append(out, one)
	}
	return out
}
