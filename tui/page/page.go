// Package page says once what there is to say of a thing, or of a list of things: a call, a diagnosis, a task. Four writers take it from there: a
// screen draws it ([Page.Lines], [Table.Line]), linear mode, $PAGER and the clipboard have it as text ([Page.Spoken]), a command prints it
// ([Page.Print]), and what it is as JSON is its Value.
//
// Texts in a page are as they were sent. What draws and what speaks makes them safe; what prints leaves that to whoever knows where it goes, except
// that in all of them names and lines are one line, and a text of several lines that is not one of its own stands behind its name: nobody makes a
// line that looks like one of ours.
package page

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// Page is a title, parts in their order, and the rows of a list.
type Page struct {
	Title string
	Badge string // above the rows at the right; "" is how many of them a filter leaves
	Foot  string // all of it in a few words: in the title row of a pane, and below the rows of a text
	// None is why there are no rows, and what to do about it.
	None  [2]string
	Table Table
	After []string // remarks below the rows
	// Counted is a list that says above it how many rows it has, also without a filter.
	Counted bool
	// Value is what it is as JSON; nil where nobody asks for it.
	Value any

	parts []part
}

// Tone is what a text means to whoever reads it; a theme has a colour for each.
type Tone uint8

// Tones. Nothing depends on the colour alone: glyphs and words say the same.
const (
	Plain Tone = iota
	Good
	Warn
	Bad
	Busy
	Quiet
	Accent
	Code
	Link
	Heading
	Login
	server // and the colours of servers from here on
)

// Server is the tone of a server's name.
func Server(name string) Tone { return server + Tone(themes.Hue(name)) }

// Style is a tone in a theme.
func (t Tone) Style(th *paint.Theme) paint.Style {
	if t >= server {
		return th.Hue(int(t - server))
	}
	return [...]paint.Style{th.Text, th.OK, th.Warn, th.Error, th.Info, th.Muted, th.Accent, th.Code, th.Link, th.Heading, th.Login}[t]
}

// Text is words in a tone.
type Text struct {
	S    string
	Tone Tone
}

// Mark is a state: a glyph and a word, either of which says it.
type Mark struct {
	Glyph, Word string
	Tone        Tone
}

// String is glyph and word.
func (m Mark) String() string { return strings.TrimSpace(m.Glyph + " " + m.Word) }

// Text is glyph and word in the tone of the mark, with more behind it where that is not empty.
func (m Mark) Text(more ...string) Text {
	s := m.String()
	for _, x := range more {
		if x != "" {
			s += " · " + x
		}
	}
	return Text{s, m.Tone}
}

type kind uint8

const (
	field  kind = iota
	short       // a field that stands beside the one before, where they are drawn
	framed      // a field that the frame around what is drawn says
	line
	several // lines
	note
	hint // what a key does, where there are keys
	heading
	bullet
	rawJSON
	diff
	bar
	item
	grid
	paragraph
	quote
)

// part is one of a page's, label and text where it has both.
type part struct {
	kind
	label string
	Text
	more        []Text  // behind the text of a field, below that of a paragraph
	most        int     // lines of a paragraph that are drawn
	done, total float64 // of a bar
	about       string  // of an item
	to          string  // where a field leads
	rows        [][]string
	named       bool // the first row is the names of the columns
}

func (p *Page) add(k kind, label string, t Text) *Page {
	if t.S != "" || k == line {
		p.parts = append(p.parts, part{kind: k, label: label, Text: t})
	}
	return p
}

// Field adds a name and its value, unless that is empty.
func (p *Page) Field(label, value string) *Page { return p.add(field, label, Text{S: value}) }

// Styled is Field for a value in a tone. With more of them they are drawn in one line, whatever its width.
func (p *Page) Styled(label string, value Text, more ...Text) *Page {
	if p.add(field, label, value); value.S != "" {
		p.parts[len(p.parts)-1].more = more
	}
	return p
}

// Short is Field for a value that is drawn beside the field before it.
func (p *Page) Short(label, value string) *Page { return p.add(short, label, Text{S: value}) }

// Lead is Field for a value that leads somewhere: it is drawn in one line, which whoever draws it lets be chosen.
func (p *Page) Lead(label, value, to string) *Page {
	p.parts = append(p.parts, part{kind: field, label: label, Text: Text{S: value}, to: to})
	return p
}

// Framed is Field for what a frame says that it is drawn in.
func (p *Page) Framed(label, value string) *Page { return p.add(framed, label, Text{S: value}) }

// Line adds a line of its own, drawn in as many as it needs.
func (p *Page) Line(t Tone, s string) *Page { return p.add(line, "", Text{s, t}) }

// Text adds a text of its own in its lines.
func (p *Page) Text(t Tone, s string) *Page { return p.add(several, "", Text{s, t}) }

// Paragraph adds a text that is drawn apart from what is above it, at most a screen of it; more stands directly below.
func (p *Page) Paragraph(t Tone, s string, more ...Text) *Page { return p.Brief(40, t, s, more...) }

// Brief is Paragraph with at most that many lines of the text.
func (p *Page) Brief(most int, t Tone, s string, more ...Text) *Page {
	if p.add(paragraph, "", Text{s, t}); s != "" {
		last := &p.parts[len(p.parts)-1]
		last.most, last.more = most, more
	}
	return p
}

// Quote adds lines that somebody else wrote, each behind a rule, the first with who did.
func (p *Page) Quote(who, lines string) *Page { return p.add(quote, who, Text{S: lines}) }

// Note adds a remark of ours.
func (p *Page) Note(s string) *Page { return p.add(note, "", Text{s, Quiet}) }

// Key adds what a key does, where there are keys; no key is none.
func (p *Page) Key(key, does string) *Page {
	if key == "" {
		return p
	}
	return p.add(hint, key, Text{S: does})
}

// Heading begins a section.
func (p *Page) Heading(s string) *Page { return p.add(heading, "", Text{S: s}) }

// Bullet adds an item of a section.
func (p *Page) Bullet(s string) *Page { return p.add(bullet, "", Text{S: s}) }

// JSON adds raw over several lines, members in their order and literals as they are.
func (p *Page) JSON(raw []byte) *Page { return p.add(rawJSON, "", Text{string(raw), Code}) }

// Diff adds the hunks of a unified diff.
func (p *Page) Diff(hunks string) *Page { return p.add(diff, "", Text{S: hunks}) }

// Progress adds how much is done of a total, 0 for an unknown one.
func (p *Page) Progress(label string, done, total float64) *Page {
	s := fmt.Sprintf("%g", done)
	if total > 0 {
		s += fmt.Sprintf(" of %g", total)
	}
	p.parts = append(p.parts, part{kind: bar, label: label, Text: Text{S: s}, done: done, total: total})
	return p
}

// Item adds a line of a list: a mark, a name, and what there is to say of it, each of which may be empty. Where the tone of the mark is that of
// code it is printed in one line, so that it can be copied.
func (p *Page) Item(mark Text, name, about string) *Page {
	p.parts = append(p.parts, part{kind: item, label: name, Text: mark, about: about})
	return p
}

// Rows adds lists of texts whose columns stand below each other; named is that the first one is the names of the columns.
func (p *Page) Rows(named bool, rows [][]string) *Page {
	if len(rows) > 0 {
		p.parts = append(p.parts, part{kind: grid, rows: rows, named: named})
	}
	return p
}

// Append adds the parts of another page.
func (p *Page) Append(more Page) { p.parts = append(p.parts, more.parts...) }
