package safety

import (
	"regexp"
	"slices"
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
	// breaks are where a denial ends: what follows is said for itself. A comma ends it too, but for a list that goes on with "or".
	breaks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[.!?;:\n—]|, | - |\b(?:and|but|then|instead,|except|unless|until)\b`)
	})
	denied   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + denial + `\b`) })
	canceled = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b` + denial + ` (?:\w+ ){0,2}?` + cancels + `\b`)
	})
	listed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:or|nor)\b`) })
	spared = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:without|no|not|never|nor|except|excluding|instead of|rather than) (?:\w+ ){0,3}['"\x60]?$`)
	})
)

// forbidden reports whether what begins at from is denied by the clause that it stands in.
func forbidden(plain string, from int) bool {
	before := plain[max(0, from-200):from]
	clause := before
	for _, m := range slices.Backward(breaks().FindAllStringIndex(before, -1)) {
		if rest := before[m[1]:]; before[m[0]] == ',' && len(strings.Fields(rest)) <= 4 && listed().MatchString(rest) {
			continue // "never read, store or send"
		}
		clause = before[m[1]:]
		break
	}
	return denied().MatchString(clause) && !canceled().MatchString(clause)
}

// things are what the word before makes a thing: not the user is meant, but the user list.
var things = strings.Fields(`
	account accounts agent agents apart base column columns data database defined directory directories entity field fields file
	files group groups guide guides id ids input inputs interface interfaces list lists manual manuals menu menus name names
	object objects password passwords pool preferences profile profiles query record records role roles row rows schema session
	sessions settings store stories story table tables type types
`)

// speaksOfThing reports whether what ends at to goes on as the name of a thing.
func speaksOfThing(plain string, to int) bool {
	rest := strings.ToLower(plain[to:])
	word := strings.TrimLeft(rest, " ")
	if n := strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }); n >= 0 {
		word = word[:n]
	}
	return strings.HasPrefix(rest, "-") || slices.Contains(things, word)
}

// find is the first match of o that the text does not take back, nil for none.
func (o *order) find(plain string) []int {
	for _, m := range o.re.FindAllStringSubmatchIndex(plain, 20) {
		switch {
		case o.denies: // the pattern has the denial itself
		case forbidden(plain, m[0]), len(m) > 2 && m[2] >= 0 && spared().MatchString(plain[m[0]:m[2]]):
			continue
		}
		if o.rule == "hides-from-user" && speaksOfThing(plain, m[1]) {
			continue
		}
		return m[:2]
	}
	return nil
}
