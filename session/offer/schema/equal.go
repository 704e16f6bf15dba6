package schema

import (
	"maps"
	"math/big"
	"strconv"
	"strings"
)

// Equal compares as JSON Schema does: numbers by value, strings by what they decode to, objects without regard to order
// (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.2). Of a repeated key the last counts, as for
// [Value.Get], since that is what a validator goes by.
func Equal(a, b *Value) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() || a.Kind() == Array && a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case Unset, Null:
		return true
	case Bool:
		return a.raw == b.raw
	case Number:
		return a.raw == b.raw || compare(a.raw, b.raw) == 0
	case String:
		return a.raw == b.raw || unquote(a.raw) == unquote(b.raw)
	case Array:
		for i := range a.kids {
			if !Equal(a.kids[i].Value, b.kids[i].Value) {
				return false
			}
		}
		return true
	}
	return maps.EqualFunc(a.index(), b.index(), Equal)
}

// Same reports whether two values would be written the same, byte for byte, which is stricter than [Equal].
func Same(a, b *Value) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() || a.Literal() != b.Literal() {
		return false
	}
	for i := range a.Members() {
		x, y := a.kids[i], b.kids[i]
		if x.Name != y.Name || x.raw != y.raw || !Same(x.Value, y.Value) {
			return false
		}
	}
	return true
}

// compare orders two JSON number literals exactly. Exponents that would make the exact value enormous are clamped,
// which keeps the order of all numbers that a person would write.
func compare(a, b string) int { return ratOf(a).Cmp(ratOf(b)) }

// isInteger reports whether a number literal has no fraction: 1.0 and 1e3 do
// not (JSON Schema 2020-12 validation, section 6.1.1).
func isInteger(lit string) bool { return ratOf(lit).IsInt() }

// ratOf is the exact value of a number literal within the bounds of boundNumber; 0 for what is none, which callers have ruled out.
func ratOf(lit string) *big.Rat {
	r, ok := new(big.Rat).SetString(boundNumber(lit))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// The most digits and the largest exponent that exact arithmetic is done on:
// 1e999999999 as a fraction would take all memory there is.
const (
	maxDigits   = 5_000
	maxExponent = 5_000
)

// boundNumber bounds a number literal so that exact arithmetic on it is cheap: digits beyond maxDigits are dropped, and an exponent
// beyond maxExponent becomes that. Two numbers that differ only beyond these bounds are therefore equal here.
func boundNumber(lit string) string {
	mant, exp := lit, ""
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		mant, exp = lit[:i], lit[i+1:]
	}
	if len(mant) > maxDigits {
		// Digits of the whole part that are cut off still count for the size.
		whole, _, _ := strings.Cut(mant, ".")
		mant = strings.TrimSuffix(mant[:maxDigits], ".")
		if lost := len(whole) - maxDigits; lost > 0 {
			exp = addExponent(exp, lost)
		}
	}
	if exp == "" {
		return mant
	}
	n, err := strconv.Atoi(strings.TrimPrefix(exp, "+"))
	switch {
	case err != nil && strings.HasPrefix(exp, "-"), n < -maxExponent:
		n = -maxExponent
	case err != nil, n > maxExponent:
		n = maxExponent
	}
	return mant + "e" + strconv.Itoa(n)
}

// addExponent adds n to an exponent as it is written, "" for none. One that is too large to be read stays: it is clamped anyway.
func addExponent(exp string, n int) string {
	e, err := strconv.Atoi(strings.TrimPrefix(exp, "+"))
	if exp == "" {
		e, err = 0, nil
	}
	if err != nil {
		return exp
	}
	return strconv.Itoa(e + n)
}
