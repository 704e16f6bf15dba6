// Package pending keeps what servers wait for somebody here to answer: elicitation and sampling, as requests of the legacy era or
// as input_required rounds of the modern one. Rules answer first; what no rule answers waits for a person, if there is one.
//
// A question is bounded in number and size (maxOpen, maxOpenBytes), and those that ended are listed with how they ended, such as withdrawn because the call
// timed out. Answers are never saved. They are kept in memory as they were sent, with what is secret in them: whoever lists Ended hides that.
//
//	q := pending.New(pending.Options{Attended: true, Rules: []pending.Rule{script}})
//	result, fault, err := q.Ask(ctx, question, changed) // the session, which waits
//	for _, x := range q.Open() {                        // whoever shows them
//		err := q.Answer(x.ID, pending.AcceptResult(content))
//	}
//
// Specification: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation and
// https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
package pending
