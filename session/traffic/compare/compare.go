// Package compare says how two JSON values differ: what was added, removed, changed or reordered, by JSON pointers, and which of
// these differences say nothing, because they are there between two equal runs as well (clocks, ids, durations).
//
// Values are compared by their bytes: numbers of any size exactly, the order of members and white space not at all. Time and memory
// are bounded by the size of the values, and values beyond MaxBytes are compared by their hash only.
package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Op is what happened to a value.
type Op string

// The ways in which values differ.
const (
	Added     Op = "added"
	Removed   Op = "removed"
	Changed   Op = "changed"
	Reordered Op = "reordered" // an array has the same elements in another order
)

// Class says what a difference means.
type Class string

// The classes of differences. Those that are Real or a Guess count.
const (
	Real     Class = "real"
	Varies   Class = "varies"   // it is different between two equal runs as well
	Guess    Class = "guess"    // it looks like something that is different in each run, which nobody has proved
	Protocol Class = "protocol" // it follows from the version of the protocol, or says who answers
)

// Difference is one place where two values differ.
type Difference struct {
	Pointer string          `json:"pointer"`          // RFC 6901, in the first value; of what was added, in the second
	There   string          `json:"there,omitempty"`  // in the second value, where that is another one
	Within  string          `json:"within,omitempty"` // pointer in the JSON text that the string at Pointer holds
	Op      Op              `json:"op"`               //
	Before  json.RawMessage `json:"before,omitempty"` // as it was sent
	After   json.RawMessage `json:"after,omitempty"`  // as it was sent
	Class   Class           `json:"class"`            //
	Reason  string          `json:"reason,omitempty"` // why it is not Real
	element bool            // of an array: it was added or removed
}

// Place is where the difference is, for people.
func (d Difference) Place() string {
	p := d.Pointer
	if p == "" {
		p = "(all of it)"
	}
	if d.Within != "" {
		p += " → " + d.Within
	}
	return p
}

// String is the difference in a line, long values cut.
func (d Difference) String() string {
	const most = 100
	line := string(d.Op) + " " + d.Place() + ": "
	switch d.Op {
	case Added:
		line += text.Clip(string(d.After), most)
	case Removed:
		line += text.Clip(string(d.Before), most)
	default:
		line += text.Clip(string(d.Before), most) + " → " + text.Clip(string(d.After), most)
	}
	return line
}

const (
	// MaxBytes is how large a value is compared by its structure.
	MaxBytes = 8 << 20
	// MaxDifferences is how many are listed; further ones are counted.
	MaxDifferences = 1000

	maxDepth = 100     // levels; deeper values are compared as a whole
	maxCells = 1 << 22 // of the table that aligns two arrays

	maxMembers = 200_000 // of two objects that are in another order; with more they are compared as a whole
)

// Options are what is known of the two values.
type Options struct {
	// Noise is what is known to be different between equal runs, so that nothing has to be guessed; nil where there were none.
	Noise *Noise
	// Before and After are when the values were made; zero where that is not known, and no time looks near.
	Before, After time.Time
	// Versions are the protocol versions that the two were said in; "" where that is not known.
	Versions [2]string
	// NoGuess has no difference be a Guess.
	NoGuess bool
	// Ignore reports whether what is at a JSON pointer does not count; nil for nothing. Of what is in a JSON text that a string holds, the
	// pointer goes on behind that of the string.
	Ignore func(pointer string) bool
}

// Result is how two values differ.
type Result struct {
	Differences []Difference `json:"differences"`
	More        int          `json:"more,omitempty"` // further ones that are not listed
	Note        string       `json:"note,omitempty"` // how they were compared, where it was not by their structure
	real        int          // differences that are Real, also those that are not listed
	guesses     int          // those that are a Guess, likewise
}

// Same reports whether no difference counts: a Guess does, until somebody ignores its place or the same was asked twice.
func (r Result) Same() bool { return r.real+r.guesses == 0 }

// Real is how many differences are Real; those that are not listed count.
func (r Result) Real() int { return r.real }

// Guesses is how many differences are a Guess; those that are not listed count.
func (r Result) Guesses() int { return r.guesses }

// Noise is how many differences do not count.
func (r Result) Noise() int { return len(r.Differences) + r.More - r.real - r.guesses }

