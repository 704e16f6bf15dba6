package fuzz

import (
	"math/big"
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// number is a value for a literal, unset where it is none.
func number(literal string) *schema.Value {
	v, ok := schema.NumberValue(literal)
	if !ok {
		return nil
	}
	return v
}

// plus is a number literal with something added. It is "" for one that is not finite, or has too many digits to be worth it.
func plus(literal, add string) string {
	if len(literal) > 40 || strings.ContainsAny(literal, "eE") {
		return ""
	}
	a, ok := new(big.Rat).SetString(literal)
	b, also := new(big.Rat).SetString(add)
	if !ok || !also {
		return ""
	}
	a.Add(a, b)
	if a.IsInt() {
		return a.Num().String()
	}
	return strings.TrimRight(a.FloatString(12), "0")
}

// numbers are some that the bounds of a field allow; what else it asks for is for the validator.
func numbers(f *schema.Field) (out []Value) {
	step := "1"
	if f.Shape() == schema.ShapeNumber && f.MultipleOf == "" {
		step = "0.5"
	}
	if f.MultipleOf != "" {
		step = f.MultipleOf
	}
	add := func(literal, what string) {
		if v := number(literal); v != nil {
			out = append(out, Value{Value: v, What: what})
		}
	}
	if f.Minimum != "" {
		if !f.ExclusiveMin {
			add(f.Minimum, "its minimum")
		}
		add(plus(f.Minimum, step), "just above its minimum")
	}
	if f.Maximum != "" {
		if !f.ExclusiveMax {
			add(f.Maximum, "its maximum")
		}
		add(plus(f.Maximum, "-"+step), "just below its maximum")
	}
	within := func(literal string) bool {
		n, ok := new(big.Rat).SetString(literal)
		lo, low := new(big.Rat).SetString(f.Minimum)
		hi, high := new(big.Rat).SetString(f.Maximum)
		return ok && (f.Minimum == "" || !low || n.Cmp(lo) >= 0) && (f.Maximum == "" || !high || n.Cmp(hi) <= 0)
	}
	for _, n := range [][2]string{{"1", "one"}, {"0", "zero"}, {step, "one step"}, {"-1", "negative"}, {"10", "ten"}, {"2147483648", "2^31"}, {"9007199254740991", "2^53-1"}} {
		if within(n[0]) {
			add(n[0], n[1])
		}
	}
	return out
}

// formats are values of the commoner formats; nil for others, of which any text is tried. Hosts are names and addresses that are reserved for
// examples, or this machine.
func formats(format string) []string {
	switch format {
	case "date":
		return []string{"2024-02-29", "1970-01-01", "9999-12-31"}
	case "time":
		return []string{"00:00:00Z", "23:59:59.999+02:00"}
	case "date-time":
		return []string{"2024-02-29T23:59:59Z", "1969-12-31T23:59:59.999-12:00"}
	case "duration":
		return []string{"PT1S", "P1Y2M3DT4H5M6S"}
	case "email":
		return []string{"a@example.com", "first.last+tag@example.com"}
	case "uri", "iri", "url":
		return []string{"https://example.invalid/", "http://127.0.0.1:9/a?b=c#d", "urn:example:a"}
	case "uri-reference":
		return []string{"a/b", "../c?d"}
	case "uuid":
		return []string{"123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"}
	case "ipv4":
		return []string{"192.0.2.1", "0.0.0.0"}
	case "ipv6":
		return []string{"2001:db8::1", "::"}
	case "hostname":
		return []string{"host.example.invalid"}
	case "json-pointer":
		return []string{"/a/0"}
	case "regex":
		return []string{"a+"}
	}
	return nil
}

// texts are strings that a field allows as far as length, pattern and format go, not all at once: with a pattern or format lengths are not looked at.
func (g *Generator) texts(f *schema.Field) (out []Value) {
	add := func(s, what string) {
		out = append(out, Value{Value: schema.StringValue(s), What: what})
	}
	for _, s := range formats(f.Format) {
		add(s, "a "+f.Format)
	}
	for _, p := range First(f.Patterns, 2) {
		for range 3 {
			if s, ok := matchingText(g.rng, p); ok {
				add(s, "matches its pattern")
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	lo, hi := max(f.MinLength, 0), f.MaxLength
	fit := func(s string) string {
		r := []rune(s)
		for len(r) < min(lo, maxText) {
			r = append(r, []rune(s+"a")...)
			if len(r) > lo {
				r = r[:lo]
			}
		}
		if hi >= 0 && len(r) > hi {
			r = r[:hi]
		}
		return string(r)
	}
	add(fit("text"), "a word")
	for _, s := range [][2]string{
		{"", "empty"},
		{"a", "one character"},
		{" ", "a space"},
		{"žluťoučký 日本語 🎉 e\u0301", "unicode"},
		{"a\nb\tc", "control characters"},
		{`'"<&>%$\{}`, "characters that mean something elsewhere"},
		{"\u202eabc\u200b", "invisible characters"},
		{"0", "a digit"},
		{"null", "a word of JSON"},
	} {
		add(fit(s[0]), s[1])
	}
	if lo > 0 {
		add(strings.Repeat("a", min(lo, maxText)), "as short as allowed")
	}
	if hi > 0 && hi <= maxText {
		add(strings.Repeat("a", hi), "as long as allowed")
	}
	return out
}
