package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxExamples = 3   // of one reason
	maxReasons  = 50  // of one tool
	maxExample  = 400 // bytes
)

// evidence checks the arguments of recorded calls against what a server takes now. Of a call nothing is kept but its example.
type evidence struct {
	server, own string             // our name for it, and its own
	targets     map[string]*target // by method and name, of what it has and what the lock has
	mine, all   tallies            // of calls to servers of that name, and of all
	total       evidenceTotal
	records     Records
}

// tallies are by method and name. once tells the calls that were counted here, which differ: one of two records of a call may name the server.
type tallies struct {
	of      map[string]*tally
	unknown int // calls of what is neither in the server's lists nor in the lock
	once    Once
}

// evidenceTotal are the numbers of it: of the calls that name the server if there are any, else of all.
type evidenceTotal struct {
	Files   int  `json:"files"`
	Calls   int  `json:"calls"`   // of tools and prompts that the server has or had
	Refused int  `json:"refused"` // that would be refused now, and were not before
	Already int  `json:"already"` // that the lock refuses as well
	Unknown int  `json:"unknown"` // of tools that it never had
	Broken  int  `json:"broken"`  // lines or files that could not be read
	named   bool // there are calls that name the server
}

// target is a tool or prompt that can be called.
type target struct {
	kind     offer.Kind
	name     string
	now, was *schema.Schema // nil for one that is not there
	hide     mask.Rule      // what is secret in its arguments, by the schema of now if there is one
}

// tally is what became of the calls of one target.
type tally struct {
	calls, refused, already int                // refused does not count already
	reasons                 map[string]*reason // by message, at most maxReasons and one for all others
}

// reason is why calls of one target would be refused.
type reason struct {
	message  string
	n        int      // calls
	examples []string // arguments as JSON without secrets, different ones
}

func newEvidence(was, now *Contract, server, own string) *evidence {
	e := &evidence{server: server, own: own, targets: map[string]*target{}, mine: tallies{of: map[string]*tally{}}, all: tallies{of: map[string]*tally{}}}
	e.records.Call = e.call
	add := func(c *Contract, set func(*target, *schema.Schema)) {
		if c == nil {
			return
		}
		for _, k := range []offer.Kind{offer.Tools, offer.Prompts} {
			for name, def := range c.Lists[k] {
				method := callMethod
				if k == offer.Prompts {
					method = getMethod
				}
				t := e.targets[method+" "+name]
				if t == nil {
					t = &target{kind: k, name: name}
					e.targets[method+" "+name] = t
				}
				raw := arguments(k, def)
				set(t, schema.Parse(raw))
				t.hide = mask.RuleOf(raw)
			}
		}
	}
	add(was, func(t *target, s *schema.Schema) { t.was = s })
	add(now, func(t *target, s *schema.Schema) { t.now = s })
	return e
}

// arguments is the schema of what a tool or prompt takes. A tool without one takes anything.
func arguments(k offer.Kind, def string) []byte {
	if k == offer.Tools {
		if s := jsonrpc.Get([]byte(def), "inputSchema"); s != nil {
			return s
		}
		return []byte("true")
	}
	var args []schema.Argument
	_ = jsonrpc.Elements(jsonrpc.Get([]byte(def), "arguments"), func(a []byte) bool { // canonical JSON
		args = append(args, schema.Argument{Name: jsonrpc.GetString(a, "name"), Required: string(jsonrpc.Get(a, "required")) == "true"})
		return true
	})
	return schema.FromArguments(args).Raw()
}

// call takes in one call: one that would be refused now counts as already refused where the lock has the target too and refuses it as well.
func (e *evidence) call(c Recorded) {
	again := e.all.once.Again(&c)
	key, args := c.Method+" "+clean(c.Name), c.Arguments
	// Records of one call may have other names for the server: it is one of both kinds once.
	own := c.Server != "" && (c.Server == e.server || c.Server == e.own) && !e.mine.once.Again(&c)
	if again && !own {
		return
	}
	t := e.targets[key]
	if t == nil {
		if c.Method != callMethod && c.Method != getMethod {
			return
		}
		if !again {
			e.all.unknown++
		}
		if own {
			e.mine.unknown++
		}
		return
	}
	if args == nil {
		args = []byte("{}")
	}
	message := t.refuses(args)
	already := message != "" && t.was != nil && t.now != nil && firstProblem(t.was, args) != ""
	if !again {
		e.all.add(key, t, message, already, args)
	}
	if own {
		e.mine.add(key, t, message, already, args)
	}
}

