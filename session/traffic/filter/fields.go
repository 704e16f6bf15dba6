package filter

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// A field is what can stand before a colon.
type field struct {
	key    string
	about  string   // for completion
	values []string // all that there are, for completion; nil where the journal says which
	reads  bool     // its condition reads bodies
	parse  func(*parser) (condition, error)
}

// kinds are the words of kind:, the short ones first.
var kinds = []string{"req", "res", "err", "note", "stderr", "bad", "http", "state", "span"}

// kindOf are all spellings.
func kindOf(word string) (journal.Kind, bool) {
	if i := slices.Index(kinds, word); i >= 0 {
		return [...]journal.Kind{
			journal.Request, journal.Response, journal.ErrorResponse, journal.Notification,
			journal.Stderr, journal.Bad, journal.HTTP, journal.State, journal.Span,
		}[i], true
	}
	for k := journal.Request; k <= journal.Span; k++ {
		if k.String() == word {
			return k, true
		}
	}
	return 0, false
}

// fields are the keys, in the order in which they are offered.
var fields = []field{
	{key: "method", about: "method of the frame or of what it answers", parse: textOf(func(e *journal.Entry) string { return e.Method })},
	{key: "tool", about: "tool or prompt name, or resource URI", parse: textOf(func(e *journal.Entry) string { return e.Tool })},
	{
		key: "status", about: "how it ended, and what is odd about it", values: statuses,
		parse: choice("status", statuses, statusOf, func(set []status, e *journal.Entry) bool {
			return slices.ContainsFunc(set, func(s status) bool { return s.status != "" && s.status == e.Status || s.mark&e.Mark != 0 })
		}),
	},
	{key: "kind", about: "what the entry is", values: kinds, parse: choice("kind", kinds, kindOf,
		func(set []journal.Kind, e *journal.Entry) bool { return slices.Contains(set, e.Kind) })},
	{
		key: "dir", about: "direction, seen from the client", values: []string{"in", "out"},
		parse: choice("direction", []string{"in", "out"}, dirOf, func(set []journal.Dir, e *journal.Entry) bool { return slices.Contains(set, e.Dir) }),
	},
	{key: "server", about: "server's name or title", parse: serverOf},
	{key: "id", about: "id of the request", parse: idOf},
	{key: "text", about: "text, or /regexp/, of the body", reads: true, parse: bodyOf},
	{key: "hop", about: "who recorded it: router, agent, server", parse: textOf(func(e *journal.Entry) string { return e.Hop })},
	{key: "trace", about: "id of its trace, or how that begins", parse: traceOf},
	{
		key: "mark", about: "whether somebody marked it, or noted something on it", values: []string{"yes", "no"},
		parse: markOf,
	},
	{key: "at", about: "time, or from..to", parse: atOf},
}

func fieldOf(key string) *field {
	for i := range fields {
		if strings.EqualFold(fields[i].key, key) {
			return &fields[i]
		}
	}
	return nil
}

