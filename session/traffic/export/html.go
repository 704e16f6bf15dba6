package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/wire/journal"

	"github.com/mcphud/mcphud/session/base/text"
)

// How large a page becomes: bodies are cut at MaxBody, are left out once the page has grown to half of MaxPage, and rows beyond it.
const (
	MaxPage = 8_000_000
	MaxBody = 16_000
)

var arrows = [...]string{journal.None: "·", journal.Out: "→", journal.In: "←"}

var (
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// A page is one HTML file.
type page struct {
	out
	j    *journal.Journal
	all  *exchanges
	left int // rows that are not there
	cut  int // bodies that are shorter, or not there
}

// Finding is what is said on a page against some of its messages.
type Finding struct {
	Severity, Rule, Title, Fix, Section string
	Where                               []uint64 // the entries that it is about, some of them
	More                                int      // further ones
}

// HTML writes a page for people without mcphud: exchanges that fold open into their messages, and what findings say against
// them. It loads nothing, runs no script but its own, can be read without one, and is at most about MaxPage long. left says what is
// not in it.
func HTML(ctx context.Context, w io.Writer, j *journal.Journal, keep *Selection, findings []Finding, name, version string) (left string, err error) {
	p := &page{out: out{w: bufio.NewWriterSize(w, 256<<10)}, j: j, all: exchangesOf(j)}
	h := opening{
		title: showInvisible(filepath.Base(name)), version: version, findings: findings,
		policy: "default-src 'none'; style-src '" + hashOf(pageStyle) + "'; script-src '" + hashOf(pageScript) + "'; base-uri 'none'; form-action 'none'",
	}
	h.from, h.to, h.servers = p.span(keep)
	p.open(h)
	n := 0
	j.Each(0, func(e *journal.Entry) bool {
		if n++; keep == nil || keep.Has(e.Seq) {
			p.entry(*e)
		}
		return p.err == nil && (n&1023 != 0 || ctx.Err() == nil)
	})
	var notes []string
	if p.left > 0 {
		notes = append(notes, fmt.Sprintf("%d rows are left out: the page is limited to about %s.", p.left, text.Bytes(MaxPage)))
	}
	if p.cut > 0 {
		notes = append(notes, fmt.Sprintf("Messages cut or left out: %d. One is shown up to %s, and none once the page is large.", p.cut, text.Bytes(MaxBody)))
	}
	p.foot(notes)
	return strings.Join(notes, " "), cmp.Or(p.err, ctx.Err(), p.w.Flush())
}

// hashOf is what a policy names a script or style by.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// span is the time that a journal is about, and its servers.
func (p *page) span(keep *Selection) (from, to, servers string) {
	var first, last time.Time
	seen := map[string]bool{}
	var names []string
	p.j.Each(0, func(e *journal.Entry) bool {
		if keep != nil && !keep.Has(e.Seq) {
			return true
		}
		if first.IsZero() {
			first = e.Time
		}
		last = e.Time
		if e.Server != "" && !seen[e.Server] && len(names) < 20 {
			seen[e.Server] = true
			names = append(names, e.Server)
		}
		return true
	})
	const layout = "2006-01-02 15:04:05"
	return first.UTC().Format(layout), last.UTC().Format(layout), showInvisible(strings.Join(names, ", "))
}

// entry writes a row: an exchange when its request comes, and what stands alone.
func (p *page) entry(e journal.Entry) {
	if e.Root != 0 && e.Root != e.Seq {
		if _, ok := p.j.Get(e.Root); ok {
			return
		}
	}
	if p.n > MaxPage {
		p.left++
		return
	}
	r := row{
		time: e.Time.UTC().Format("15:04:05.000"), server: showInvisible(e.Server), status: e.Status,
		what: showInvisible(strings.TrimSpace(arrows[e.Dir] + " " + cmp.Or(e.Method, e.Kind.String()) + " " + e.Tool)), size: text.Bytes(e.Size),
	}
	frames := []journal.Entry{e}
	if e.Kind == journal.Request {
		frames = p.all.frames(e.Seq)
		size := 0
		for _, f := range frames {
			size += f.Size
		}
		r.size = text.Bytes(size)
	}
	if e.Took > 0 {
		r.took = text.Duration(e.Took)
	}
	if e.Kind != journal.Request && e.Note != "" {
		r.what = showInvisible(strings.TrimSpace(r.what + " " + e.Note))
	}
	for _, f := range frames {
		r.frames = append(r.frames, p.message(f))
	}
	p.row(r)
}

// message is one entry of a row.
func (p *page) message(e journal.Entry) frame {
	words := []string{fmt.Sprintf("#%d", e.Seq), e.Time.UTC().Format("15:04:05.000000"), arrows[e.Dir], e.Kind.String(), e.Method}
	if e.ID != "" {
		words = append(words, "id "+e.ID)
	}
	if m := e.Mark.String(); m != "" {
		words = append(words, m)
	}
	words = append(words, e.Hop, e.Note)
	f := frame{seq: e.Seq, head: showInvisible(strings.Join(strings.Fields(strings.Join(words, " ")), " "))}
	switch {
	case e.Size == 0:
		return f
	case p.n > MaxPage/2:
		p.cut++
		f.cut = fmt.Sprintf("%s, not shown: the page would be too large", text.Bytes(e.Size))
		return f
	}
	body, err := p.j.Head(e.Seq, 4*MaxBody) // white space may go
	if err != nil {
		f.cut = err.Error()
		return f
	}
	whole := len(body) == e.Size
	_, body = journal.Masked(e, body)
	if whole && (e.Kind <= journal.Notification || e.Kind == journal.Span) {
		v := jsontext.Value(bytes.Clone(body))
		if v.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil {
			body = v
		}
	}
	shown := text.Cut(string(body), MaxBody)
	if !whole || len(shown) < len(body) {
		p.cut++
		f.cut = fmt.Sprintf("cut: the whole is %s", text.Bytes(e.Size))
	}
	f.text = showInvisible(shown)
	return f
}

// showInvisible replaces control characters, and those that turn the direction of a text or have no width, by escapes that can be seen.
func showInvisible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, isInvisible) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isInvisible(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune(0x2400 + r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

func isInvisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0xad, r == 0x61c, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}
