package pending

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxOpen       = 4096      // questions that wait at once
	maxOpenBytes  = 256 << 20 // their params together
	maxEnded      = 200       // questions that are remembered
	maxEndedBytes = 16 << 20  // their params and results together, unless it is one
)

// CodeDeclined is the error by which a person refuses sampling (2025-11-25, client/sampling, "Error Handling").
const CodeDeclined = -1

// Rule answers questions without a person: a script of prepared answers, or a language model. ok is false where it leaves them to the
// next rule, or to a person.
type Rule interface {
	// Name says in lists who answered.
	Name() string
	// Answer may take long, such as a language model; ctx ends with the question. Where ok is false fault may say why.
	Answer(ctx context.Context, q Question) (result json.RawMessage, fault *jsonrpc.Error, ok bool)
}

// Options of a queue. The zero value answers nothing: whatever servers ask is refused at once.
type Options struct {
	// Attended says that a person looks at the queue: what no rule answers waits. Else it is refused at once.
	Attended bool
	// Later says that somebody can answer after the call has ended, which then goes on: servers may ask, though what no rule answers is refused.
	Later bool
	// Rules are asked in their order.
	Rules []Rule
}

// Queue holds the questions of all servers. Its methods are safe for concurrent use; questions and what they hold must not be changed.
//
// Servers may ask without end, so that everything is bounded: the questions that wait by their number and size (maxOpen, maxOpenBytes),
// and those that are remembered (maxEnded, maxEndedBytes). A nil Queue answers nothing, for Answers and Attended.
type Queue struct {
	o   Options
	rev atomic.Uint64

	mu sync.Mutex
	// Guarded by mu. A question is in open from add to remove, and then in ended; one that nobody was there for is in unanswered as well. One that
	// add refuses is in none of them.
	last       uint64              // the ID of the latest question
	open       map[uint64]*waiting // by ID, at most maxOpen
	bytes      int                 // params of open
	ended      []Record            // oldest first, at most maxEnded
	endedBytes int                 // of ended, as Record.size counts them
	unanswered []Record            // the first maxEnded that nobody was there for: those that say what to prepare

	unansweredBytes int // of unanswered
}

// waiting is a question that is open. Whoever puts an answer into its channel first has answered it; the others find it full.
type waiting struct {
	Question
	answer chan answer // cap 1
}

// answer is how a question was answered, and by whom: by a fault, or else by a result.
type answer struct {
	result json.RawMessage
	fault  *jsonrpc.Error
	by     string
}

// New makes a queue.
func New(o Options) *Queue { return &Queue{o: o, open: map[uint64]*waiting{}} }

// Answers reports whether somebody may answer questions of a kind: a person, now or later, or a rule.
func (q *Queue) Answers(k Kind) bool {
	return q != nil && (q.o.Attended || q.o.Later || slices.ContainsFunc(q.o.Rules, func(r Rule) bool {
		s, prepared := r.(*Script)
		return !prepared || s.covers(k)
	}))
}

// Attended reports whether a person answers here.
func (q *Queue) Attended() bool { return q != nil && q.o.Attended }

// Rev grows with every change of Open and History.
func (q *Queue) Rev() uint64 { return q.rev.Load() }

// turnKey finds what InTurn was given.
type turnKey struct{}

// InTurn makes a question that is asked with the context call left when the rules leave it to a person. Whoever asks several asks
// the next one then: prepared answers are for questions in their order.
func InTurn(ctx context.Context, left func()) context.Context {
	return context.WithValue(ctx, turnKey{}, left)
}

// Ask waits until x is answered: by a rule, by a person, or not at all. changed is called when Open has changed. A fault with
// CodeDeclined was chosen by a person, or prepared by one; an end of ctx gives context.Cause(ctx) as err. Any other fault is for the server too: nobody is there,
// or too many questions wait. ID, Kind, At and Deadline of x are set here.
func (q *Queue) Ask(ctx context.Context, x Question, changed func()) (result json.RawMessage, fault *jsonrpc.Error, err error) {
	x.Kind, x.At = KindOf(x.Method, x.Params), time.Now()
	if d, ok := ctx.Deadline(); ok {
		x.Deadline = d
	}
	w := &waiting{Question: x, answer: make(chan answer, 1)}
	if full := q.add(w); full != nil {
		return nil, full, nil
	}
	changed()
	defer changed()
	a, err := q.wait(ctx, w)
	a, err = q.remove(w, a, err)
	return a.result, a.fault, err
}

// wait asks the rules in their order, and then waits for a person, if one is there. The error is why nobody waits for an answer any
// more: the cause of ctx.
func (q *Queue) wait(ctx context.Context, w *waiting) (answer, error) {
	left := "nobody was there to answer"
	for _, r := range q.o.Rules {
		result, fault, ok := r.Answer(ctx, w.Question)
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		if ok {
			return answer{result, fault, r.Name()}, nil
		}
		if fault != nil {
			left = fault.Message
		}
	}
	if !q.o.Attended {
		e := Record{Question: w.Question, Why: left, Over: time.Now()}
		e.cloneParams()
		q.mu.Lock()
		if n := e.size(); len(q.unanswered) == 0 || len(q.unanswered) < maxEnded && q.unansweredBytes+n <= maxEndedBytes {
			q.unanswered = append(q.unanswered, e)
			q.unansweredBytes += n
		}
		q.mu.Unlock()
		return answer{fault: &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "nobody is there to answer " + text.Clip(w.Method, 100)}}, nil
	}
	if left, ok := ctx.Value(turnKey{}).(func()); ok {
		left()
	}
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
}