func keyList() string {
	var b strings.Builder
	for i := range fields {
		switch {
		case i == len(fields)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(fields[i].key)
	}
	return b.String()
}

// choice parses a key whose values are a few names; of gives what a name stands for.
func choice[T any](what string, names []string, of func(string) (T, bool), match func([]T, *journal.Entry) bool) func(*parser) (condition, error) {
	expected := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	return func(p *parser) (condition, error) {
		vs, err := p.values(",|", expected)
		if err != nil {
			return nil, err
		}
		set := make([]T, len(vs))
		for i, v := range vs {
			x, ok := of(strings.ToLower(v.text))
			if !ok {
				return nil, p.errorf(v.at, "unknown %s: %s; expected %s", what, clip(v.text), expected)
			}
			set[i] = x
		}
		return func(_ *journal.Journal, e *journal.Entry) bool { return match(set, e) }, nil
	}
}

// statuses are the words of status:.
var statuses = []string{journal.OK, journal.Failed, journal.Pending, journal.Cancelled, journal.Late.String(), journal.Duplicate.String(), journal.Unasked.String()}

// A status is one of the values of Entry.Status, or a mark.
type status struct {
	status string
	mark   journal.Mark
}

func statusOf(word string) (status, bool) {
	switch word {
	case "canceled":
		return status{status: journal.Cancelled}, true
	case journal.OK, journal.Failed, journal.Pending, journal.Cancelled:
		return status{status: word}, true
	}
	for _, m := range []journal.Mark{journal.Late, journal.Duplicate, journal.Unasked} {
		if m.String() == word {
			return status{mark: m}, true
		}
	}
	return status{}, false
}

func dirOf(word string) (journal.Dir, bool) {
	switch word {
	case "in":
		return journal.In, true
	case "out":
		return journal.Out, true
	}
	return journal.None, false
}

// markOf looks for marks and notes.
func markOf(p *parser) (condition, error) {
	vs, err := p.values(",|", "yes or no")
	if err != nil {
		return nil, err
	}
	yes := strings.ToLower(vs[0].text) == "yes"
	if !yes && strings.ToLower(vs[0].text) != "no" || len(vs) > 1 {
		return nil, p.errorf(vs[0].at, "unknown mark: %s; expected yes or no", clip(vs[0].text))
	}
	return func(j *journal.Journal, e *journal.Entry) bool {
		return j != nil && (j.Note(e.Seq) != journal.Note{}) == yes
	}, nil
}

// textOf parses a key whose value is compared with a text of the entry.
func textOf(get func(*journal.Entry) string) func(*parser) (condition, error) {
	return func(p *parser) (condition, error) {
		want, err := p.pattern(",|")
		if err != nil {
			return nil, err
		}
		return func(_ *journal.Journal, e *journal.Entry) bool { return want.in(get(e)) }, nil
	}
}

func serverOf(p *parser) (condition, error) {
	want, err := p.pattern(",|")
	if err != nil {
		return nil, err
	}
	titles := p.o.Titles
	return func(_ *journal.Journal, e *journal.Entry) bool {
		return want.in(e.Server) || len(titles) > 0 && want.in(titles[e.Server])
	}, nil
}

// idOf compares all of an id: 1 is not 10. The quotes of an id that is a string can be left out.
func idOf(p *parser) (condition, error) {
	vs, err := p.values(",|", "an id such as 7")
	if err != nil {
		return nil, err
	}
	return func(_ *journal.Journal, e *journal.Entry) bool {
		id := e.ID
		if n := len(id); n > 1 && id[0] == '"' && id[n-1] == '"' {
			id = id[1 : n-1]
		}
		if id == "" {
			return false
		}
		for i := range vs {
			if v := vs[i].text; v == id || v == e.ID {
				return true
			}
		}
		return false
	}, nil
}

// traceOf compares how ids begin and end: those of one program begin alike.
func traceOf(p *parser) (condition, error) {
	vs, err := p.values(",|", "an id of a trace, or how it begins or ends")
	if err != nil {
		return nil, err
	}
	for i := range vs {
		vs[i].text = strings.ToLower(vs[i].text)
	}
	return func(_ *journal.Journal, e *journal.Entry) bool {
		if e.Trace == "" {
			return false
		}
		for i := range vs {
			if strings.HasPrefix(e.Trace, vs[i].text) || strings.HasSuffix(e.Trace, vs[i].text) {
				return true
			}
		}
		return false
	}, nil
}

// bodyOf looks in the body. One that is gone has nothing in it.
func bodyOf(p *parser) (condition, error) {
	want, err := p.pattern("|")
	if err != nil {
		return nil, err
	}
	want.escape()
	return func(j *journal.Journal, e *journal.Entry) bool {
		if e.Size == 0 || j == nil {
			return false
		}
		body, err := j.Body(e.Seq)
		return err == nil && want.inBody(body)
	}, nil
}