// Guessed are the places of differences that are a Guess, as far as they are listed, at most n. The whole value is not one of them.
func (r Result) Guessed(n int) (pointers []string) {
	for _, d := range r.Differences {
		if at := d.Pointer + d.Within; d.Class == Guess && at != "" && len(pointers) < n && !slices.Contains(pointers, at) {
			pointers = append(pointers, at)
		}
	}
	return pointers
}

// Summary is how many differences there are, in words.
func (r Result) Summary() string {
	count := func(n int, kind string) string {
		if n == 1 {
			return "1 " + kind + "difference"
		}
		return fmt.Sprintf("%d %sdifferences", n, kind)
	}
	var parts []string
	if r.real > 0 {
		parts = append(parts, count(r.real, ""))
	}
	if r.guesses > 0 {
		parts = append(parts, count(r.guesses, "possible "))
	}
	noise := r.Noise()
	var out string
	switch {
	case len(parts) == 0 && noise == 0:
		out = "the same"
	case len(parts) == 0:
		out = "the same but for " + count(noise, "expected ")
	case noise > 0:
		out = strings.Join(parts, ", ") + fmt.Sprintf(", and %d expected", noise)
	default:
		out = strings.Join(parts, ", and ")
	}
	if r.Note != "" {
		out += "; " + r.Note
	}
	return out
}

// Values compares two JSON values; nil is none.
func Values(before, after []byte, o Options) Result {
	before, after = bytes.TrimSpace(before), bytes.TrimSpace(after)
	r := Result{Differences: []Difference{}}
	switch {
	case bytes.Equal(before, after):
		return r
	case max(len(before), len(after)) > MaxBytes:
		a, b := sha256.Sum256(before), sha256.Sum256(after)
		r.Note = fmt.Sprintf("too large to compare by structure (%s, %s): sha256 %x… and %x…", text.Bytes(len(before)), text.Bytes(len(after)), a[:6], b[:6])
		r.add(Difference{Op: Changed, Class: Real})
		return r
	}
	for _, v := range [][]byte{before, after} {
		if len(v) > 0 && jsonrpc.Valid(v) != nil {
			r.Note = "not valid JSON: compared as text"
			r.add(Difference{Op: Changed, Class: Real, Before: jsonrpc.Quote(string(before)), After: jsonrpc.Quote(string(after))})
			return r
		}
	}
	w := walk{o: &o, out: &r}
	w.value("", "", before, after, 0)
	return r
}

func (r *Result) add(d Difference) {
	switch d.Class {
	case Real:
		r.real++
	case Guess:
		r.guesses++
	}
	if len(r.Differences) >= MaxDifferences {
		r.More++
		return
	}
	r.Differences = append(r.Differences, d)
}

// walk compares values and what is in them.
type walk struct {
	o      *Options
	out    *Result
	within string // pointer of the string whose JSON text is walked, "" outside
	there  string // the same in the second value
}

// addDifference judges a difference and adds it. at and there are JSON pointers in the first and second value.
func (w *walk) addDifference(op Op, at, there string, element bool, before, after []byte) {
	d := Difference{Pointer: at, Op: op, Before: before, After: after, element: element}
	if op == Added {
		d.Pointer = there
	} else if there != at {
		d.There = there
	}
	if w.within != "" {
		d.Pointer, d.There, d.Within = w.within, "", d.Pointer
		if w.there != w.within {
			d.There = w.there
		}
	}
	d.Class, d.Reason = w.o.judge(d)
	w.out.add(d)
}

// value compares two values; one that is empty is not there.
func (w *walk) value(at, there string, a, b []byte, depth int) {
	switch {
	case bytes.Equal(a, b):
	case len(a) == 0:
		w.addDifference(Added, at, there, false, nil, b)
	case len(b) == 0:
		w.addDifference(Removed, at, there, false, a, nil)
	case a[0] == '{' && b[0] == '{' && depth < maxDepth:
		w.objects(at, there, a, b, depth+1)
	case a[0] == '[' && b[0] == '[' && depth < maxDepth:
		w.arrays(at, there, a, b, depth+1)
	case a[0] == '"' && b[0] == '"':
		w.strings(at, there, a, b, depth+1)
	case number(a) && number(b) && sameNumber(string(a), string(b)):
	case (a[0] == '{' || a[0] == '[') && a[0] == b[0] && sameCanonical(a, b):
	default:
		w.addDifference(Changed, at, there, false, a, b)
	}
}