func (s *tallies) add(key string, t *target, message string, already bool, args []byte) {
	y := s.of[key]
	if y == nil {
		y = &tally{reasons: map[string]*reason{}}
		s.of[key] = y
	}
	y.add(t, message, already, args)
}

// add counts one call. message is why it would be refused now, "" if it would not; already that the lock refuses it too.
func (y *tally) add(t *target, message string, already bool, args []byte) {
	y.calls++
	switch {
	case message == "":
		return
	case already:
		y.already++
		return
	}
	y.refused++
	r := y.reasons[message]
	if r == nil {
		if len(y.reasons) >= maxReasons {
			message = "further reasons"
		}
		if r = y.reasons[message]; r == nil {
			r = &reason{message: message}
			y.reasons[message] = r
		}
	}
	if r.n++; len(r.examples) < maxExamples {
		shown, _ := t.hide.Hide(args)
		if example := text.Clip(string(shown), maxExample); !slices.Contains(r.examples, example) {
			r.examples = append(r.examples, example)
		}
	}
}

// refuses is why a call would be refused now, "" if it would not.
func (t *target) refuses(args []byte) string {
	if t.now == nil {
		if t.kind == offer.Prompts {
			return "the prompt was removed"
		}
		return "the tool was removed"
	}
	return firstProblem(t.now, args)
}

// firstProblem is the first thing that is wrong with arguments, without the numbers of items, so that calls with the same fault have one reason; ""
// for nothing. Of what was hidden when the call was recorded nobody knows whether it fits.
func firstProblem(s *schema.Schema, args []byte) string {
	problems, _ := s.ValidateJSON(args)
	problems = schema.Certain(problems, args, mask.Unknown)
	if len(problems) == 0 {
		return ""
	}
	p := problems[0]
	path, _ := schema.SplitPointer(p.Pointer)
	name := ""
	for _, tok := range path {
		switch {
		case strings.Trim(tok, "0123456789") == "" && tok != "":
			name += "[]"
		case name == "":
			name = tok
		default:
			name += "." + tok
		}
	}
	if name == "" {
		return p.Message
	}
	return "`" + text.Clip(name, 100) + "` " + p.Message
}

// report adds the findings, and returns the numbers.
func (e *evidence) report(r *check.Recorder) evidenceTotal {
	e.total.Files, e.total.Broken = e.records.Files, e.records.Broken
	from := &e.all
	if len(e.mine.of) > 0 || e.mine.unknown > 0 {
		from, e.total.named = &e.mine, true
	}
	e.total.Unknown = from.unknown
	for _, key := range slices.Sorted(maps.Keys(from.of)) {
		y, t := from.of[key], e.targets[key]
		e.total.Calls += y.calls
		e.total.Refused += y.refused
		e.total.Already += y.already
		at := place(t.kind, t.name, "")
		if t.kind == offer.Tools && t.now != nil {
			at.Pointer = "/inputSchema"
		}
		for _, message := range slices.Sorted(maps.Keys(y.reasons)) {
			why := y.reasons[message]
			now := "now "
			if t.was == nil {
				now = "" // nobody knows what was before
			}
			r.Add("contract/recorded-calls-refused", check.Finding{
				Place: at, Key: message, Message: fmt.Sprintf("%d of %d recorded calls would %sbe refused: %s", why.n, y.calls, now, why.message), Evidence: strings.Join(why.examples, "\n"),
			})
		}
	}
	return e.total
}

// notes are the numbers in words, for people.
func (t evidenceTotal) notes() (out []string) {
	line := fmt.Sprintf("checked %d recorded calls: %d would be refused", t.Calls, t.Refused)
	if t.Already > 0 {
		line += fmt.Sprintf(", and %d that the lock refuses too", t.Already)
	}
	out = append(out, line)
	if t.Unknown > 0 {
		out = append(out, fmt.Sprintf("%d calls are of tools that the server never had, by the lock", t.Unknown))
	}
	if t.Calls > 0 && !t.named {
		out = append(out, "no recorded call names this server: those of tools with the same names were checked")
	}
	if t.Broken > 0 {
		out = append(out, fmt.Sprintf("%d lines or files could not be read", t.Broken))
	}
	return out
}
