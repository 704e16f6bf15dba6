package filter

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A pattern is what a text is compared with.
type pattern struct {
	texts []text.Needle // any of them
	exact bool          // the whole text is one of them
	re    *regexp.Regexp
}

func (w *pattern) in(s string) bool {
	if w.re != nil {
		return w.re.MatchString(s)
	}
	for i := range w.texts {
		if w.exact {
			if s == w.texts[i].Text() {
				return true
			}
		} else if at, _ := w.texts[i].Index(s, 0); at >= 0 {
			return true
		}
	}
	return false
}

func (w *pattern) inBody(b []byte) bool {
	if w.re != nil {
		return w.re.Match(b)
	}
	for i := range w.texts {
		if w.exact {
			if string(b) == w.texts[i].Text() {
				return true
			}
		} else if at, _ := w.texts[i].IndexBytes(b, 0); at >= 0 {
			return true
		}
	}
	return false
}

// escape looks for each text as JSON can have it, too: with quotes escaped, and with other characters than ASCII as \u00e9.
func (w *pattern) escape() {
	for _, n := range w.texts {
		var b strings.Builder
		for _, r := range n.Text() {
			switch {
			case r == '"' || r == '\\':
				b.WriteByte('\\')
				b.WriteRune(r)
			case r < utf8.RuneSelf:
				b.WriteRune(r)
			default:
				for _, u := range utf16.AppendRune(nil, r) {
					fmt.Fprintf(&b, `\u%04x`, u)
				}
			}
		}
		if b.String() == n.Text() {
			continue
		}
		w.texts = append(w.texts, text.NewNeedle(b.String()))
	}
}

// kindWords are what the traffic calls the kinds.
var kindWords = func() (out [16]string) {
	for _, word := range kinds {
		k, _ := kindOf(word)
		out[k&15] = word
	}
	return out
}()

// KindWord is what an entry of a kind is called: req, res, err, note, stderr, bad, http, state, span.
func KindWord(k journal.Kind) string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return ""
}

// word looks for a plain word in what a row of the traffic says: kind, server and its title, method, tool, #id, status, note.
func (o Options) word(word string) condition {
	n := text.NewNeedle(word)
	if o.Text != nil {
		return func(j *journal.Journal, e *journal.Entry) bool {
			at, _ := n.Index(o.Text(j, e), 0)
			return at >= 0
		}
	}
	if strings.Contains(word, " ") { // which may be in more than one part
		return func(_ *journal.Journal, e *journal.Entry) bool {
			at, _ := n.IndexBytes(o.appendRow(make([]byte, 0, 4096), e), 0)
			return at >= 0
		}
	}
	has := func(s string) bool {
		at, _ := n.Index(s, 0)
		return at >= 0
	}
	id, isID := strings.CutPrefix(word, "#")
	idNeedle := text.NewNeedle(id)
	return func(_ *journal.Journal, e *journal.Entry) bool {
		return has(e.Method) || has(e.Tool) || has(e.Server) || has(KindWord(e.Kind)) || has(e.Status) || has(e.Note) || has(e.ID) ||
			isID && e.ID != "" && idNeedle.HasPrefix(e.ID) || len(o.Titles) > 0 && has(o.Titles[e.Server])
	}
}

// appendRow appends the words of a row of the traffic.
func (o Options) appendRow(b []byte, e *journal.Entry) []byte {
	add := func(before, s string) {
		if s != "" {
			b = append(append(append(b, ' '), before...), s...)
		}
	}
	b = append(b, KindWord(e.Kind)...)
	add("", e.Server)
	add("", e.Method)
	add("", e.Tool)
	add("#", e.ID)
	add("", e.Status)
	add("", e.Note)
	add("", o.Titles[e.Server])
	return b
}

// Row is the words of a row of the traffic, which plain words look at.
func Row(e *journal.Entry) string { return string(Options{}.appendRow(nil, e)) }
