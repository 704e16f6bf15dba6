package safety

import (
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
)

// Pin is a tool as somebody remembers it.
type Pin struct {
	Same       bool // it is the same now
	Since      time.Time
	Definition []byte // nil where only a hash of it is known
}

// Pins is what somebody remembers of the server's tools, such as a router that clients reach it by.
type Pins struct {
	By string // who, for people
	Of func(name string, definition []byte) (p Pin, known bool)
}

// pinned compares tools with what others remember of them. What the lock says of a tool already is not said again.
func (x *examination) pinned(all []Pins, s *check.Subject) {
	for _, pins := range all {
		n := 0
		for _, it := range s.Tools {
			p, known := pins.Of(it.Name, it.Raw)
			if known {
				n++
			}
			if known && !p.Same {
				x.unlike(pins.By, p, it)
			}
		}
		if n > 0 {
			x.note(counted(n, "tool was", "tools were") + " compared with what " + pins.By + " remembers")
		}
	}
}

// unlike says how a tool differs from a pin.
func (x *examination) unlike(by string, p Pin, it offer.Item) {
	since := ", first seen on " + p.Since.Format(time.DateOnly) + " by " + by
	at := check.PlaceOf(offer.Tools, it, "")
	if p.Definition == nil {
		x.once("changed-under-pin", check.Warning, check.Finding{Place: at, Message: "is not what it was" + since + ", which kept only a hash"})
		return
	}
	changes := contract.CompareList(offer.Tools, map[string][]byte{it.Name: p.Definition}, map[string][]byte{it.Name: it.Raw})
	if len(changes) == 0 {
		x.once("changed-under-pin", check.Info, check.Finding{Place: at, Message: "is written differently" + since + ", or has another secret in it"})
	}
	for _, c := range changes {
		severity := check.Warning
		switch c.Class {
		case contract.Security:
			severity = check.Error
		case contract.Compatible:
			severity = check.Info
		}
		x.once("changed-under-pin", severity, check.Finding{
			Place: c.Place, Key: c.Rule + c.Message, Message: string(c.Class) + ": " + c.Message + since, Evidence: strings.TrimSpace("- " + c.Before + "\n+ " + c.After),
		})
	}
}

// once reports a finding unless the same is known already: of another pin, or of the lock.
func (x *examination) once(rule string, severity check.Severity, f check.Finding) {
	if x.isNew(f) {
		x.r.At(severity, "safety/"+rule, f)
	}
}

// known remembers a finding, and reports whether it is new.
func (x *examination) isNew(f check.Finding) bool {
	id := f.Place.String() + "\x00" + f.Key
	if x.said[id] {
		return false
	}
	x.said[id] = true
	return true
}
