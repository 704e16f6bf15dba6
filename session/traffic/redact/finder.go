package redact

import "strings"

// finder finds many values in a text at once. Each is at least shortest bytes long.
type finder struct {
	values map[string]bool
	begin  map[[shortest]byte][]string // by what they begin with
	maybe  [1 << 13]uint64             // bits of the first bytes
}

func hash(s string) uint32 {
	return (uint32(s[0])*16777619 ^ uint32(s[1])*2654435761 ^ uint32(s[2])*40503 ^ uint32(s[3])) % (1 << 19)
}

func (f *finder) add(v string) {
	if f.values[v] {
		return
	}
	if f.values == nil {
		f.values, f.begin = map[string]bool{}, map[[shortest]byte][]string{}
	}
	v = strings.Clone(v)
	f.values[v] = true
	k := [shortest]byte([]byte(v[:shortest]))
	f.begin[k] = append(f.begin[k], v)
	h := hash(v)
	f.maybe[h/64] |= 1 << (h % 64)
}

// replace replaces each value that is in a text, of several at one place the longest.
func (f *finder) replace(s string, with func(v string) string) string {
	if len(f.values) == 0 {
		return s
	}
	var b strings.Builder
	last := 0
	for i := 0; i+shortest <= len(s); i++ {
		h := hash(s[i:])
		if f.maybe[h/64]>>(h%64)&1 == 0 {
			continue
		}
		best := ""
		for _, v := range f.begin[[shortest]byte([]byte(s[i:i+shortest]))] {
			if len(v) > len(best) && strings.HasPrefix(s[i:], v) {
				best = v
			}
		}
		if best != "" {
			b.WriteString(s[last:i])
			b.WriteString(with(best))
			i += len(best) - 1
			last = i + 1
		}
	}
	if last == 0 {
		return s
	}
	return b.String() + s[last:]
}
