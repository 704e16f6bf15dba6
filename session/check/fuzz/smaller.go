package fuzz

import (
	"math/big"
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// Weight orders values by how much there is to read: the length counts most, then signs and characters that are hard to read. What shrinking takes
// always weighs less, so that it ends.
func Weight(v *schema.Value) int {
	n := len(v.JSON())*4 + 1
	if v.Kind() == schema.Number {
		n += strings.Count(v.Literal(), "-") + strings.Count(v.Literal(), ".")
	}
	for _, r := range v.Literal() {
		if r > '~' || r == '\\' {
			n++
		}
	}
	return n
}

// Smaller calls try with values that are smaller than v, the smallest first, until it returns false.
func Smaller(v *schema.Value, try func(*schema.Value) bool) bool {
	switch v.Kind() {
	case schema.Object:
		return smallerObject(v, try)
	case schema.Array:
		return smallerArray(v, try)
	case schema.String:
		return smallerText(v.Text(), try)
	case schema.Number:
		for _, n := range []string{"0", "1", "-1"} {
			if !try(number(n)) {
				return false
			}
		}
		if n, ok := new(big.Int).SetString(v.Literal(), 10); ok && len(v.Literal()) < 100 {
			return try(number(n.Quo(n, big.NewInt(2)).String()))
		}
	case schema.Bool:
		return try(schema.BoolValue(false))
	}
	return true
}

// smallerObject tries fewer members first, then smaller ones.
func smallerObject(v *schema.Value, try func(*schema.Value) bool) bool {
	if v.Len() > 0 && !try(schema.ObjectValue()) {
		return false
	}
	if v.Len() > 3 { // half of it at once
		for _, half := range [][]schema.Member{v.Members()[:v.Len()/2], v.Members()[v.Len()/2:]} {
			if !try(schema.ObjectValue(half...)) {
				return false
			}
		}
	}
	for _, m := range v.Members() {
		if !try(v.Delete(m.Name)) {
			return false
		}
	}
	for _, m := range v.Members() {
		if !Smaller(m.Value, func(k *schema.Value) bool { return try(v.Set([]string{m.Name}, k)) }) {
			return false
		}
	}
	return true
}

// smallerArray tries the first 0, 1, 2, 4 … elements, then one less, then smaller ones; of the latter two the first 20.
func smallerArray(v *schema.Value, try func(*schema.Value) bool) bool {
	items := make([]*schema.Value, v.Len())
	for i := range items {
		items[i] = v.Elem(i)
	}
	for n := 0; n < len(items); n = max(2*n, 1) {
		if !try(schema.ArrayValue(items[:n]...)) {
			return false
		}
	}
	for i := range First(items, 20) {
		without := append(items[:i:i], items[i+1:]...)
		if !try(schema.ArrayValue(without...)) {
			return false
		}
	}
	for i := range First(items, 20) {
		ok := Smaller(items[i], func(k *schema.Value) bool {
			changed := append([]*schema.Value(nil), items...)
			changed[i] = k
			return try(schema.ArrayValue(changed...))
		})
		if !ok {
			return false
		}
	}
	return true
}

func smallerText(s string, try func(*schema.Value) bool) bool {
	r := []rune(s)
	for n := 0; n < len(r); n = max(2*n, 1) {
		if !try(schema.StringValue(string(r[:n]))) || n > 0 && !try(schema.StringValue(strings.Repeat("a", n))) {
			return false
		}
	}
	if len(r) > 2 {
		for _, part := range [][]rune{r[len(r)/2:], r[1:], r[:len(r)-1]} {
			if !try(schema.StringValue(string(part))) {
				return false
			}
		}
	}
	return try(schema.StringValue(strings.Repeat("a", len(r)))) // of the same length, and easier to read
}
