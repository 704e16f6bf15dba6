package trace

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// count is how many nodes there are, each met once.
func count(t *testing.T, tree *Tree) (n int) {
	t.Helper()
	seen := map[*Node]bool{}
	stack := append([]*Node(nil), tree.Roots...)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[at] {
			t.Fatalf("%s is there twice", at.ID)
		}
		seen[at] = true
		stack = append(stack, at.Children...)
		if at.Took() < 0 || at.Unaccounted < 0 || at.Unaccounted > at.Took() {
			t.Errorf("%s takes %v, of which %v", at.ID, at.Took(), at.Unaccounted)
		}
	}
	return len(seen)
}

// Ids are text of others: circles, spans that are their own parents, and equal ids end in trees all the same.
func TestIdsInCircles(t *testing.T) {
	r := newRig(t)
	r.span(span.Agent, "a", 1, 2, "one", "", 0, 5, 0)
	r.span(span.Agent, "a", 2, 3, "two", "", 1, 4, 0)
	r.span(span.Agent, "a", 3, 1, "three", "", 2, 3, 0)
	r.span(span.Agent, "a", 4, 4, "own parent", "", 2, 3, 0)
	r.span(span.Agent, "a", 5, 3, "below the circle", "", 2, 3, 0)
	r.span(span.Agent, "a", 1, 0, "the same id", "", 2, 3, 0)
	r.span(span.Agent, "a", 1, 2, "one", "", 0, 5, 0) // sent again
	tree := r.tree()
	if n := count(t, tree); n != 6 {
		t.Errorf("%d nodes of 6\n%s", n, drawn(tree))
	}
}

// A million children are more than anybody looks at; a chain of thousands is as deep as it is.
func TestManySpans(t *testing.T) {
	r := newRig(t)
	for i := range maxSpans + 50 {
		r.span(span.Agent, "a", i+1, i, "deep", "", 0, 5, 0)
	}
	tree := r.tree()
	if n := count(t, tree); n != maxSpans || tree.Left != 50 {
		t.Errorf("%d nodes, %d left out", n, tree.Left)
	}
	g := &Group{}
	for i := range maxEntries + 7 {
		g.add(uint64(i))
	}
	if len(g.Seqs) != maxEntries || g.Left != 7 {
		t.Error(len(g.Seqs), g.Left)
	}
}

func TestTimesAreAnything(t *testing.T) {
	for _, times := range [][2]int64{{math.MinInt64, math.MaxInt64}, {math.MaxInt64, math.MinInt64}, {0, math.MaxInt64}, {math.MinInt64, 0}, {5, 4}} {
		r := newRig(t)
		r.exchange("", "s", 1, 0, 20, "x")
		for i, hop := range []string{span.Router, span.Agent, "", "other"} {
			body := fmt.Sprintf(`{"trace":%q,"span":%q,"parent":%q,"name":"x","kind":"server","start":%d,"end":%d,"status":"ok"}`, traceID, id(10+i), id(1), times[0], times[1])
			r.Append(journal.Entry{Kind: journal.Span, Hop: hop, Server: "s", Trace: traceID, Time: noon}, []byte(body))
		}
		assert.Equalf(t, count(t, r.tree()), 5, "%v: nodes", times)
	}
}

// What is not a span is counted, and is not in the tree.
func TestMalformedSpans(t *testing.T) {
	r := newRig(t)
	good := `{"trace":"` + traceID + `","span":"b7ad6b7169203331","name":"x","start":1,"end":2,"status":"ok"}`
	bad := []string{
		"", "{", `[]`, `{"trace":5}`, strings.Replace(good, "b7ad6b7169203331", "0000000000000000", 1), strings.Replace(good, "b7ad", "B7AD", 1),
		strings.Replace(good, traceID, strings.Repeat("ab", 16), 1), strings.Replace(good, `"name":"x"`, `"name":""`, 1), strings.Replace(good, `"span"`, `"parent":"zz","span"`, 1),
	}
	for _, body := range append(bad, good) {
		r.Append(journal.Entry{Kind: journal.Span, Hop: span.Agent, Trace: traceID, Time: noon}, []byte(body))
	}
	tree := r.tree()
	if n := count(t, tree); n != 1 || tree.Left != len(bad) {
		t.Errorf("%d spans, %d malformed ones of %d", n, tree.Left, len(bad))
	}
	s, err := span.Parse([]byte(strings.Replace(good, `"status"`, `"attributes":{"s":"`+strings.Repeat("x", 5000)+`","n":17,"f":0.5,"b":true,"o":{},"z":null},"status"`, 1)))
	if err != nil || len(s.Attributes) != 4 || s.Attributes["n"] != int64(17) || len(s.Attributes["s"].(string)) > 300+3 {
		t.Errorf("%+v %v", s, err)
	}
}

func TestParseParent(t *testing.T) {
	const good = "00-" + traceID + "-00f067aa0ba902b7-01"
	if id, span, sampled, ok := span.ParseParent(good); id != traceID || span != "00f067aa0ba902b7" || !sampled || !ok {
		t.Error(id, span, sampled, ok)
	}
	if _, _, sampled, ok := span.ParseParent("cc-" + traceID + "-00f067aa0ba902b7-00-what-comes-later"); sampled || !ok {
		t.Error("a later version cannot be read")
	}
	for _, bad := range []string{"", "-", "00", good + "-x", "ff" + good[2:], strings.Replace(good, "4bf9", "4BF9", 1), strings.Replace(good, "-01", "-1", 1), strings.Replace(good, "-01", "-zz", 1), "00-" + strings.Repeat("0", 32) + good[35:]} {
		if _, _, _, ok := span.ParseParent(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"trace":"`+traceID+`","span":"b7ad6b7169203331","parent":"b7ad6b7169203332","name":"run","start":1,"end":2}`), uint8(3), int64(5))
	f.Fuzz(func(t *testing.T, body []byte, links uint8, start int64) {
		r := newRig(t)
		r.exchange("", "s", 1, 0, 20, "x")
		r.Append(journal.Entry{Kind: journal.Span, Hop: span.Agent, Trace: traceID, Time: noon}, body)
		for i := range 4 {
			s := span.Span{Trace: traceID, ID: id(int(links>>i)&7 + 1), Parent: id(int(links>>(i+2)) & 7), Name: []string{span.Forward, span.Upstream, span.Run, span.Call}[i], Kind: span.KindServer, Start: time.Unix(0, start), End: time.Unix(0, start+int64(links))}
			e, body := s.Entry()
			e.Hop = []string{span.Router, span.Router, span.Agent, span.Agent}[i]
			r.Append(e, body)
		}
		count(t, r.tree())
	})
}
