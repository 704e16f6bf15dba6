package trace

import (
	"encoding/json"
	"math"
	"time"

	"github.com/mcphud/mcphud/session/wire/span"
)

type treeJSON struct {
	Trace  string      `json:"trace"`
	Began  time.Time   `json:"began"`
	Took   float64     `json:"took_ms"`
	Clocks []clockJSON `json:"clocks"`
	Left   int         `json:"left_out,omitempty"`
	Spans  []spanJSON  `json:"spans"`
}

type clockJSON struct {
	Hop    string   `json:"hop"`
	Server string   `json:"server,omitempty"`
	Offset float64  `json:"offset_ms"`
	Bound  *float64 `json:"bound_ms"` // null where nothing bounds it
	Jumped bool     `json:"jumped,omitempty"`
}

type spanJSON struct {
	Hop         string         `json:"hop"` // client, router, agent or server
	Server      string         `json:"server,omitempty"`
	Name        string         `json:"name"`
	Tool        string         `json:"tool,omitempty"`
	Start       float64        `json:"start_ms"` // after the tree began, by the clock of its first span
	Took        float64        `json:"took_ms"`
	Unaccounted float64        `json:"unaccounted_ms"`
	Status      string         `json:"status"`
	Request     int64          `json:"request_bytes,omitempty"`
	Response    int64          `json:"response_bytes,omitempty"`
	Tries       int            `json:"tries"`
	Frames      uint64         `json:"request_seq,omitempty"` // of the request in the journal
	Span        string         `json:"span,omitempty"`
	Parent      string         `json:"parent,omitempty"`
	Attributes  map[string]any `json:"attributes,omitempty"`
	Spans       []spanJSON     `json:"spans,omitempty"`
}

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// MarshalJSON is the tree as nested objects.
func (t *Tree) MarshalJSON() ([]byte, error) {
	out := treeJSON{Trace: t.ID, Began: t.Begin().UTC(), Took: milliseconds(t.Took()), Clocks: []clockJSON{}, Left: t.Left, Spans: t.spans(t.Roots)}
	for _, c := range t.Clocks {
		one := clockJSON{Hop: c.Hop, Server: c.Server, Offset: milliseconds(c.Offset), Jumped: c.Jumped}
		if c.Bound >= 0 {
			b := milliseconds(c.Bound)
			one.Bound = &b
		}
		out.Clocks = append(out.Clocks, one)
	}
	return json.Marshal(out)
}

func (t *Tree) spans(nodes []*Node) []spanJSON {
	out := make([]spanJSON, 0, len(nodes))
	for _, n := range nodes {
		one := spanJSON{
			Hop: n.Hop, Server: n.Server, Name: n.Name, Start: milliseconds(n.From.Sub(t.Begin())), Took: milliseconds(n.Took()), Unaccounted: milliseconds(n.Unaccounted),
			Status: n.Status(), Request: n.Request, Response: n.Response, Tries: n.Tries, Frames: n.Frames, Span: n.ID, Parent: n.Parent, Attributes: n.Attributes,
			Spans: t.spans(n.Children),
		}
		if n.Hop == "" {
			one.Hop = "client"
		}
		one.Tool, _ = n.Attributes[span.AttrTool].(string)
		out = append(out, one)
	}
	return out
}
