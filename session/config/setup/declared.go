package setup

import "slices"

// Declares reports whether a value is one that the declarer of an input wrote: its default, its fixed value, or one of its choices. Such a
// value is public, whatever the input is called, and whoever takes it over.
func (i Input) Declares(v string) bool {
	if i.Fixed != "" && v == i.Fixed || slices.Contains(i.Choices, v) {
		return true
	}
	for _, d := range i.split(i.Default) {
		if clean, why := i.check(d); why == "" && clean == v {
			return true
		}
	}
	return false
}

// Replace is v with those values replaced that the declarer did not write.
func (v Values) Replace(in []Input, by func(Input, string) string) Values {
	out := make(Values, len(v))
	for name, list := range v {
		out[name] = slices.Clone(list)
	}
	for _, i := range in {
		for n, one := range v[i.Name] {
			if !i.Declares(one) {
				out[i.Name][n] = by(i, one)
			}
		}
	}
	return out
}
