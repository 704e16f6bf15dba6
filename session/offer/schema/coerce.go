package schema

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// CoerceError says which text could not become a value, and what would do.
type CoerceError struct {
	Key  string // the key as it was given, or the field's name; may be ""
	Text string // the text
	Want string // what is needed, with an example where that helps
}

func (e *CoerceError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s; got %q", e.Want, text.Clip(e.Text, 80))
	}
	return fmt.Sprintf("%s: %s; got %q", text.Clip(e.Key, 80), e.Want, text.Clip(e.Text, 80))
}

// Coerce reads what a person typed for this field: text stays text where the schema takes strings, and is read as JSON
// where it takes something else. A field that takes anything gets JSON if the text is JSON, else a string. The error is
// a *[CoerceError].
func (f *Field) Coerce(given string) (*Value, error) {
	return f.coerce(given, 0)
}

// coerce is Coerce; depth counts the items and variants on the way down, which a schema may nest without end.
func (f *Field) coerce(given string, depth int) (*Value, error) {
	fail := func(format string, args ...any) (*Value, error) {
		return nil, &CoerceError{Text: given, Want: fmt.Sprintf(format, args...)}
	}
	trimmed := strings.TrimSpace(given) // a string keeps its blanks; for all else they mean nothing
	shape := f.Shape()
	if trimmed == "null" && f.Nullable() && !f.Types.Has(TypeString) && shape != ShapeVariants {
		return nullValue, nil
	}
	switch shape {
	case ShapeString:
		return StringValue(given), nil
	case ShapeInteger:
		v, ok := NumberValue(trimmed)
		if !ok || !isInteger(trimmed) {
			return fail("needs a whole number, such as 42")
		}
		return v, nil
	case ShapeNumber:
		v, ok := NumberValue(trimmed)
		if !ok {
			return fail("needs a number, such as 1.5")
		}
		return v, nil
	case ShapeBoolean:
		switch strings.ToLower(trimmed) {
		case "true":
			return trueValue, nil
		case "false":
			return falseValue, nil
		}
		return fail("needs true or false")
	case ShapeNull:
		if trimmed == "null" {
			return nullValue, nil
		}
		return fail("needs null, the only value that is allowed")
	case ShapeSelect:
		return f.coerceOption(given)
	case ShapeConst:
		if v := (Option{Value: f.Const}); v.matchesText(given) {
			return f.Const, nil
		}
		return fail("needs %s, the only value that is allowed", text.Clip(f.Const.String(), 80))
	case ShapeObject:
		v, err := ParseValue([]byte(given))
		if err != nil || v.Kind() != Object {
			return fail(`needs an object as JSON, such as {"key": "value"}`)
		}
		return v, nil
	case ShapeArray:
		if strings.HasPrefix(trimmed, "[") {
			v, err := ParseValue([]byte(given))
			if err != nil {
				return fail("needs an array as JSON (%v)", err)
			}
			return v, nil
		}
		v, err := f.Item(0).coerce(given, depth+1)
		if err != nil || depth > 4 {
			return fail("needs an array as JSON, such as [1, 2], or one item")
		}
		return ArrayValue(v), nil
	case ShapeVariants:
		return f.coerceVariant(given, depth)
	case ShapeNever:
		return fail("takes no value at all: the schema forbids it")
	}
	if v, err := ParseValue([]byte(given)); err == nil && v.IsSet() {
		return v, nil
	}
	return StringValue(given), nil
}

// matchesText reports whether given is the option's value or title.
func (o Option) matchesText(given string) bool {
	return o.Value.Text() == given || o.Value.String() == given || o.Title != "" && o.Title == given
}

// coerceOption takes the option whose value is the text, before one that is so titled or written as JSON: "1" is the string where
// both the string and the number may be chosen.
func (f *Field) coerceOption(given string) (*Value, error) {
	for _, exact := range []bool{true, false} {
		for _, o := range f.Options {
			if exact && o.Value.Text() == given || !exact && o.matchesText(given) {
				return o.Value, nil
			}
		}
	}
	var labels []string
	for i, o := range f.Options {
		if i == 12 {
			labels = append(labels, fmt.Sprintf("… (%d in all)", len(f.Options)))
			break
		}
		labels = append(labels, text.Clip(o.Value.Text(), 60))
	}
	return nil, &CoerceError{Text: given, Want: "needs one of " + strings.Join(labels, ", ")}
}

// coerceVariant takes the first variant that reads it as a value that
// fits it; strings come last, since every text is one.
func (f *Field) coerceVariant(given string, depth int) (*Value, error) {
	if f.Nullable() && strings.TrimSpace(given) == "null" {
		return nullValue, nil
	}
	var asText *Value
	if depth < 4 {
		for _, x := range f.Variants() {
			k := x.Field()
			v, err := k.coerce(given, depth+1)
			if err != nil {
				continue
			}
			if v.Kind() == String && k.Shape() == ShapeString {
				if asText == nil {
					asText = v
				}
				continue
			}
			if x.only != 0 || f.s.fits(x, v) {
				return v, nil
			}
		}
	}
	if asText.IsSet() {
		return asText, nil
	}
	var titles []string
	for i, x := range f.Variants() {
		if i == 8 {
			titles = append(titles, "…")
			break
		}
		titles = append(titles, text.Clip(x.Title, 60))
	}
	return nil, &CoerceError{Text: given, Want: "needs a value for one of these alternatives: " + strings.Join(titles, ", ") + "; give JSON with key:=…"}
}
