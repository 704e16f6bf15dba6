package safety

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// An order is read with the clause that it stands in: "do not include passwords" is the opposite of "include passwords".

const (
	denial = `(?:not|never|cannot|\w+n't|dont|avoid(?:s|ing)?|refus(?:e|es|ing)|refrains?|instead of|rather than|without|forbidden|prohibited|nor)`
	// cancels are the words after which a denial asks for what it seems to forbid: "do not forget to send", "not only send".
	cancels = `(?:forget|hesitate|fail|omit|neglect|only|just|skip|miss|worry|wait|stop|ask|tell)`
)

var (
	// clauseEnds match where a denial ends: what follows is a statement of its own. A comma ends it too, but for a list that goes on with "or".
	clauseEnds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[.!?;:—]|, | - |\b(?:and|but|then|instead,|except|unless|until)\b`)
	})
	denials = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + denial + `\b`) })
	// doubleNegations are denials of a word in cancels, with at most two words between.
	doubleNegations = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b` + denial + ` (?:\w+ ){0,2}?` + cancels + `\b`)
	})
	alternatives = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:or|nor)\b`) })
	// exclusions end where what is to be given away begins: "send everything except passwords".
	exclusions = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:without|no|not|never|nor|except|excluding|instead of|rather than) (?:\w+ ){0,3}['"\x60]?$`)
	})
)

// line is a text in one line, blanks between its words.
type line struct {
	plain string
	// ends are where something new begins in plain, in bytes, although no punctuation says so: a line whose end was meant. Where a text was only broken
	// to fit a width a clause goes on.
	ends []int
}

// narrow is how many bytes a line has that nobody has broken to fit a width.
const narrow = 50

// oneLine is s as a line. The end of a short line is meant, and so is an empty line.
func oneLine(s string) line {
	var b strings.Builder
	var out line
	ended := false
	for part := range strings.SplitSeq(s, "\n") {
		part = strings.Join(strings.Fields(part), " ")
		if part == "" {
			ended = true
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
			if ended {
				out.ends = append(out.ends, b.Len())
			}
		}
		b.WriteString(part)
		ended = len(part) < narrow
	}
	out.plain = b.String()
	return out
}

// isDenied reports whether the clause of a text that goes up to from denies what begins there. from is a byte of plain. What stands more than 200
// bytes before is not looked at; a double negation denies nothing.
func (l line) isDenied(from int) bool {
	start := max(0, from-200)
	if n := sort.SearchInts(l.ends, from+1); n > 0 { // the last one that is not behind from
		start = max(start, l.ends[n-1])
	}
	before := l.plain[start:from]
	clause := before
	for _, m := range slices.Backward(clauseEnds().FindAllStringIndex(before, -1)) {
		if rest := before[m[1]:]; before[m[0]] == ',' && len(strings.Fields(rest)) <= 4 && alternatives().MatchString(rest) {
			continue // "never read, store or send"
		}
		clause = before[m[1]:]
		break
	}
	return denials().MatchString(clause) && !doubleNegations().MatchString(clause)
}

// things are nouns that make a thing of the word before: "user list" is not a user.
var things = strings.Fields(`
	account accounts agent agents apart base column columns data database defined directory directories entity field fields file
	files group groups guide guides id ids input inputs interface interfaces list lists manual manuals menu menus name names
	object objects password passwords pool preferences profile profiles query record records role roles row rows schema session
	sessions settings store stories story table tables type types
`)

// namesThing reports whether the word that ends at to is part of the name of a thing: a hyphen or one of things follows.
func namesThing(plain string, to int) bool {
	rest := strings.ToLower(plain[to:])
	word := strings.TrimLeft(rest, " ")
	if n := strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }); n >= 0 {
		word = word[:n]
	}
	return strings.HasPrefix(rest, "-") || slices.Contains(things, word)
}

// maxDenied is how many matches of one order a text may deny. Looking at each costs, and who forbids a thing more often hides something among it.
const maxDenied = 200

// find returns the first match of o that the text does not deny, as two byte offsets; nil for none. After maxDenied the next one counts, whatever is
// before it.
func (o *order) find(l line) []int {
	for i, m := range o.re.FindAllStringSubmatchIndex(l.plain, maxDenied+1) {
		if i == maxDenied {
			return m[:2]
		}
		switch {
		case o.denies: // the pattern has the denial itself
		case l.isDenied(m[0]), len(m) > 2 && m[2] >= 0 && exclusions().MatchString(l.plain[m[0]:m[2]]):
			continue
		}
		if o.rule == "hides-from-user" && namesThing(l.plain, m[1]) { // "user list" is a thing, and no person
			continue
		}
		return m[:2]
	}
	return nil
}