func sameCanonical(a, b []byte) bool {
	x, err1 := jsonrpc.Canonical(a)
	y, err2 := jsonrpc.Canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// strings compares two strings; those that hold JSON by their values.
func (w *walk) strings(at, there string, a, b []byte, depth int) {
	x, _ := jsonrpc.String(a)
	y, _ := jsonrpc.String(b)
	if x == y {
		return
	}
	inA, inB := strings.TrimSpace(x), strings.TrimSpace(y)
	if w.within == "" && holdsJSON(inA) && holdsJSON(inB) {
		inner := walk{o: w.o, out: w.out, within: at, there: there}
		before := len(w.out.Differences) + w.out.More
		inner.value("", "", []byte(inA), []byte(inB), depth)
		if len(w.out.Differences)+w.out.More > before {
			return
		}
	}
	w.addDifference(Changed, at, there, false, a, b)
}

// holdsJSON is whether a text is a JSON object or array.
func holdsJSON(s string) bool {
	return len(s) > 1 && (s[0] == '{' || s[0] == '[') && jsonrpc.Valid([]byte(s)) == nil
}

// member is one member of an object.
type member struct {
	name  string
	value []byte
}

func membersOf(obj []byte) (list []member) {
	_ = jsonrpc.Members(obj, func(name string, value []byte) bool { // it is valid
		list = append(list, member{name, value})
		return true
	})
	return list
}

// byName finds members; those of one name are told apart by a number behind it.
func byName(list []member) map[string][]byte {
	by := make(map[string][]byte, len(list))
	twice := map[string]int{} // how often a name was there before
	for i := range list {
		m := &list[i]
		for first := m.name; ; m.name = first + "#" + strconv.Itoa(twice[first]+1) {
			if _, there := by[m.name]; !there {
				break
			}
			twice[first]++
		}
		by[m.name] = m.value
	}
	return by
}

func (w *walk) objects(at, there string, a, b []byte, depth int) {
	listA, listB := membersOf(a), membersOf(b)
	for len(listA) > 0 && len(listB) > 0 && listA[0].name == listB[0].name { // as in most objects
		p := "/" + jsonrpc.EscapeToken(listA[0].name)
		w.value(at+p, there+p, listA[0].value, listB[0].value, depth)
		listA, listB = listA[1:], listB[1:]
	}
	if len(listA)+len(listB) > maxMembers {
		w.addDifference(Changed, at, there, false, a, b)
		return
	}
	inA, inB := byName(listA), byName(listB)
	for _, m := range listA {
		p := "/" + jsonrpc.EscapeToken(m.name)
		w.value(at+p, there+p, m.value, inB[m.name], depth)
	}
	for _, m := range listB {
		if _, ok := inA[m.name]; !ok {
			p := "/" + jsonrpc.EscapeToken(m.name)
			w.addDifference(Added, at+p, there+p, false, nil, m.value)
		}
	}
}

// number is whether a JSON value is one.
func number(v []byte) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' }

// sameNumber is whether two JSON numbers are equal as numbers, whatever their size.
func sameNumber(a, b string) bool {
	negA, digA, expA, okA := decimal(a)
	negB, digB, expB, okB := decimal(b)
	return okA && okB && digA == digB && (digA == "" || negA == negB && expA == expB)
}

// decimal takes a JSON number apart: 0.digits * 10^exp, digits without zeros at either end; "" for zero.
func decimal(s string) (neg bool, digits string, exp int64, ok bool) {
	s, neg = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.ParseInt(strings.TrimPrefix(s[i+1:], "+"), 10, 62)
		if err != nil {
			return false, "", 0, false
		}
		s, exp = s[:i], n
	}
	whole, frac, _ := strings.Cut(s, ".")
	digits = strings.TrimLeft(whole+frac, "0")
	exp += int64(len(whole) - (len(whole+frac) - len(digits)))
	return neg, strings.TrimRight(digits, "0"), exp, true
}
