package filter

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxFilter  = 16 << 10 // bytes of a filter
	maxPattern = 1 << 10  // bytes of a regular expression
	maxTerms   = 64       // conditions of a filter

	maxAlternatives = 256 // values behind the keys of all of them
)

// A parser reads one filter.
type parser struct {
	o Options
	s string
	i int

	start        int // of the condition that is read
	alternatives int
}

func (p *parser) errorf(at int, format string, args ...any) error {
	return &SyntaxError{Col: utf8.RuneCountInString(p.s[:min(at, len(p.s))]) + 1, Message: fmt.Sprintf(format, args...), Valid: p.start}
}

func (p *parser) space() {
	for p.i < len(p.s) && isBlank(p.s[p.i]) {
		p.i++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// end is where the text from i on has its next blank.
func (p *parser) end(i int) int {
	for i < len(p.s) && !isBlank(p.s[i]) {
		i++
	}
	return i
}

// term reads a condition, which begins at p.i.
func (p *parser) term(f *Filter) (t term, err error) {
	if c := p.s[p.i]; c == '-' && p.end(p.i) > p.i+1 {
		t.not = true
		p.i++
	}
	if key, ok := p.key(); ok {
		at := p.i
		p.i += len(key) + 1
		field := fieldOf(key)
		if field == nil {
			return t, p.errorf(at, "unknown key: %s; expected %s, or quotes around a text with a colon", key, keyList())
		}
		t.match, err = field.parse(p)
		t.reads = field.reads
		return t, err
	}
	if c := p.s[p.i]; (c == '<' || c == '>') && p.bound() {
		t.match, err = p.compare()
		return t, err
	}
	from := p.i
	word := p.word()
	if word == "" {
		return t, p.errorf(from, "there is nothing between the quotes")
	}
	if !t.not {
		f.words = append(f.words, p.s[from:p.i])
	}
	t.match, t.reads = p.o.word(word), p.o.Text != nil
	return t, nil
}

// key is the name before a colon, if the text at p.i has one. What has slashes behind the colon is a URI, and a word.
func (p *parser) key() (string, bool) {
	n := p.i
	for n < len(p.s) && (p.s[n] >= 'a' && p.s[n] <= 'z' || p.s[n] >= 'A' && p.s[n] <= 'Z') {
		n++
	}
	if n-p.i < 2 || n == len(p.s) || p.s[n] != ':' {
		return "", false
	}
	key := p.s[p.i:n]
	return key, fieldOf(key) != nil || !strings.HasPrefix(p.s[n:], "://")
}

// word reads up to the next blank, or to the closing quote of what begins with one. A quote that is never closed is itself.
func (p *parser) word() string {
	if p.s[p.i] == '"' {
		if s, n, ok := unquote(p.s[p.i:]); ok {
			p.i += n
			return s
		}
	}
	end := p.end(p.i)
	s := p.s[p.i:end]
	p.i = end
	return s
}

// unquote reads a text in double quotes, in which \" and \\ are a quote and a backslash, and returns how many bytes it took.
func unquote(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i + 1, true
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", 0, false
}

// A value is one of the alternatives behind a key, and where it stands.
type value struct {
	text string
	at   int
}

// values reads alternatives up to the next blank. They are parted by any byte of seps outside of quotes.
func (p *parser) values(seps, expected string) (out []value, err error) {
	var b strings.Builder
	at := p.i
	next := func() error {
		if b.Len() == 0 {
			return p.errorf(at, "expected %s", expected)
		}
		if p.alternatives++; p.alternatives > maxAlternatives {
			return p.errorf(at, "too many values: %d are the limit", maxAlternatives)
		}
		out = append(out, value{b.String(), at})
		b.Reset()
		return nil
	}
	for p.i < len(p.s) && !isBlank(p.s[p.i]) {
		switch c := p.s[p.i]; {
		case c == '"':
			s, n, ok := unquote(p.s[p.i:])
			if !ok {
				return nil, p.errorf(p.i, "expected a closing quote")
			}
			b.WriteString(s)
			p.i += n
		case strings.IndexByte(seps, c) >= 0:
			if err := next(); err != nil {
				return nil, err
			}
			p.i++
			at = p.i
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	return out, next()
}

// pattern reads what a text is compared with: a text that it has, =text for all of it, or /regexp/.
func (p *parser) pattern(seps string) (pattern, error) {
	if p.i < len(p.s) && p.s[p.i] == '/' {
		return p.regexp()
	}
	exact := p.i < len(p.s) && p.s[p.i] == '='
	if exact {
		p.i++
	}
	vs, err := p.values(seps, "a text, \"a text with blanks\", or /a regular expression/")
	if err != nil {
		return pattern{}, err
	}
	out := pattern{exact: exact}
	for _, v := range vs {
		out.texts = append(out.texts, text.NewNeedle(v.text))
	}
	return out, nil
}

// regexp reads a regular expression between slashes; \/ is a slash, and an i behind it makes case meaningless.
func (p *parser) regexp() (pattern, error) {
	from := p.i
	var b strings.Builder
	for p.i++; p.i < len(p.s) && p.s[p.i] != '/'; p.i++ {
		if p.s[p.i] == '\\' && p.i+1 < len(p.s) {
			if p.i++; p.s[p.i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(p.s[p.i])
	}
	switch {
	case p.i == len(p.s):
		return pattern{}, p.errorf(from, "expected a / at the end of the regular expression; put a text that begins with a slash in quotes")
	case b.Len() == 0:
		return pattern{}, p.errorf(from, "expected a regular expression between the slashes")
	case b.Len() > maxPattern:
		return pattern{}, p.errorf(from, "the regular expression is too long: %d bytes, %d are the limit", b.Len(), maxPattern)
	}
	src := b.String()
	if p.i++; p.i < len(p.s) && p.s[p.i] == 'i' {
		src = "(?i)" + src
		p.i++
	}
	if p.i < len(p.s) && !isBlank(p.s[p.i]) {
		return pattern{}, p.errorf(p.i, "expected a blank behind the regular expression; put a text that begins with a slash in quotes")
	}
	re, err := regexp.Compile(src)
	if err != nil {
		why := err.Error()
		var bad *syntax.Error
		if errors.As(err, &bad) {
			why = bad.Code.String() + ": " + clip(bad.Expr)
		}
		return pattern{}, p.errorf(from+1, "not a regular expression: %s", why)
	}
	return pattern{re: re}, nil
}

func clip(s string) string { return text.Clip(s, 40) }
