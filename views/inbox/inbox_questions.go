package inbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
)

// questions are what servers wait for, as the screens show it: a snapshot of the queue, and what was typed for each.
type questions struct {
	of     *pending.Queue
	seen   uint64 // revision of the queue
	open   []pending.Question
	ended  []pending.Record // newest first
	given  map[uint64]bool  // answered here; the queue may not know it yet
	drafts map[uint64]*answerDraft
	newest uint64 // the last id that was seen
	rev    int    // counts what changed
}

// NewQuestions is an empty snapshot, which the screens of questions share.
func NewQuestions() *questions {
	return &questions{seen: ^uint64(0), given: map[uint64]bool{}, drafts: map[uint64]*answerDraft{}}
}

// refresh takes a new snapshot and tells which questions are new; changed is false if nothing is.
func (s *questions) refresh(c *tui.Ctx) (arrived []pending.Question, changed bool) {
	if s.of == nil && c.Sessions != nil {
		s.of = c.Sessions.Pending()
	}
	if s.of == nil || s.of.Rev() == s.seen {
		return nil, false
	}
	s.seen = s.of.Rev() // before the lists: what changes meanwhile is seen the next time
	all := s.of.Open()
	s.ended = s.of.History()
	slices.Reverse(s.ended)
	waits := map[uint64]bool{}
	s.open = s.open[:0:0]
	for _, q := range all {
		waits[q.ID] = true
		if !s.given[q.ID] {
			s.open = append(s.open, q)
		}
		if q.ID > s.newest {
			s.newest = q.ID
			arrived = append(arrived, q)
		}
	}
	for id := range s.given {
		if !waits[id] {
			delete(s.given, id)
		}
	}
	for id := range s.drafts { // what was typed for a question that ended can still be copied while it is remembered
		if !waits[id] && !slices.ContainsFunc(s.ended, func(e pending.Record) bool { return e.ID == id }) {
			delete(s.drafts, id)
		}
	}
	s.rev++
	return arrived, true
}

// find is a question by its id; open says that it still waits.
func (s *questions) find(id uint64) (e pending.Record, open, ok bool) {
	if i, ok := slices.BinarySearchFunc(s.open, id, func(q pending.Question, id uint64) int { return cmp.Compare(q.ID, id) }); ok {
		return pending.Record{Question: s.open[i]}, true, true
	}
	for _, e := range s.ended {
		if e.ID == id {
			return e, false, true
		}
	}
	return pending.Record{}, false, false
}

// oldest is the question that waits longest, 0 if none does.
func (s *questions) oldest() uint64 {
	if len(s.open) == 0 {
		return 0
	}
	return s.open[0].ID
}

// OfCall is the oldest question that a running call caused, 0 if there is none. One whose cause is not known may belong to any call of
// the server.
func (s *questions) OfCall(server, target string) uint64 {
	for _, q := range s.open {
		if q.Server == server && (q.Cause.Method == "" || q.Cause.Target == target) {
			return q.ID
		}
	}
	return 0
}

// give answers a question as it is sent.
func (s *questions) give(c *tui.Ctx, q pending.Question, result json.RawMessage) tea.Cmd {
	return s.gave(c, q, s.of.Answer(q.ID, result))
}

// decline refuses to answer: elicitation has an action for it, sampling an error.
func (s *questions) decline(c *tui.Ctx, q pending.Question) tea.Cmd {
	if q.Kind == pending.Sampling {
		return s.gave(c, q, s.of.Decline(q.ID))
	}
	return s.give(c, q, pending.ActionResult(pending.Decline))
}

func (s *questions) gave(c *tui.Ctx, q pending.Question, err error) tea.Cmd {
	if err != nil {
		return c.Toast(tui.Warning, err.Error())
	}
	s.gone(q.ID)
	return func() tea.Msg { return questionsChanged{} }
}

// questionsChanged says that a question was answered here.
type questionsChanged struct{}

// cannotCancel is why a question cannot be cancelled.
func cannotCancel(q pending.Question) string {
	if q.Kind == pending.Sampling {
		return "sampling cannot be cancelled by its answer; decline it"
	}
	return ""
}

// gone takes a question that was answered here off the list.
func (s *questions) gone(id uint64) {
	s.given[id] = true
	s.open = slices.DeleteFunc(slices.Clone(s.open), func(q pending.Question) bool { return q.ID == id })
	delete(s.drafts, id)
	s.rev++
}

// kindMark is a kind of question in a glyph and a word.
func kindMark(k pending.Kind) string {
	switch k {
	case pending.Form:
		return "✎ elicitation"
	case pending.URL:
		return "↗ elicitation (URL)"
	case pending.Sampling:
		return "✦ sampling"
	}
	return "? request"
}

// outcome is how a question ended, in a glyph and words.
func outcome(th *tui.Theme, e pending.Record) (string, paint.Style) {
	by := ""
	if e.By != "" && e.By != "you" {
		by = " by " + e.By
	}
	switch {
	case e.Why == "" && e.Result == nil && e.Fault == nil:
		return "→ sent", th.Muted
	case e.Why != "":
		return "⊘ withdrawn: " + e.Why, th.Warn
	case e.Fault != nil:
		return "✗ declined" + by, th.Warn
	case e.Kind != pending.Form && e.Kind != pending.URL:
		return "✓ answered" + by, th.OK
	}
	switch action := jsonrpc.GetString(e.Result, "action"); action {
	case pending.Accept:
		if e.Completed {
			by += "; the server says it is done"
		}
		return "✓ accepted" + by, th.OK
	case pending.Decline:
		return "✗ declined" + by, th.Warn
	case pending.Cancel:
		return "⊘ cancelled" + by, th.Muted
	}
	return "✓ answered" + by, th.OK
}

// ago is how long something has waited, short.
func ago(t time.Time) string {
	d := time.Since(t)
	if d < time.Minute {
		return text.Duration(max(d, 0).Truncate(time.Second))
	}
	return strings.TrimSuffix(text.Duration(d.Truncate(time.Minute)), "0s")
}

// cause is the call that made a server ask, "" if it is not known.
func cause(q pending.Question) string {
	if q.Cause.Method == "" {
		return ""
	}
	if q.Cause.Target == "" {
		return q.Cause.Method
	}
	return q.Cause.Method + " " + q.Cause.Target
}

// maskedAnswer hides in an answer the values of fields whose name or schema says that they are secret.
func maskedAnswer(q pending.Question) func([]byte) []byte {
	return func(result []byte) []byte {
		var hide []jsonrpc.Change
		fields := jsonrpc.Get(q.Schema(), "properties")
		_ = jsonrpc.Members(jsonrpc.Get(result, "content"), func(name string, v []byte) bool { // no object: nothing to hide
			f := jsonrpc.Get(fields, name)
			if mask.Secret(name) || jsonrpc.GetString(f, "format") == "password" || string(jsonrpc.Get(f, "writeOnly")) == "true" {
				hide = append(hide, jsonrpc.Replace(jsonrpc.Quote(mask.Hidden), "content", name))
			}
			return true
		})
		if hide == nil {
			return result
		}
		out, err := jsonrpc.Update(result, hide...)
		if err != nil {
			return jsonrpc.Quote(mask.Hidden)
		}
		return out
	}
}
