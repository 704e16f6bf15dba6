package check

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Kinds of places.
const (
	OfServer   = "server"
	OfTool     = "tool"
	OfPrompt   = "prompt"
	OfResource = "resource"
	OfTemplate = "template"
	OfCall     = "call" // Name is the call's, of a file of cases
)

// Place is the part of a server that a finding is about: the server, one of its items, or a part of an item's definition.
type Place struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`    // of the tool, prompt or call; URI of a resource or template; "" for the server
	Pointer string `json:"pointer,omitempty"` // JSON pointer into its definition as it was listed, "" for all of it
}

// String is KIND NAME POINTER, as texts and ignore lists have it, without the parts that are "".
func (p Place) String() string { return strings.TrimSpace(p.Kind + " " + p.Name + " " + p.Pointer) }

// Finding is one thing that a rule found. Its texts may come from the server.
type Finding struct {
	Rule     *Rule      `json:"-"`
	ID       string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Place    Place      `json:"place"`
	Message  string     `json:"message"`            // one line, of this case: names and numbers, not the rule again
	Evidence string     `json:"evidence,omitempty"` // what was seen: text or JSON, at most MaxEvidence bytes
	Fix      string     `json:"fix,omitempty"`
	Sure     Confidence `json:"sure"`
	Clients  []string   `json:"clients,omitempty"` // who refuses it, or is harmed
	Repro    string     `json:"repro,omitempty"`   // a command line that shows it
	// File is one of the project that says so, Line where in it; "" and 0 for none. Paths are those of the repository.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Key tells findings of one rule at one place apart, where there can be several. It must be the same in the next run.
	Key string `json:"-"`
	// Fingerprint is the same for the same finding in each run.
	Fingerprint string `json:"fingerprint"`
	// Ignored is why the finding does not count: the reason of an ignore list, or "baseline"; "" where it does.
	Ignored string `json:"ignored,omitempty"`
}

// MaxEvidence is how much evidence a finding keeps, in bytes; more is cut.
const MaxEvidence = 4 << 10

// fingerprint is of what stays the same from run to run: not of the message, which may have numbers in it.
func (f *Finding) fingerprint() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.ID, f.Place.Kind, f.Place.Name, f.Place.Pointer, f.Key}, "\x00")))
	return hex.EncodeToString(sum[:8])
}
