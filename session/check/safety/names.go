package safety

import (
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
)

// names compares the names of tools with each other, and with those of other servers.
func (x *examination) names(s *check.Subject) {
	type owner struct{ tool, server string }
	exact, near := map[string]owner{}, map[string]owner{}
	for _, o := range s.Others {
		for _, it := range o.Tools {
			if it.Name != "" {
				exact[it.Name], near[skeleton(it.Name)] = owner{it.Name, o.Server}, owner{it.Name, o.Server}
			}
		}
	}
	oneOff := map[string]owner{} // names of others with one character left out, to find those that differ by one
	for name, o := range exact {
		for _, v := range shortened(name) {
			oneOff[v] = o
		}
	}
	own := map[string]string{}
	for _, it := range s.Tools {
		at := check.PlaceOf(offer.Tools, it, "/name")
		bones := skeleton(it.Name)
		switch other := own[bones]; {
		case it.Name == "":
			continue
		case other != "" && other != it.Name:
			x.add("look-alike-name", check.Finding{Place: at, Sure: check.Likely, Key: other, Message: shown(it.Name) + " looks like " + shown(other) + ", a tool of the same server"})
		case other == "":
			own[bones] = it.Name
		}
		if o, same := exact[it.Name]; same {
			x.add("shadowed-name", check.Finding{Place: at, Key: o.server, Message: text.Clip(o.server, 60) + " has a tool of this name too"})
			continue
		}
		o, same := near[bones]
		if !same && len(it.Name) >= 8 {
			for _, v := range shortened(it.Name) {
				if o, same = oneOff[v]; same {
					break
				}
			}
		}
		if same {
			x.add("look-alike-name", check.Finding{Place: at, Sure: check.Likely, Key: o.server, Message: shown(it.Name) + " looks like " + shown(o.tool) + ", a tool of " + text.Clip(o.server, 60)})
		}
	}
}

// shortened is a name, and the name without each of its characters: two names that have one of them in common are at most one
// character apart, or two that stand beside each other.
func shortened(name string) []string {
	if len(name) < 8 || len(name) > 80 { // of short names many are alike
		return nil
	}
	out := []string{name}
	for i := range name {
		for j := i + 1; j <= len(name); j++ {
			if j == len(name) || name[j]&0xc0 != 0x80 {
				out = append(out, name[:i]+"\x00"+name[j:], name[:i]+name[j:])
				break
			}
		}
	}
	return out
}

// changed compares what models and clients obey with what was locked.
func (x *examination) changed(lock *contract.Lock, s *check.Subject) {
	if lock == nil {
		return
	}
	_, was := lock.Find(s.Server, s.Name)
	if was == nil {
		return
	}
	elsewhere := slices.Contains(s.Sections, (&contract.Section{}).Name()) // what changed is said once
	for _, c := range contract.Compare(was, contract.Of(&s.Offer)) {
		f := check.Finding{Place: c.Place, Key: c.Rule + c.Message, Message: c.Message, Evidence: "- " + c.Before + "\n+ " + c.After}
		switch c.Rule {
		case "contract/description", "contract/parameter-description", "contract/instructions", "contract/hint-flipped", "contract/hint-relaxed", "contract/app-changed":
			severity := check.Warning
			if c.Class == contract.Security {
				severity = check.Error
			}
			if !elsewhere {
				x.once("changed-under-lock", severity, f)
			}
		}
		if elsewhere {
			x.isNew(f)
		}
	}
}
