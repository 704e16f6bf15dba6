// Package pending keeps what servers wait for somebody here to answer: elicitation and sampling, as requests of the legacy era or
// as input_required rounds of the modern one. Rules answer first; what no rule answers waits for a person, if there is one.
//
// A question is bounded in number and size (maxOpen, maxOpenBytes), and those that ended are listed with how they ended, such as withdrawn because the call
// timed out. Answers are never saved, and what is secret by its name or schema is hidden once it was sent.
package pending
