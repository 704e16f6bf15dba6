package safety

import (
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
)

// Pins are the tools of the server as one router saw them first. Who remembers them is up to the caller: this package knows no router.
type Pins struct {
	By string // who, for people
	// Of is what is remembered of a tool by name, and whether its definition is the same now; known is false for a tool that the router never saw.
	Of func(name string, definition []byte) (p offer.Pin, known bool)
}

// checkPins reports tools that changed since a router pinned them. A change that the lock shows too is reported once.
func (x *examination) checkPins(all []Pins, s *check.Subject) {
	for _, pins := range all {
		n := 0
		for _, it := range s.Tools {
			p, known := pins.Of(it.Name, it.Raw)
			if known {
				n++
			}
			if known && !p.Same {
				x.reportPinChange(pins.By, p, it)
			}
		}
		if n > 0 {
			x.note(plural(n, "tool was", "tools were") + " compared with what " + pins.By + " remembers")
		}
	}
}

// reportPinChange reports how a tool differs from its pin: each change by its class, where its definition was kept. Secrets are hidden in both
// definitions, so that one that differs in nothing else shows no change: then it is written differently, or has another secret.
func (x *examination) reportPinChange(by string, p offer.Pin, it offer.Item) {
	since := ", first seen on " + p.Since.Format(time.DateOnly) + " by " + by
	at := check.PlaceOf(offer.Tools, it, "")
	if p.Definition == nil {
		x.addNew("changed-under-pin", check.Warning, check.Finding{Place: at, Message: "is not what it was" + since + ", which kept only a hash"})
		return
	}
	changes := contract.CompareList(offer.Tools, map[string][]byte{it.Name: p.Definition}, map[string][]byte{it.Name: it.Raw})
	if len(changes) == 0 {
		x.addNew("changed-under-pin", check.Info, check.Finding{Place: at, Message: "is written differently" + since + ", or has another secret in it"})
	}
	for _, c := range changes {
		severity := check.Warning
		switch c.Class {
		case contract.Security:
			severity = check.Error
		case contract.Compatible:
			severity = check.Info
		}
		x.addNew("changed-under-pin", severity, check.Finding{
			Place: c.Place, Key: c.Rule + c.Message, Message: string(c.Class) + ": " + c.Message + since, Evidence: strings.TrimSpace("- " + c.Before + "\n+ " + c.After),
		})
	}
}

// addNew reports a finding unless the lock or another pin led to the same one.
func (x *examination) addNew(rule string, severity check.Severity, f check.Finding) {
	if x.isNew(f) {
		x.r.AddSeverity(severity, "safety/"+rule, f)
	}
}

// isNew remembers a finding, and reports whether it was not remembered yet. Which of the rules found it does not matter: by place and key a lock and
// a pin mean the same change.
func (x *examination) isNew(f check.Finding) bool {
	id := f.Place.String() + "\x00" + f.Key
	if x.reported[id] {
		return false
	}
	x.reported[id] = true
	return true
}
