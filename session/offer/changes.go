package offer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxMarks   = 1000     // items of one list that are marked
	maxDiffs   = 50       // of them, whose definitions are compared line by line at a time
	maxCompare = 32 << 10 // bytes of a definition that is compared
	maxGone    = 1 << 20  // bytes of definitions that are kept of items that are gone
	maxNames   = 20       // that Changes holds of each kind
)

// Mark is what became of an item since somebody looked at it.
type Mark struct {
	Added   bool   // it was not there
	Removed bool   // it is not there any more; else, where it was not added, its definition changed
	Diff    string // of its definition, as hunks of a unified diff; "" if it was added or removed, is large, or one of very many
	Was     string // its definition when somebody last looked at it; "" if it was added, is large, or one of very many
}

// Pin is a tool as a router first saw it, to show beside what it is now: a tool whose description changes after it was trusted may have been
// taken over.
type Pin struct {
	Same       bool // it is the same now
	Since      time.Time
	Definition []byte // as it was, secrets hidden; nil where only its hash is kept
}

// Changes are what a refresh found to differ from what the list had before.
type Changes struct {
	Added, Removed, Changed    []string // the first 20 keys of each, see [Kind.Key]
	NAdded, NRemoved, NChanged int      // how many there are of each
}

// Some reports whether anything changed.
func (c Changes) Some() bool { return c.NAdded+c.NRemoved+c.NChanged > 0 }

// String is a line such as "1 added (echo), 2 removed (a, b)".
func (c Changes) String() string {
	var out []string
	for _, part := range []struct {
		n     int
		word  string
		names []string
	}{{c.NAdded, "added", c.Added}, {c.NRemoved, "removed", c.Removed}, {c.NChanged, "changed", c.Changed}} {
		if part.n == 0 {
			continue
		}
		names := make([]string, 0, 3)
		for _, n := range part.names[:min(len(part.names), 3)] {
			names = append(names, text.Clip(n, 60))
		}
		if part.n > len(names) {
			names = append(names, "…")
		}
		out = append(out, fmt.Sprintf("%d %s (%s)", part.n, part.word, strings.Join(names, ", ")))
	}
	return strings.Join(out, ", ")
}

// Key tells the items of a list apart: the URI of a resource, template or skill, else the name.
func (k Kind) Key(it Item) string {
	if (k == Resources || k == Templates || k == Skills) && it.URI != "" {
		return it.URI
	}
	return it.Name
}

// Compare is what changed from one state of a list to another, and the marks of the items that are in one of them, or went earlier:
// those of marks that still hold, and new ones. marks is not modified.
//
// Definitions are compared byte by byte, as they were sent: a server that orders members differently each time has changed everything. A mark tells of
// everything since somebody last looked, not since the last refresh: so an item that went and came back with the definition that was looked at
// has no mark, and one that came and went unseen neither. Long lists are marked up to a bound, so that a hostile server costs no more.
func Compare(kind Kind, before, after []Item, marks map[string]Mark) (Changes, map[string]Mark) {
	var c Changes
	was := make(map[string]Item, len(before))
	for _, it := range before {
		was[kind.Key(it)] = it
	}
	next := map[string]Mark{}
	mark := func(key string, m Mark) {
		if len(next) < maxMarks {
			next[key] = m
		}
	}
	note := func(n *int, names *[]string, key string) {
		if *n++; len(*names) < maxNames {
			*names = append(*names, strings.Clone(key))
		}
	}
	gone := 0 // bytes
	for key, m := range marks {
		if m.Removed {
			next[key] = m // until it is there again
			gone += len(m.Was)
		}
	}
	is := make(map[string]bool, len(after))
	for _, it := range after {
		key := kind.Key(it)
		if is[key] {
			continue // the second of one name
		}
		is[key] = true
		old, there := was[key]
		earlier, marked := marks[key]
		switch {
		case !there:
			note(&c.NAdded, &c.Added, key)
			switch delete(next, key); {
			case !earlier.Removed:
				mark(key, Mark{Added: true})
			case earlier.Was == "":
				mark(key, Mark{})
			case earlier.Was != string(it.Raw):
				mark(key, Mark{Was: earlier.Was, Diff: definitionDiff([]byte(earlier.Was), it.Raw)})
			}
		case !bytes.Equal(old.Raw, it.Raw):
			note(&c.NChanged, &c.Changed, key)
			m := Mark{Added: earlier.Added}
			if !m.Added && c.NChanged <= maxDiffs {
				if m.Diff = definitionDiff(old.Raw, it.Raw); m.Diff != "" {
					m.Was = string(old.Raw)
				}
				if earlier.Was != "" {
					m.Was = earlier.Was
				}
			}
			mark(key, m)
		case marked:
			mark(key, earlier)
		}
	}
	for _, it := range before {
		if key := kind.Key(it); !is[key] {
			is[key] = true
			note(&c.NRemoved, &c.Removed, key)
			if marks[key].Added { // it came and went, and nobody saw it
				continue
			}
			m := Mark{Removed: true, Was: marks[key].Was}
			if m.Was == "" && len(it.Raw) <= maxCompare && gone < maxGone {
				m.Was = string(it.Raw)
			}
			gone += len(m.Was)
			mark(key, m)
		}
	}
	return c, next
}

// definitionDiff is the difference of two definitions, line by line; "" for those that are large together.
func definitionDiff(before, after []byte) string {
	if len(before)+len(after) > maxCompare {
		return ""
	}
	hunks, _, _ := text.Diff(lines(before), lines(after))
	return hunks
}

// lines is JSON over several lines.
func lines(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
