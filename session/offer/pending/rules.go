package pending

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Script answers questions with what was prepared for them: by rules, of which the first that fits answers, any number of times;
// then by answers, one to a question in their order, of which a last accept, decline or cancel goes on.
type Script struct {
	// Set by Add, before the first question.
	rules   []condition
	answers []prepared

	mu   sync.Mutex // guards used
	used int        // the answers before this one were given
}

// prepared is an action, or an object.
type prepared struct {
	action string          // Accept, Decline or Cancel; "" where object is set
	object json.RawMessage // of a form its content, of anything else the whole result
}

// condition is a rule: what of it is empty fits all questions.
type condition struct {
	kind    string   // one of ruleKinds
	server  string   // its name, or its title
	message string   // part of what the server says, in lower case
	fields  []string // that the form has
	answer  prepared
}

// ruleKinds are what a rule's kind may be.
var ruleKinds = []string{"elicitation", string(Form), string(URL), string(Sampling)}

// Add appends what was prepared: one of the actions, a JSON object, or a JSON array of rules. A rule is an object with an answer
// (an action or an object) and any of kind, server, message and fields. The error says what is wrong with it.
func (s *Script) Add(raw []byte) error {
	raw = []byte(strings.TrimSpace(string(raw)))
	if len(raw) == 0 || raw[0] != '[' {
		p, err := prepare(raw)
		if err == nil {
			s.answers = append(s.answers, p)
		}
		return err
	}
	if err := jsonrpc.Valid(raw); err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	var bad error
	n := 0
	err := jsonrpc.Elements(raw, func(rule []byte) bool {
		n++
		c, err := conditionOf(rule)
		if err != nil {
			bad = fmt.Errorf("rule %d: %w", n, err)
			return false
		}
		s.rules = append(s.rules, c)
		return true
	})
	if bad == nil {
		bad = err
	}
	return bad
}

// prepare reads an action or an object.
func prepare(raw []byte) (prepared, error) {
	switch word := string(raw); {
	case slices.Contains([]string{Accept, Decline, Cancel}, word):
		return prepared{action: word}, nil
	case word == "" || word[0] != '{':
		return prepared{}, fmt.Errorf("%q is not accept, decline, cancel or a JSON object", text.Clip(word, 60))
	}
	if err := jsonrpc.Valid(raw); err != nil {
		return prepared{}, fmt.Errorf("not a valid JSON object: %w", err)
	}
	return prepared{object: raw}, nil
}

// conditionOf reads one rule. A key that it does not know is an error: the rule would fit more than its writer meant.
func conditionOf(rule []byte) (c condition, err error) {
	answered := false
	walked := jsonrpc.Members(rule, func(key string, value []byte) bool {
		word, isText := jsonrpc.String(value)
		switch key {
		case "kind":
			if c.kind = word; !slices.Contains(ruleKinds, word) {
				err = fmt.Errorf("kind is %s, and must be one of %s", text.Clip(string(value), 60), strings.Join(ruleKinds, ", "))
			}
		case "server":
			c.server = word
		case "message":
			c.message = strings.ToLower(word)
		case "fields":
			isText = jsonrpc.Elements(value, func(name []byte) bool {
				field, ok := jsonrpc.String(name)
				c.fields = append(c.fields, field)
				return ok
			}) == nil && len(c.fields) > 0 && !slices.Contains(c.fields, "")
		case "answer":
			if !isText {
				word = string(value)
			}
			answered, isText = true, true
			if c.answer, err = prepare([]byte(word)); err != nil {
				err = fmt.Errorf("answer: %w", err)
			}
		default:
			err = fmt.Errorf("unknown key %q; the keys are kind, server, message, fields and answer", text.Clip(key, 60))
		}
		if err == nil && !isText {
			err = fmt.Errorf("%s is %s, which is not a text (fields: a list of names)", key, text.Clip(string(value), 60))
		}
		return err == nil
	})
	switch {
	case walked != nil:
		return c, fmt.Errorf("not an object: %w", walked)
	case err == nil && !answered:
		err = fmt.Errorf("it has no answer")
	}
	return c, err
}

