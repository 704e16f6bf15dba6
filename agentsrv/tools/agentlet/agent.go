package agentlet

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Scheme is the beginning of the URIs of agents.
const Scheme = "agentlet://"

// Agent is one agent.
type Agent struct {
	FullName     string          `json:"fully_qualified_name"` // system/NAME or user/USER/NAME
	URI          string          `json:"uri"`                  // agentlet:// and the full name
	Name         string          `json:"name"`
	User         string          `json:"user_id,omitempty"` // who made it, "" for system agents
	Description  string          `json:"description"`       // its system prompt
	OutputSchema json.RawMessage `json:"output_schema"`
	Tools        []string        `json:"tools"`                // names of the tools that it may use
	Aliases      []string        `json:"aliases,omitempty"`    // other names of a system agent
	Extract      string          `json:"extract,omitempty"`    // how a system agent answers without a model, "" if it cannot
	Prefer       string          `json:"prefer,omitempty"`     // part of the knowledge base that it quotes first
	Created      string          `json:"created_at,omitempty"` // RFC 3339, UTC

	compile sync.Once
	schema  *outputSchema
	invalid error
}

// setNames sets the names that follow from user and name.
func (a *Agent) setNames() *Agent {
	a.FullName = "system/" + a.Name
	if a.User != "" {
		a.FullName = "user/" + a.User + "/" + a.Name
	}
	a.URI = Scheme + a.FullName
	if a.Tools == nil {
		a.Tools = []string{}
	}
	return a
}

// check says why a JSON text is not an answer of this agent; nil if it is one.
func (a *Agent) check(raw []byte) error {
	a.compile.Do(func() { a.schema, a.invalid = compileSchema(a.OutputSchema) })
	if a.invalid != nil {
		return a.invalid
	}
	return a.schema.check(raw)
}

// answersInWords reports whether the agent's answers have a text under "answer".
func (a *Agent) answersInWords() bool {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	return json.Unmarshal(a.OutputSchema, &s) == nil && s.Properties["answer"].Type == "string"
}

// Names of agents and users are such that they need no escaping in a URI.
const (
	namePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
	userPattern = `^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`
)

var (
	validName = regexp.MustCompile(namePattern)
	validUser = regexp.MustCompile(userPattern)
)

// reference is what a caller calls an agent.
type reference struct {
	system bool   // system/NAME
	user   string // user/USER/NAME
	name   string // alone: a system agent, else one of the caller's
}

// forms is how an agent may be called, for messages.
const forms = "write NAME, system/NAME or user/USER/NAME, with or without " + Scheme + " before it"

// parseReference takes every form of forms, with the segments percent-encoded or not; false if it is none.
func parseReference(s string) (reference, bool) {
	s = strings.TrimPrefix(s, Scheme)
	if len(s) > 1000 {
		return reference{}, false
	}
	// A client that expands {uri} instead of {+uri} encodes the slashes too.
	s, err := url.PathUnescape(s)
	if err != nil {
		return reference{}, false
	}
	parts := strings.Split(s, "/")
	ref := reference{name: parts[len(parts)-1]}
	switch {
	case len(parts) == 1:
	case len(parts) == 2 && parts[0] == "system":
		ref.system = true
	case len(parts) == 3 && parts[0] == "user" && validUser.MatchString(parts[1]):
		ref.user = parts[1]
	default:
		return reference{}, false
	}
	return ref, validName.MatchString(ref.name)
}
