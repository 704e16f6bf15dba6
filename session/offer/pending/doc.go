// Package pending keeps what servers wait for somebody here to answer: elicitation and sampling, as requests of the legacy era or
// as input_required rounds of the modern one. Rules answer first; what no rule answers waits for a person, if there is one.
package pending
