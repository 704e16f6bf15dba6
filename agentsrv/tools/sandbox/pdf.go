package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/ledongthuc/pdf"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Limits of Pages.
const (
	MaxPDF      = 8 << 20 // bytes of a document
	maxPDFText  = 2 << 20 // bytes of text that are read of one
	maxPDFPages = 2000
	maxNesting  = 100 // graphics states that a page may push
)

// Pages is the text of a PDF document, page by page, read in a worker for at most timeout. A document that cannot be read, in that
// time or at all, is an error.
func (s *Sandbox) Pages(ctx context.Context, document []byte, timeout time.Duration) ([]string, error) {
	if n := len(document); n == 0 || n > MaxPDF {
		return nil, fmt.Errorf("sandbox: the document has %d bytes; it may have 1 to %d", n, MaxPDF)
	}
	res, err := s.do(ctx, request{PDF: document, Timeout: timeout.Milliseconds()})
	switch f, ok := jsonrpc.AsRequestError(err); {
	case ok && f.Kind == jsonrpc.KindTimeout:
		return nil, fmt.Errorf("sandbox: reading the document took more than %v and was stopped", timeout)
	case ok && f.Kind == jsonrpc.KindToolExecution && !errors.Is(err, errClosed):
		return nil, errors.New("sandbox: the worker exited while it read the document, which may need more memory than a worker has")
	case err != nil:
		return nil, err
	case res.Error != nil:
		return nil, errors.New("sandbox: " + res.Error.Message)
	}
	return res.pages, nil
}

// readPDF runs in a worker.
func readPDF(document []byte) (out outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = outcome{Error: &Thrown{Name: "Error", Message: fmt.Sprintf("the document is malformed: %v", p)}}
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return outcome{Error: &Thrown{Name: "Error", Message: err.Error()}}
	}
	size := 0
	for i := 1; i <= min(r.NumPage(), maxPDFPages) && size < maxPDFText; i++ {
		text := pageText(r.Page(i), maxPDFText-size)
		size += len(text)
		out.Pages = append(out.Pages, text)
	}
	return out
}

// matrix is a, b, c, d, e and f of a PDF.
type matrix [6]float64

func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

var identity = matrix{1, 0, 0, 1, 0, 0}

// typesetter makes lines of what a page draws: words are apart by their places alone in many documents.
type typesetter struct {
	page  pdf.Page
	fonts map[string]*typeface
	limit int

	ctm, text, line  matrix
	saved            []matrix
	font             *typeface
	size, leading    float64
	perChar, stretch float64
	endX, baseY      float64 // where the last text ended
	out              strings.Builder
}

// pageText is the text of a page as far as it can be read.
func pageText(p pdf.Page, limit int) string {
	t := &typesetter{page: p, fonts: map[string]*typeface{}, limit: limit, ctm: identity, text: identity, line: identity, stretch: 1}
	func() {
		defer func() { _ = recover() }() // what was read of a malformed page counts
		if contents := p.V.Key("Contents"); !p.V.IsNull() && contents.Kind() != pdf.Null {
			pdf.Interpret(contents, t.operator)
		}
	}()
	return strings.ToValidUTF8(t.out.String(), "\uFFFD")
}

func (t *typesetter) operator(stack *pdf.Stack, op string) {
	args := make([]pdf.Value, stack.Len())
	for i := len(args) - 1; i >= 0; i-- {
		args[i] = stack.Pop()
	}
	number := func(i int) float64 {
		if i < len(args) {
			return args[i].Float64()
		}
		return 0
	}
	all := matrix{number(0), number(1), number(2), number(3), number(4), number(5)}
	switch op {
	case "q":
		if len(t.saved) < maxNesting {
			t.saved = append(t.saved, t.ctm)
		}
	case "Q":
		if n := len(t.saved); n > 0 {
			t.ctm, t.saved = t.saved[n-1], t.saved[:n-1]
		}
	case "cm":
		t.ctm = all.mul(t.ctm)
	case "BT":
		t.text, t.line = identity, identity
	case "Tm":
		t.text, t.line = all, all
	case "TD", "Td":
		if op == "TD" {
			t.leading = -number(1)
		}
		t.move(number(0), number(1))
	case "TL":
		t.leading = number(0)
	case "Tc":
		t.perChar = number(0)
	case "Tz":
		t.stretch = number(0) / 100
	case "Tf":
		t.use(args)
	case "T*", "'", "\"":
		t.move(0, -t.leading)
		if op != "T*" && len(args) > 0 {
			t.show(args[len(args)-1].RawString())
		}
	case "Tj":
		if len(args) > 0 {
			t.show(args[0].RawString())
		}
	case "TJ":
		if len(args) == 0 {
			return
		}
		for i := range args[0].Len() {
			if v := args[0].Index(i); v.Kind() == pdf.String {
				t.show(v.RawString())
			} else {
				t.advance(-v.Float64() / 1000 * t.size * t.stretch)
			}
		}
	}
}

func (t *typesetter) use(args []pdf.Value) {
	if len(args) < 2 {
		return
	}
	name := args[0].Name()
	if t.fonts[name] == nil {
		f := t.page.Font(name)
		t.fonts[name] = &typeface{font: f, encoding: f.Encoder()}
	}
	t.font, t.size = t.fonts[name], args[1].Float64()
}

// typeface is a font with what it takes the library long to find out again.
type typeface struct {
	font     pdf.Font
	encoding pdf.TextEncoding
	widths   [256]float64
	known    [256]bool
}

func (f *typeface) width(c byte) float64 {
	if !f.known[c] {
		f.widths[c], f.known[c] = f.font.Width(int(c)), true
	}
	return f.widths[c]
}

func (t *typesetter) move(x, y float64) {
	t.line = matrix{1, 0, 0, 1, x, y}.mul(t.line)
	t.text = t.line
}

func (t *typesetter) advance(x float64) { t.text = matrix{1, 0, 0, 1, x, 0}.mul(t.text) }

// show writes a string where the text is now, after a space or a line feed if it is apart from the one before.
func (t *typesetter) show(s string) {
	shown := s
	if t.font != nil && t.font.encoding != nil {
		shown = t.font.encoding.Decode(s) // of any length
	}
	if t.out.Len()+1+len(shown) > t.limit {
		panic("enough")
	}
	at := t.text.mul(t.ctm)
	height := max(math.Abs(t.size*math.Hypot(at[2], at[3])), 0.1)
	switch {
	case t.out.Len() == 0:
	case math.Abs(at[5]-t.baseY) > height/2:
		t.out.WriteByte('\n')
	case at[4]-t.endX > 0.15*height || at[4] < t.endX-height:
		t.out.WriteByte(' ')
	}
	for _, r := range shown {
		if !unicode.IsControl(r) {
			t.out.WriteRune(r)
		}
	}
	for i := range len(s) {
		width := 0.0
		if t.font != nil {
			width = t.font.width(s[i])
		}
		t.advance((width/1000*t.size + t.perChar) * t.stretch)
	}
	end := t.text.mul(t.ctm)
	t.endX, t.baseY = end[4], end[5]
}
