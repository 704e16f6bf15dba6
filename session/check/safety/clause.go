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
	// clauseEnds match where a denial ends: what follows is a statement of its own. A comma ends it too, but for a list that goes on with "or".
	clauseEnds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[.!?;:\n—]|, | - |\b(?:and|but|then|instead,|except|unless|until)\b`)
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

// isDenied reports whether the clause of a text that goes up to from denies what begins there. from is a byte of plain. What stands more than 200
// bytes before is not looked at; a double negation denies nothing.
func isDenied(plain string, from int) bool {
	before := plain[max(0, from-200):from]
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

// find returns the first match of o that the text does not deny, as two byte offsets; nil for none. The first 20 matches are tried: a text that
// denies them all, and then gives the order, is not found.
func (o *order) find(plain string) []int {
	for _, m := range o.re.FindAllStringSubmatchIndex(plain, 20) {
		switch {
		case o.denies: // the pattern has the denial itself
		case isDenied(plain, m[0]), len(m) > 2 && m[2] >= 0 && exclusions().MatchString(plain[m[0]:m[2]]):
			continue
		}
		if o.rule == "hides-from-user" && namesThing(plain, m[1]) { // "user list" is a thing, and no person
			continue
		}
		return m[:2]
	}
	return nil
}
