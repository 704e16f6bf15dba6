package config

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// Published says who published a description that a server was made from. All of it is what that description or a registry says.
type Published struct {
	Name       string   `json:"name"` // NAMESPACE/NAME
	Version    string   `json:"version,omitempty"`
	Registry   string   `json:"registry,omitempty"` // URL; "" for a file
	Status     string   `json:"status,omitempty"`   // active, deprecated, deleted; "" if nothing is known
	Message    string   `json:"message,omitempty"`  // why it has that status
	Repository string   `json:"repository,omitempty"`
	Warnings   []string `json:"warnings,omitempty"` // what to know before it starts
}

// NeedsTrust reports whether an entry was written by somebody else: in a file of the working folder, or in a description that was
// published. Nothing starts such a one before the user has seen it and agreed.
func (s Source) NeedsTrust() bool { return s.Project || s.Published != nil }

// describe adds what a person should know of the publisher before the server starts, warnings first.
func (p *Published) describe(add func(label, value string)) {
	for _, w := range p.Warnings {
		add("!!", w)
	}
	namespace, _, _ := strings.Cut(p.Name, "/")
	add("publisher", quoteNonEmpty(namespace))
	add("version", quoteNonEmpty(p.Version))
	status := p.Status
	if p.Message != "" {
		status += ": " + text.Clip(p.Message, 300)
	}
	add("status", quoteNonEmpty(status))
	if p.Repository == "" {
		add("repository", "none is named")
	}
	add("repository", quoteNonEmpty(text.Clip(p.Repository, 300)))
}
