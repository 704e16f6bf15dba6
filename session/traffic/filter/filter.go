// Package filter is the language in which entries of a journal are selected: words, fields such as method:tools/call,
// bounds such as >100ms, all of which must hold. The manual of session/traffic describes it for users.
package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// SyntaxError is what is wrong with a text that is not a filter.
type SyntaxError struct {
	Col     int    // of the character where it is, from 1 on
	Message string // "unknown status: okay; expected ok, error, …"
	Valid   int    // bytes before the condition that is wrong: they are a filter
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Col, e.Message) }

// Filter is safe for concurrent use. The zero value and nil let everything through.
type Filter struct {
	terms []term // those that read bodies last
	words []string
	reads bool
}

// A term is one condition.
type term struct {
	not   bool
	reads bool // it reads the body
	match condition
}

// A condition is what a term asks of an entry.
type condition func(*journal.Journal, *journal.Entry) bool

// Options change what plain words look at.
type Options struct {
	// Titles are the servers' titles by name; a word finds what a server's title says, and so does server:.
	Titles map[string]string
	// Text is what words look at in place of the row of the traffic: for lists that show something else of an entry.
	Text func(*journal.Journal, *journal.Entry) string
}

// Parse reads a filter. The error is a *[SyntaxError]. The empty text lets everything through.
func Parse(text string) (*Filter, error) { return Options{}.Parse(text) }

// Parse is [Parse] with these options.
func (o Options) Parse(text string) (*Filter, error) {
	p := parser{o: o, s: text}
	if len(text) > maxFilter {
		return nil, p.errorf(maxFilter, "the filter is too long: %d bytes, %d are the limit", len(text), maxFilter)
	}
	f := &Filter{}
	for p.space(); p.i < len(p.s); p.space() {
		if p.start = p.i; len(f.terms) == maxTerms {
			return nil, p.errorf(p.i, "too many conditions: %d are the limit; a text in quotes is looked for as it stands", maxTerms)
		}
		t, err := p.term(f)
		if err != nil {
			return nil, err
		}
		f.terms = append(f.terms, t)
		f.reads = f.reads || t.reads
	}
	slices.SortStableFunc(f.terms, func(a, b term) int {
		switch {
		case a.reads == b.reads:
			return 0
		case b.reads:
			return -1
		}
		return 1
	})
	return f, nil
}

// Empty reports whether the filter lets everything through.
func (f *Filter) Empty() bool { return f == nil || len(f.terms) == 0 }

// Reads reports whether Match reads bodies, which may be large or on disk, so that it does not belong on an event loop.
func (f *Filter) Reads() bool { return f != nil && f.reads }

// Words are the plain words that must occur, for marking them in what is shown.
func (f *Filter) Words() string {
	if f == nil {
		return ""
	}
	return strings.Join(f.words, " ")
}

// Match reports whether an entry passes. It allocates only where it reads a body.
func (f *Filter) Match(j *journal.Journal, e *journal.Entry) bool {
	if f == nil {
		return true
	}
	for i := range f.terms {
		if t := &f.terms[i]; t.match(j, e) == t.not {
			return false
		}
	}
	return true
}

// Finds reports whether an entry has all that the filter asks for, whatever it forbids. With Excludes it selects groups of
// entries: one whose any entry is found, and none excluded.
func (f *Filter) Finds(j *journal.Journal, e *journal.Entry) bool {
	if f == nil {
		return true
	}
	for i := range f.terms {
		if t := &f.terms[i]; !t.not && !t.match(j, e) {
			return false
		}
	}
	return true
}

// Excludes reports whether an entry has something that the filter forbids.
func (f *Filter) Excludes(j *journal.Journal, e *journal.Entry) bool {
	if f == nil {
		return false
	}
	for i := range f.terms {
		if t := &f.terms[i]; t.not && t.match(j, e) {
			return true
		}
	}
	return false
}
