package safety

import (
	"maps"
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
)

// checkNames reports tools whose names equal, or look like, those of other tools. Within the server those do that have one skeleton (list_repo and
// list_repos have two); of other servers' tools also those that are one edit away.
func (x *examination) checkNames(s *check.Subject) {
	type owner struct{ tool, server string }
	// By the name as it is, and by what is left of it for a reader. The last of several servers with one name counts.
	exact, bySkeleton := map[string]owner{}, map[string]owner{}
	for _, o := range s.Others {
		for _, it := range o.Tools {
			if it.Name != "" {
				exact[it.Name], bySkeleton[skeleton(it.Name)] = owner{it.Name, o.Server}, owner{it.Name, o.Server}
			}
		}
	}
	byDeletion := map[string]owner{} // names of others by each of their deletions; of two that share one the first counts, so that each run says the same
	for _, name := range slices.Sorted(maps.Keys(exact)) {
		for _, v := range deletions(name) {
			if _, taken := byDeletion[v]; !taken {
				byDeletion[v] = exact[name]
			}
		}
	}
	own := map[string]string{} // the first tool of the server by skeleton
	for _, it := range s.Tools {
		at := check.PlaceOf(offer.Tools, it, "/name")
		skel := skeleton(it.Name)
		switch other := own[skel]; {
		case it.Name == "":
			continue
		case other != "" && other != it.Name:
			x.add("look-alike-name", check.Finding{Place: at, Sure: check.Likely, Key: other, Message: printable(it.Name) + " looks like " + printable(other) + ", a tool of the same server"})
		case other == "":
			own[skel] = it.Name
		}
		if o, same := exact[it.Name]; same {
			x.add("shadowed-name", check.Finding{Place: at, Key: o.server, Message: text.Clip(o.server, 60) + " has a tool of this name too"})
			continue // it looks like that one too
		}
		o, same := bySkeleton[skel]
		if !same && len(it.Name) >= 8 {
			for _, v := range deletions(it.Name) {
				if o, same = byDeletion[v]; same {
					break
				}
			}
		}
		if same {
			x.add("look-alike-name", check.Finding{Place: at, Sure: check.Likely, Key: o.server, Message: printable(it.Name) + " looks like " + printable(o.tool) + ", a tool of " + text.Clip(o.server, 60)})
		}
	}
}

// deletions returns a name and the name without each of its characters, the index of SymSpell: two names that share one of them differ by one
// edit, or one of them has a character less here and one more there, as after a swap of neighbours. Each deletion is there twice: with a hole
// (NUL) in its place, which is shared where one character stands for another, and without. It returns nil for names of less than 8 or more than
// 80 bytes.
func deletions(name string) []string {
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

// checkLock reports what changed since the lock in what models and clients obey; what else changed is for the section contract. A server that the
// lock does not know is compared with nothing.
func (x *examination) checkLock(lock *contract.Lock, s *check.Subject) {
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
		case "contract/description", "contract/parameter-description", "contract/instructions", "contract/hint-flipped", "contract/hint-relaxed", "contract/app-changed", "contract/app-reaches-out":
			severity := check.Warning
			if c.Class == contract.Security {
				severity = check.Error
			}
			if !elsewhere {
				x.addNew("changed-under-lock", severity, f)
			}
		}
		if elsewhere { // remembered only, so that a pin does not say it again
			x.isNew(f)
		}
	}
}
