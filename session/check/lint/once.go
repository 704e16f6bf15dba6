package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// tally is what most tools of a server have, or none: one finding names them all.
type tally struct {
	all      int      // tools with a name
	untitled []string // names of those without a title, cut
	unhinted []string // of those that say neither that they read nor that they destroy
	large    []large  // of those beyond smallest
}

// large is a tool with a schema that some client may find too large.
type large struct {
	name  string
	bytes int // as compact writes it
}

// smallest is the least number of bytes that a client has as a limit of a schema: only schemas beyond it are written anew to be counted.
const smallest = 16_384

// take counts a tool. A member of the wrong type is there; that it is wrong is a finding of its own.
func (t *tally) take(it offer.Item, v *schema.Value) {
	if it.Name == "" {
		return
	}
	t.all++
	name, hints := text.Clip(it.Name, 60), v.Get("annotations")
	if blank(v.Get("title")) && blank(hints.Get("title")) {
		t.untitled = append(t.untitled, name)
	}
	if !hints.Get("readOnlyHint").IsSet() && !hints.Get("destructiveHint").IsSet() {
		t.unhinted = append(t.unhinted, name)
	}
	if n := len(it.InputSchema); n > smallest { // written anew it is hardly ever longer than it was sent
		t.large = append(t.large, large{name, compact(it.InputSchema)})
	}
}

// blank reports whether a text is not there, or has nothing to read.
func blank(v *schema.Value) bool {
	return !v.IsSet() || v.Kind() == schema.String && strings.TrimSpace(v.Text()) == ""
}

// compact is how many bytes a client has of a schema that it parsed and writes again: without blanks, and without escapes that are not needed.
func compact(raw []byte) int {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return len(raw)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b.Bytes()))
	d.UseNumber()
	if !bytes.Contains(raw, []byte(`\`)) || d.Decode(&v) != nil {
		return b.Len()
	}
	b.Reset()
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return len(raw)
	}
	return b.Len() - 1 // its line end
}

// once reports what was taken in, one finding for each rule.
func (e *examiner) once() {
	t := &e.tools
	e.at(check.Place{Kind: check.OfServer})
	say := func(id string, names []string) {
		if len(names) > 0 {
			e.add(id, found{message: fmt.Sprintf("%d of %d tools: %s", len(names), t.all, some(names)), evidence: strings.Join(names, "\n")})
		}
	}
	say("lint/title-missing", t.untitled)
	say("lint/hints-missing", t.unhinted)
	for _, l := range limits {
		if l.about != ofSchema {
			continue
		}
		var over []string
		for _, s := range t.large {
			if s.bytes > l.most {
				over = append(over, fmt.Sprintf("%s %d", s.name, s.bytes))
			}
		}
		if len(over) == 0 {
			continue
		}
		sev := check.Warning
		if l.errs {
			sev = check.Error
		}
		e.add("lint/schema-too-large", found{
			key: l.client, severity: &sev, clients: []string{l.client}, evidence: "source: " + l.source + ", read " + l.read + "\n" + strings.Join(over, "\n"),
			message: fmt.Sprintf("%d of %d tools, by bytes of inputSchema: %s; %s takes %d: ", len(over), t.all, some(over), title(l.client), l.most) + l.then,
		})
	}
}
