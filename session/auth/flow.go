package auth

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// The steps of a login, in order.
const (
	StepResource  = "discover resource" // protected-resource metadata (RFC 9728)
	StepServer    = "discover server"   // authorization-server metadata (RFC 8414, OpenID Connect Discovery)
	StepRegister  = "register"          // how the authorization server knows us
	StepAuthorize = "authorize"         // a person, in a browser
	StepToken     = "token"             // what was got becomes an access token
	StepIdentity  = "identity"          // a person at an identity provider, whose ID token is exchanged
	StepExchange  = "exchange"          // an ID token for an ID-JAG, where a grant without a person needs that
	StepRefresh   = "refresh"
	StepRevoke    = "revoke"
	StepRetry     = "retry" // what was refused, once more
)

// Flow is one login, refresh or logout: its steps, as they happen. Safe for concurrent use; one goroutine goes through it, others take
// snapshots. Only its last step runs, if any does.
type Flow struct {
	mu      sync.Mutex       // guards steps and issuer
	steps   []Step           // in the order in which they began; a step that is tried again is there twice
	issuer  string           // "" until it is found
	now     func() time.Time // set once
	changed func()           // called after every change, without the lock; set once
}

// Step is one step of a Flow.
type Step struct {
	Name      string
	State     StepState
	Asks      string     // what the specification asks here
	Section   string     // of the specification, or of the RFC
	Notes     []string   // what was found and chosen, secrets masked; may hold what servers say
	Exchanges []uint64   // Seq of the HTTP requests in the journal
	URL       string     // to be opened, of StepAuthorize while it runs
	Broken    *Violation // the rule that was broken; nil for none
	Err       error      // why it failed
	Start     time.Time
	Took      time.Duration // 0 while it runs
}

// StepState is how far a step is.
type StepState string

// The states of a step.
const (
	Running StepState = "running"
	Done    StepState = "done"
	Skipped StepState = "skipped"
	Failed  StepState = "failed"
)

// Party is who broke a rule.
type Party string

// The parties.
const (
	ByServer Party = "the MCP server"
	ByIssuer Party = "the authorization server"
	ByUser   Party = "the configuration"
)

// Violation is a rule that somebody broke.
type Violation struct {
	By      Party
	Section string // "RFC 9728 section 3.3"
	What    string // what was found, secrets masked
}

// Error gives who, what and where it is written.
func (v *Violation) Error() string { return fmt.Sprintf("%s: %s (%s)", v.By, v.What, v.Section) }

func newFlow(now func() time.Time, changed func()) *Flow { return &Flow{now: now, changed: changed} }

// Steps is a snapshot.
func (f *Flow) Steps() []Step {
	f.mu.Lock()
	defer f.mu.Unlock()
	steps := slices.Clone(f.steps)
	for i := range steps {
		steps[i].Notes, steps[i].Exchanges = slices.Clone(steps[i].Notes), slices.Clone(steps[i].Exchanges)
	}
	return steps
}

// Issuer is the authorization server, "" until it is found.
func (f *Flow) Issuer() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.issuer
}

// begin starts a step.
func (f *Flow) begin(name string) {
	f.edit(func() {
		f.steps = append(f.steps, Step{Name: name, State: Running, Asks: asks[name].text, Section: asks[name].section, Start: f.now()})
	})
}

// end ends the step that runs; err says why it failed.
func (f *Flow) end(state StepState, err error) {
	f.step(func(s *Step) {
		s.State, s.Took, s.URL = state, f.now().Sub(s.Start), ""
		if err != nil {
			s.State, s.Err, s.Broken = Failed, err, violation(err)
		}
	})
}

// finish ends the step that runs if it has that name.
func (f *Flow) finish(name string, state StepState, err error) {
	f.mu.Lock()
	n := len(f.steps)
	runs := n > 0 && f.steps[n-1].Name == name && f.steps[n-1].State == Running
	f.mu.Unlock()
	if runs {
		f.end(state, err)
	}
}

// note adds what was found to the step that runs.
func (f *Flow) note(format string, args ...any) {
	f.step(func(s *Step) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) })
}

// step edits the last step, if there is one.
func (f *Flow) step(edit func(*Step)) {
	f.edit(func() {
		if n := len(f.steps); n > 0 {
			edit(&f.steps[n-1])
		}
	})
}

// edit makes a change under the lock, and tells of it.
func (f *Flow) edit(do func()) {
	f.mu.Lock()
	do()
	f.mu.Unlock()
	f.changed()
}
