package contract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
)

// Section compares a server with its contract. The zero value has none. It keeps what Run found for After, so that it is for one run at a time.
type Section struct {
	File     string      // of the lock
	Lock     *Lock       // its content, nil for none yet
	Accept   bool        // make what the server offers now its contract; changes are counted then, and not reported
	Evidence *Recordings // calls that clients made, nil for none
	NoLock   bool        // there is none, and only the evidence is looked at

	evidence *evidence // of the latest run, nil for none
	figures  figures   // of the latest run, to which After adds the evidence
	said     check.Figures
}

// Name is "contract".
func (*Section) Name() string { return "contract" }

// Title says what is compared.
func (*Section) Title() string { return "what changed since the lock, and who is hurt" }

// ReadsLists says that the lists are compared.
func (*Section) ReadsLists() bool { return true }

// Rules are the table, the worst class first within each list.
func (*Section) Rules() []*check.Rule { return rules.Of("contract") }

// figures are what the section says beside its findings.
type figures struct {
	Lock     string         `json:"lock"`
	Server   string         `json:"server"`            // as the lock has it
	Version  string         `json:"version,omitempty"` // that is locked
	Changes  map[Class]int  `json:"changes"`           // how many of each class
	Accepted bool           `json:"accepted,omitempty"`
	Taken    []string       `json:"taken,omitempty"` // what was accepted, for people
	Evidence *evidenceTotal `json:"evidence,omitempty"`
}

// compared is what a server offers, beside what its lock says.
type compared struct {
	lock     *Lock
	key      string    // the lock's name for the server, "" for one that is not locked and not to be
	was, now *Contract // was is nil for one that is not locked yet
	changes  []Change
}

// compare compares an offer with the lock. Nothing changes where the server is not locked yet.
func (s *Section) compare(o *check.Offer) *compared {
	c := &compared{lock: cmp.Or(s.Lock, &Lock{}), now: Of(o)}
	c.key, c.was = c.lock.Find(o.Server, o.Name)
	if c.was != nil {
		c.changes = Compare(c.was, c.now)
	}
	if c.key == "" && s.Accept {
		c.key = o.Server
	}
	return c
}

// accept writes the lock with what there is now, and says what it took.
func (c *compared) accept(file string) ([]string, error) {
	if err := c.lock.Accept(c.key, c.now); err != nil {
		return nil, err
	}
	if err := c.lock.Write(file); err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Message: "cannot write " + file + ": " + err.Error(), Err: err, Next: "name a file that can be written"}
	}
	return describeUpdate(file, c.key, c.was, c.changes), nil
}

// Run compares, or accepts. With Accept changes are counted and written, and the evidence is still checked against what was locked before.
func (s *Section) Run(ctx context.Context, subject *check.Subject, r *check.Recorder) error {
	c := s.compare(&subject.Offer)
	was, changes := c.was, c.changes
	fig := figures{Lock: s.File, Server: c.key, Changes: map[Class]int{}}
	var notes []string
	switch {
	case was != nil:
		fig.Version = was.Version
	case !s.Accept && !s.NoLock:
		r.Add("contract/not-locked", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: fmt.Sprintf("%s has no contract of %s: nothing was compared", s.File, subject.Server)})
	}
	for _, c := range changes {
		fig.Changes[c.Class]++
		if !s.Accept {
			r.Add(c.Rule, c.finding())
		}
	}
	if was != nil && !s.Accept && len(changes) == 0 {
		notes = append(notes, "nothing changed since the lock")
	}
	if s.Accept {
		took, err := c.accept(s.File)
		if err != nil {
			return err
		}
		fig.Accepted, fig.Taken = true, took
		notes = append(notes, took...)
	}
	s.figures, s.said, s.evidence = fig, check.Figures{Value: fig, Notes: notes}, nil
	if len(changes) > 0 {
		s.said.Table = [][]string{{"changes", "number"}}
		for _, class := range Classes() {
			if n := fig.Changes[class]; n > 0 {
				s.said.Table = append(s.said.Table, []string{string(class), fmt.Sprint(n)})
			}
		}
	}
	r.Figures(s.said)
	if s.Evidence != nil && len(s.Evidence.Files) > 0 {
		s.evidence = newEvidence(was, c.now, subject.Server, subject.Name)
		s.Evidence.Want(&s.evidence.records)
	}
	return nil
}

// After looks at the recorded calls, once everybody who looks at them is there: they are read once.
func (s *Section) After(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
	if s.evidence == nil {
		return nil
	}
	if err := s.Evidence.Read(ctx, &s.evidence.records, r.Step); err != nil {
		return err
	}
	total := s.evidence.report(r)
	s.figures.Evidence = &total
	s.said.Value, s.said.Notes = s.figures, append(s.said.Notes, total.notes()...)
	r.Figures(s.said)
	return nil
}

// describeUpdate says what was written to a lock.
func describeUpdate(file, key string, was *Contract, changes []Change) []string {
	if was == nil {
		return []string{"made the contract of " + key + " in " + file}
	}
	if len(changes) == 0 {
		return []string{file + " is up to date: nothing changed"}
	}
	out := []string{fmt.Sprintf("accepted %d changes of %s in %s:", len(changes), key, file)}
	for i, c := range changes {
		if i == 50 {
			out = append(out, fmt.Sprintf("  … and %d more", len(changes)-i))
			break
		}
		out = append(out, "  "+string(c.Class)+": "+c.Place.String()+": "+c.Message)
	}
	return out
}

// finding is a change as a finding. There can be several of a rule at one place, which only their messages tell apart.
func (c Change) finding() check.Finding {
	f := check.Finding{Place: c.Place, Message: c.Message, Key: c.Message}
	switch {
	case c.Before != "" && c.After != "":
		f.Evidence = "- " + c.Before + "\n+ " + c.After
	case c.Before != "":
		f.Evidence = "- " + c.Before
	case c.After != "":
		f.Evidence = "+ " + c.After
	}
	return f
}

// Open is the section for a lock. Where there is none, and none is to be made, it is nil and the error wraps fs.ErrNotExist.
func Open(file string, accept bool, evidence *Recordings) (*Section, error) {
	lock, err := Read(file)
	if errors.Is(err, fs.ErrNotExist) && accept {
		lock, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Section{File: file, Lock: lock, Accept: accept, Evidence: evidence}, nil
}