// covers reports whether anything that was prepared can answer a question of a kind.
func (s *Script) covers(k Kind) bool {
	answers := func(p prepared) bool { return k != Sampling || p.action != Accept } // there are no defaults to accept
	return slices.ContainsFunc(s.answers, answers) || slices.ContainsFunc(s.rules, func(c condition) bool { return c.isFor(k) && answers(c.answer) })
}

// Name says in lists who answered.
func (s *Script) Name() string { return "a prepared answer" }

// Answer implements Rule. What was prepared and does not fit is used up, and said in fault.
func (s *Script) Answer(_ context.Context, q Question) (result json.RawMessage, fault *jsonrpc.Error, ok bool) {
	for _, c := range s.rules {
		if c.fits(q) {
			return c.answer.answerTo(q)
		}
	}
	s.mu.Lock()
	i := s.used
	if i < len(s.answers) && (i < len(s.answers)-1 || s.answers[i].action == "") {
		s.used++
	}
	s.mu.Unlock()
	switch {
	case i < len(s.answers):
		return s.answers[i].answerTo(q)
	case i > 0:
		return nil, errUnfit("the prepared answers are used up: %d", i), false
	}
	return nil, errUnfit("no rule fits it"), false
}

// errUnfit says why what was prepared does not answer a question.
func errUnfit(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf(format, args...)}
}

// answerTo is the answer as a result of q.
func (p prepared) answerTo(q Question) (result json.RawMessage, fault *jsonrpc.Error, ok bool) {
	switch {
	case p.object != nil && q.Kind == Form:
		return AcceptResult(p.object), nil, true
	case p.object != nil:
		return p.object, nil, true
	case p.action != Accept && (q.Kind == Form || q.Kind == URL):
		return ActionResult(p.action), nil, true
	case p.action != Accept:
		return nil, &jsonrpc.Error{Code: CodeDeclined, Message: "User rejected the request"}, true
	case q.Kind == Form:
		content, missing := Defaults(q.Schema())
		if len(missing) > 0 {
			return nil, errUnfit("these required fields have no default: %s", joinClipped(missing)), false
		}
		return AcceptResult(content), nil, true
	case q.Kind == URL:
		if page := PageOf(jsonrpc.GetString(q.Params, "url")); page.Refused != nil {
			return nil, errUnfit("the page must not be opened: %s", page.Refused), false
		}
		return ActionResult(Accept), nil, true
	}
	return nil, errUnfit("%s has no defaults to accept: it takes a whole result", text.Clip(q.Method, 100)), false
}

// joinClipped lists names in a line, however many a server has thought of.
func joinClipped(names []string) string {
	const most = 20
	list := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return text.Clip(list, 1000)
}

// isFor reports whether the rule is for questions of a kind.
func (c *condition) isFor(k Kind) bool {
	return c.kind == "" || c.kind == string(k) || c.kind == "elicitation" && (k == Form || k == URL)
}

// fits reports whether a question is what the rule says, in all that it says.
func (c *condition) fits(q Question) bool {
	if !c.isFor(q.Kind) {
		return false
	}
	if c.server != "" && c.server != q.Server && c.server != q.Title || c.message != "" && !c.containsMessage(q) {
		return false
	}
	for _, name := range c.fields {
		if jsonrpc.Get(q.Schema(), "properties", name) == nil {
			return false
		}
	}
	return true
}

// containsMessage looks for the rule's message in the question's, or in the conversation of a sampling request.
func (c *condition) containsMessage(q Question) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), c.message) }
	if q.Kind != Sampling {
		return has(q.Message())
	}
	found := has(jsonrpc.GetString(q.Params, "systemPrompt"))
	block := func(b []byte) bool {
		found = found || has(jsonrpc.GetString(b, "text"))
		return !found
	}
	_ = jsonrpc.Elements(jsonrpc.Get(q.Params, "messages"), func(m []byte) bool { // anything else says nothing
		content := jsonrpc.Get(m, "content")
		if jsonrpc.Elements(content, block) != nil {
			block(content)
		}
		return !found
	})
	return found
}
