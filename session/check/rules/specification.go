package rules

import (
	"slices"
	"sync"
)

// Site is where the specification is published.
const Site = "https://modelcontextprotocol.io/specification/"

// specification is specification.yaml.
type specification struct {
	Revisions []string                     `json:"revisions"` // the oldest first
	Parts     map[string]map[string]string `json:"parts"`     // the path of a part, by its name and the revision from which on it is there
}

var published = sync.OnceValue(func() *specification {
	s := &specification{}
	decode("specification", s)
	return s
})

// path is where a part is in a revision: the path that it has had since the newest revision not after that one.
func (s *specification) path(part, revision string) string {
	moves, ok := s.Parts[part]
	if !ok {
		return part // it never moved
	}
	at := ""
	for _, r := range s.Revisions {
		if moved := moves[r]; moved != "" && r <= revision {
			at = moved
		}
	}
	return at
}

// Revisions are those of the specification, the oldest first.
func Revisions() []string { return slices.Clone(published().Revisions) }

// Revisions are those that have the rule, the oldest first.
func (r *Rule) Revisions() []string {
	return slices.DeleteFunc(Revisions(), func(revision string) bool { return !r.In(revision) })
}

// Link is the URL of the part of the specification that says so, in the text of that revision; where the revision does not have the rule, in the
// newest that does. A rule that rests on another document has its Source.
func (r *Rule) Link(revision string) string {
	if r.Spec == "" {
		return r.Source
	}
	if own := r.Revisions(); !slices.Contains(own, revision) {
		revision = own[len(own)-1]
	}
	return Site + revision + "/" + published().path(r.Spec, revision)
}
