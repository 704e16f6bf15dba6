package contract

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/offer/schema"
)

const (
	maxDefinition = 256 << 10 // bytes of a definition that is kept as it is; of others a hash
	lineWidth     = 120       // cells of a line that holds more than one thing
)

// clean is a text as the file has it: no secrets, and valid UTF-8.
func clean(s string) string { return mask.Prose(strings.ToValidUTF8(s, "\uFFFD")) }

// Canonical is a JSON value in a form that is the same for the same value: members in order of their names, no blanks, secrets hidden,
// characters that nobody sees escaped. Numbers stay as they were written: 1 and 1.0 are two forms. Of a value that is too large, or cannot be
// read, it is an object with a hash of what was sent, secrets included.
func Canonical(raw []byte) string {
	v, ok := value(raw)
	if !ok {
		sum := sha256.Sum256(raw)
		return fmt.Sprintf(`{"bytes":%d,"sha256":%q}`, len(raw), hex.EncodeToString(sum[:]))
	}
	var b strings.Builder
	compact(&b, v)
	return b.String()
}

// hash matches what Canonical writes instead of a definition, and unknown. All of it has to be so: a definition may have a member called bytes.
var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{"bytes":[0-9]+(?:,"sha256":"[0-9a-f]{64}")?\}$`) })

// isHash reports whether canonical JSON is a hash instead of a definition, by how Canonical writes one.
func isHash(canonical string) bool { return hash().MatchString(canonical) }

// value reads JSON whose strings need not be UTF-8; false for what is too large or broken.
func value(raw []byte) (*schema.Value, bool) {
	if len(raw) > maxDefinition {
		return nil, false
	}
	return canonicalValue(string(raw))
}

// canonicalValue reads what Canonical wrote, however long: that is a few times as long as what was sent, since it escapes more, and what was too large
// is a hash by now.
func canonicalValue(canonical string) (*schema.Value, bool) {
	v, err := schema.ParseValue([]byte(strings.ToValidUTF8(canonical, "\uFFFD")))
	return v, err == nil && v.IsSet()
}

// sortedMembers are the members of an object by name, the last one of those that are there twice.
func sortedMembers(v *schema.Value) []schema.Member {
	last := map[string]bool{}
	var out []schema.Member
	for _, m := range slices.Backward(v.Members()) {
		if !last[m.Name] {
			last[m.Name] = true
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b schema.Member) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// compact writes a value without blanks. What it wrote must come out the same when it is read and written again, as pretty and the file's reader do.
func compact(b *strings.Builder, v *schema.Value) {
	switch v.Kind() {
	case schema.Object:
		b.WriteByte('{')
		for i, m := range sortedMembers(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, m.Name)
			b.WriteByte(':')
			compact(b, m.Value)
		}
		b.WriteByte('}')
	case schema.Array:
		b.WriteByte('[')
		for i, m := range v.Members() {
			if i > 0 {
				b.WriteByte(',')
			}
			compact(b, m.Value)
		}
		b.WriteByte(']')
	case schema.String:
		quote(b, clean(v.Text()))
	default:
		b.WriteString(v.Literal())
	}
}

// quote writes a string in which a reader of the file sees every character: what is not printable is escaped, so that a review of the file's diff
// shows what hides in a text.
func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

func quoteString(s string) string {
	var b strings.Builder
	quote(&b, s)
	return b.String()
}

// pretty writes canonical JSON over several lines: small things take one. indent is that of the line that it begins in.
func pretty(b *strings.Builder, canonical, indent string) {
	v, err := schema.ParseValue([]byte(canonical))
	if err != nil { // it was written by compact
		b.WriteString(canonical)
		return
	}
	lines(b, v, indent, len(indent))
}

// lines writes a value whose first character comes at the column at; members are two blanks deeper than indent.
func lines(b *strings.Builder, v *schema.Value, indent string, at int) {
	open, end := "{", "}"
	switch v.Kind() {
	case schema.Array:
		open, end = "[", "]"
	case schema.Object:
	default:
		b.WriteString(v.Literal())
		return
	}
	if hasOnlyScalars(v) {
		var line strings.Builder
		compact(&line, v)
		if at+line.Len() <= lineWidth || v.Len() == 0 {
			b.WriteString(line.String())
			return
		}
	}
	b.WriteString(open)
	for i, m := range v.Members() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + indent + "  ")
		width := len(indent) + 2
		if v.Kind() == schema.Object {
			name := quoteString(m.Name)
			b.WriteString(name + ": ")
			width += len(name) + 2
		}
		lines(b, m.Value, indent+"  ", width)
	}
	b.WriteString("\n" + indent + end)
}

// hasOnlyScalars reports whether a container holds nothing but scalars and containers that are empty.
func hasOnlyScalars(v *schema.Value) bool {
	return !slices.ContainsFunc(v.Members(), func(m schema.Member) bool {
		return m.Value.Len() > 0
	})
}
