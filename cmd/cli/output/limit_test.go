package output

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// limited is a printer of at most some bytes into a buffer.
func limited(most int) (*Printer, *bytes.Buffer) {
	var b bytes.Buffer
	p := &Printer{W: &b, Format: FormatJSON, Limit: &Limit{}}
	_ = p.Limit.Most.Set(fmt.Sprint(most))
	return p, &b
}

func (p *Printer) note(again string) string { return p.Limit.Note(&Selection{}, again) }

func TestLimitOfLines(t *testing.T) {
	t.Parallel()
	p, b := limited(20)
	for _, line := range []string{`{"a":1}`, `{"b": 2}`, `{"c":3}`, `{"d":4}`} {
		require.NoError(t, p.Line([]byte(line)))
	}
	// What fits is as it was sent, and nothing comes after the first that does not fit.
	assert.Equal(t, b.String(), "{\"a\":1}\n{\"b\": 2}\n")
	assert.Equal(t, p.note(""), "--max-bytes 20 left out 16 B of 33 B (2 of 4 lines): --max-bytes 1KiB prints all, --select JQ what it gives")

	p, b = limited(8)
	require.NoError(t, p.Line([]byte(`{ "a" : 1 }`)))
	assert.Equal(t, b.String(), "{\"a\":1}\n")
	assert.Equal(t, p.note(""), "")
	if p.Ends() {
		t.Error("it is not full")
	}
}

func TestLimitOfOneValue(t *testing.T) {
	t.Parallel()
	p, b := limited(80)
	require.NoError(t, p.Line([]byte(`{"tools":[{"name":"one"},{"name":"two"},{"name":"three"},{"name":"four"},{"name":"five"}]}`)))
	assert.Equal(t, b.String(), `{"tools":[{"name":"one"},{"name":"two"},"… 3 more"]}`+"\n")
	assert.Equal(t, p.note(""), "--max-bytes 80 left out 36 B of 91 B (3 of 5 in .tools): --max-bytes 1KiB prints all, --select '.tools[2:]' what is left of the first place")
	assert.Equal(t, p.note("do this"), "--max-bytes 80 left out 36 B of 91 B (3 of 5 in .tools); do this")
	s := &Selection{}
	require.NoError(t, s.Set(".result"))
	assert.Contains(t, p.Limit.Note(s, ""), `--select '(.result) | .tools[2:]' what is left`)

	// Less than one character fits.
	for _, most := range []int{1, 2, 3} {
		p, b = limited(most)
		require.NoError(t, p.Line([]byte(`"€€€€"`)))
		assert.Equal(t, b.String(), "")
		assert.Contains(t, p.note(""), "left out 15 B of 15 B (1 of 1 line): --max-bytes 1KiB prints all")
	}
	if !p.Ends() || !strings.Contains(p.note(""), "is reached: what came then is not printed") {
		t.Error(p.note(""))
	}
}

func TestLimitOfText(t *testing.T) {
	t.Parallel()
	p, b := limited(10)
	for _, text := range []string{"one\n", "two\nthree\n", "four\n"} {
		_, err := io.WriteString(p, text)
		require.NoError(t, err)
	}
	assert.Equal(t, b.String(), "one\ntwo\n")
	assert.Contains(t, p.note(""), "left out 11 B of 19 B (2 of 4 lines)")
	for text, want := range map[string]string{
		"a long line\n":         "a lon…\n",
		"€€€€€€\n":              "€…\n",
		"\x1b[1mbold\x1b[0m\n":  "",
		"four \nand the rest\n": "four \n",
	} {
		p, b = limited(9)
		_, err := io.WriteString(p, text)
		require.NoError(t, err)
		assert.Equal(t, b.String(), want)
	}
	p, b = limited(2)
	_, err := io.WriteString(p, "long\n")
	require.NoError(t, err)
	assert.Equal(t, b.String(), "")
}

// selecting is a printer of what an expression gives.
func selecting(t *testing.T, expr string) (*Printer, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	p := &Printer{W: &b, Format: FormatJSON, Select: &Selection{}}
	require.NoError(t, p.Select.Set(expr))
	return p, &b
}

func TestSelection(t *testing.T) {
	t.Parallel()
	p, b := selecting(t, ".a[]")
	require.NoError(t, p.Print(Answer{Result: []byte(`{"a":["x<y",1.50,{"b":12345678901234567890}],"c":3}`)}))
	assert.Equal(t, b.String(), "\"x<y\"\n1.50\n{\"b\":12345678901234567890}\n")
	assert.Equal(t, p.Select.Note(), "")
	if err := p.Select.Err(""); err != nil {
		t.Error(err)
	}

	p, b = selecting(t, ".a")
	p.Plain, p.Tty = true, true
	require.NoError(t, p.Line([]byte(`{"a":"one\n\u001b[2Jtwo"}`)))
	if strings.Contains(b.String(), "\x1b") || !strings.HasPrefix(b.String(), "one\n") || !strings.HasSuffix(b.String(), "two\n") {
		t.Errorf("%q", b.String())
	}

	// What fails for one line may do for the next, and the run fails.
	p, b = selecting(t, ".a.b")
	for _, line := range []string{`{"a":"text"}`, `{"a":{"b":1}}`} {
		require.NoError(t, p.Line([]byte(line)))
	}
	assert.Equal(t, b.String(), "1\n")
	err := p.Select.Err("")
	if assert.ErrorContains(t, err, "--select of 1 of 2 lines"); failure.KindOf(err) != failure.Usage {
		t.Error(err)
	}

	p, b = selecting(t, ".a[] | select(. > 5)")
	require.NoError(t, p.Line([]byte(`{"a":[1,2]}`)))
	assert.Equal(t, b.String()+p.Select.Note(), "--select '.a[] | select(. > 5)' gave nothing")

	if _, err := io.WriteString(p, "text\n"); failure.KindOf(err) != failure.Usage {
		t.Error(err)
	}
	if err := (&Selection{}).Set(".["); err == nil {
		t.Error("no error")
	}

	// The limit is of what is selected.
	p, b = selecting(t, ".a[]")
	p.Limit = &Limit{Most: 7}
	require.NoError(t, p.Line([]byte(`{"a":["one","two","three"]}`)))
	assert.Equal(t, b.String(), "\"one\"\n")
	assert.Contains(t, p.Limit.Note(p.Select, ""), "2 of 3 lines")
}