// add opens a question; the fault is for the server, where too many wait already: each of them holds memory until it is answered.
func (q *Queue) add(w *waiting) *jsonrpc.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open) >= maxOpen || q.bytes+len(w.Params) > maxOpenBytes {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf("too many questions wait for an answer (%d)", len(q.open))}
	}
	q.last++
	w.ID = q.last
	q.open[w.ID] = w
	q.bytes += len(w.Params)
	q.rev.Add(1)
	return nil
}

// remove takes a question out of those that are open, and gives how it ended: an answer that Answer or Decline took counts, whatever
// else came at that moment.
func (q *Queue) remove(w *waiting, a answer, err error) (answer, error) {
	e := Record{Question: w.Question}
	e.cloneParams()
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case a = <-w.answer:
		err = nil
	default:
	}
	e.Result, e.Fault, e.By, e.Over = a.result, a.fault, a.by, time.Now()
	switch {
	case err != nil:
		e.Why = reasonOf(err)
	case a.by == "":
		e.Why = "nobody was there to answer"
	}
	delete(q.open, w.ID)
	q.bytes -= len(w.Params)
	q.ended = append(q.ended, e)
	q.endedBytes += e.size()
	for len(q.ended) > maxEnded || q.endedBytes > maxEndedBytes && len(q.ended) > 1 {
		q.endedBytes -= q.ended[0].size()
		q.ended = slices.Delete(q.ended, 0, 1)
	}
	q.rev.Add(1)
	return a, err
}

// cloneParams makes what is remembered hold its own bytes only, and not the message that they came in.
func (e *Record) cloneParams() { e.Params = bytes.Clone(e.Params) }

// size is how many bytes are remembered of it.
func (e *Record) size() int {
	n := len(e.Params) + len(e.Result)
	for _, x := range e.Earlier {
		n += len(x.Params) + len(x.Result)
	}
	return n
}

// reasonOf says in a line why a question is over that nobody answered.
func reasonOf(err error) string {
	var f *failure.Error
	switch {
	case errors.As(err, &f):
		return f.Message
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "the call timed out"
	}
	return err.Error()
}

// Open lists the questions that wait, oldest first.
func (q *Queue) Open() []Question {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]Question, 0, len(q.open))
	for _, w := range q.open {
		all = append(all, w.Question)
	}
	slices.SortFunc(all, func(a, b Question) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Len is how many questions wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.open)
}

// History lists the latest questions that are over, oldest first.
func (q *Queue) History() []Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.ended)
}

// Unanswered lists questions that were refused because no rule answered them and nobody was there, oldest first.
func (q *Queue) Unanswered() []Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.unanswered)
}

// Answer gives a person's answer: the result, a JSON object, as it is sent. It is an error of kind Usage if that is not one, and of kind
// NotFound if the question is over, with the reason.
func (q *Queue) Answer(id uint64, result json.RawMessage) error {
	if err := jsonrpc.Members(result, func(string, []byte) bool { return true }); err != nil {
		return &failure.Error{Kind: failure.Usage, Stage: "answering", Message: "the answer is not a JSON object: " + err.Error(), Next: "correct it and send it again", Err: err}
	}
	return q.answerQuestion(id, answer{result: result, by: "you"})
}

// Decline refuses a question by an error: elicitation has an action for that, sampling has not. The call that caused the question ends
// with it, or gets what the server makes of the refusal.
func (q *Queue) Decline(id uint64) error {
	return q.answerQuestion(id, answer{fault: &jsonrpc.Error{Code: CodeDeclined, Message: "User rejected the request"}, by: "you"})
}

// answerQuestion hands a person's answer to whoever waits in Ask. The error, of kind NotFound, says why nobody does.
func (q *Queue) answerQuestion(id uint64, a answer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.open[id]; w != nil {
		select {
		case w.answer <- a:
			return nil
		default:
			return errGone("it was answered already")
		}
	}
	for _, e := range slices.Backward(q.ended) {
		if e.ID == id && e.Why != "" {
			return errGone(e.Why)
		}
	}
	return errGone("it was answered already")
}

// errGone is the error of an answer that comes too late.
func errGone(why string) error {
	return &failure.Error{Kind: failure.NotFound, Stage: "answering", Message: "nobody waits for this answer any more: " + why, Next: "call again if it is still wanted"}
}

// Complete takes notifications/elicitation/complete of a server: the page of a URL was visited. A question about it that is open is accepted by that, and one
// that is over is marked. Only the server that asked can say so; one page may be asked about more than once.
func (q *Queue) Complete(server string, params []byte) {
	id := jsonrpc.GetString(params, "elicitationId")
	if id == "" {
		return
	}
	is := func(x *Question) bool {
		return x.Server == server && x.Kind == URL && jsonrpc.GetString(x.Params, "elicitationId") == id
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.open {
		if is(&w.Question) {
			select {
			case w.answer <- answer{result: ActionResult("accept"), by: w.Title}:
			default:
			}
		}
	}
	for i := range q.ended {
		if is(&q.ended[i].Question) {
			q.ended[i].Completed = true
			q.rev.Add(1)
		}
	}
}
