package sandbox

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"hash/adler32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// document is a PDF of these objects, the first of which is the catalog.
func document(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< /Length %d %s>>\nstream\n%s\nendstream", len(content), dict, content)
}

// paged is a PDF with a page for each content stream.
func paged(contents ...string) []byte {
	const first = 4
	kids := ""
	var more []string
	for i, c := range contents {
		kids += fmt.Sprintf("%d 0 R ", first+2*i)
		more = append(more, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", first+2*i+1), c)
	}
	widths := strings.Repeat("600 ", 95)
	return document(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(contents)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [" + widths + "] >>",
	}, more...)...)
}

// Words that are apart by their places alone are words, and lines are lines.
func TestT3_PagesOfADocument(t *testing.T) {
	s := open(t, Options{Parallel: 1})
	doc := paged(
		stream("", "BT /F1 10 Tf 72 700 Td (Launch) Tj 42 0 Td (plans) Tj 0 -12 Td [(ker) 20 (ned) -800 (apart)] TJ T* (x) ' ET"),
		stream("", "q 1 0 0 1 10 10 cm BT /F1 10 Tf 1 0 0 1 72 700 Tm (second \\(page\\) \\351) Tj ET Q"),
		stream("", ""),
	)
	pages, err := s.Pages(t.Context(), doc, 20*time.Second)
	if want := []string{"Launch plans\nkerned apart x", "second (page) é", ""}; err != nil || len(pages) != 3 || strings.Join(pages, "|") != strings.Join(want, "|") {
		t.Errorf("%q %v", pages, err)
	}
	sample, err := os.ReadFile(filepath.Join("..", "kb", "testdata", "two-pages.pdf"))
	require.NoError(t, err)
	if pages, err = s.Pages(t.Context(), sample, 20*time.Second); err != nil || len(pages) != 2 || !strings.Contains(pages[1], "submarine") {
		t.Errorf("%q %v", pages, err)
	}
}

func deflated(text string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// bomb is what a text becomes that is repeated n times and deflated. Each time is a block of its own, so that it is made at once.
func bomb(text string, n int) string {
	var block bytes.Buffer
	w, _ := flate.NewWriter(&block, flate.BestCompression) // a level that there is
	_, _ = io.WriteString(w, text)
	_ = w.Flush()
	sum := adler32.New()
	for range n {
		_, _ = io.WriteString(sum, text)
	}
	const header, last = "\x78\xda", "\x01\x00\x00\xff\xff"
	return header + strings.Repeat(block.String(), n) + last + string(sum.Sum(nil))
}

// Whatever a document does, its worker ends in time, within its memory, and the next document is read.
func TestHostileDocuments(t *testing.T) {
	slow(t)
	t.Parallel()
	s := open(t, Options{Parallel: 1})
	limit := 300 * time.Millisecond // which two of them use up
	if budget.All() {
		limit = time.Second
	}
	part, parts := strings.Repeat("(x) Tj ", 100_000), 200 // 140 MB
	if r, err := zlib.NewReader(strings.NewReader(bomb(part, 3))); err != nil {
		t.Fatal(err)
	} else if whole, err := io.ReadAll(r); err != nil || string(whole) != strings.Repeat(part, 3) {
		t.Fatalf("the bomb is none: %d bytes, %v", len(whole), err)
	}
	good := paged(stream("", "BT /F1 10 Tf (fine) Tj ET"))
	for name, doc := range map[string][]byte{
		"empty":              {},
		"noise":              bytes.Repeat([]byte{0xff, 0, 'a'}, 1000),
		"cut":                good[:len(good)/2],
		"no pages":           document("<< /Type /Catalog >>"),
		"pages in a circle":  document("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1000000000 >>"),
		"its own parent":     document("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 3 0 R /Contents 4 0 R >>", stream("", "BT /F1 1 Tf (x) Tj ET")),
		"a deflate bomb":     paged(stream("/Filter /FlateDecode ", bomb(part, parts))),
		"deep brackets":      paged(stream("", strings.Repeat("[", 200_000))),
		"states without end": paged(stream("", strings.Repeat("q ", 1_000_000))),
		"a filter of itself": document("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Contents 4 0 R >>", "<< /Length 4 0 R /Filter 4 0 R >>\nstream\nx\nendstream"),
		"a letter for a book": document("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 4 0 R >> >> /Contents 6 0 R >>",
			"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 5 0 R >>",
			stream("", "begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <"+strings.Repeat("0062", 200)+"> endbfchar endcmap"),
			stream("", "BT /F1 10 Tf "+strings.Repeat("("+strings.Repeat("A", 200)+") Tj ", 100)+"ET")),
		"endless columns":      paged(stream("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 999999999999 >> ", deflated("\x02aaaa"))),
		"numbers out of reach": paged(stream("", "BT /F1 1e308 Tf 1e308 1e308 1e308 1e308 1e308 1e308 Tm (x) Tj 99999999999999999999 0 Td (y) Tj ET")),
	} {
		began := time.Now()
		pages, err := s.Pages(t.Context(), doc, limit)
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if err != nil && strings.Contains(err.Error(), "execute_code") {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(strings.Join(pages, "")); n > maxPDFText {
			t.Errorf("%s: %d bytes of text", name, n)
		}
		if pages, err := s.Pages(t.Context(), good, 20*time.Second); err != nil || len(pages) != 1 || pages[0] != "fine" {
			t.Fatalf("after %s: %q %v", name, pages, err)
		}
		t.Logf("%s: %d pages, %.120v", name, len(pages), err)
	}
	if _, err := s.Pages(t.Context(), make([]byte, MaxPDF+1), time.Second); err == nil || !strings.Contains(err.Error(), "may have") {
		t.Error(err)
	}
}
