package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// all reads everything: events as "name=data", errors as "!…".
func all(r *Reader) []string {
	var out []string
	for {
		ev, err := r.Next()
		var long *TooLongError
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &long) && !long.Fatal:
			out = append(out, fmt.Sprintf("!long %q %q", long.Head, long.Tail))
		case err != nil:
			return append(out, fmt.Sprintf("!%v %s", err, ev.Data))
		default:
			out = append(out, ev.Name+"="+string(ev.Data))
		}
	}
}

func TestStandard(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\n\n":                             "message=a",
		"data:a\r\ndata: b\r\n\r\n":               "message=a\nb",
		"data:a\rdata\rdata: b\r\revent: x\r\r":   "message=a\n\nb",
		"\xef\xbb\xbfdata: a\n\n":                 "message=a",
		"data: \xef\xbb\xbf\n\n":                  "message=\xef\xbb\xbf",
		"event: ping\ndata:  two\n\ndata:1\n\n":   "ping= two|message=1",
		": comment\n:\nfoo: bar\ndata:1\n\n":      "message=1",
		"data\n\nevent: x\n\ndata:\n\n":           "",
		"data: ü€😀\n\n":                           "message=ü€😀",
		"data:a":                                  "!unexpected EOF a",
		"data:a\ndata:b":                          "!unexpected EOF a\nb",
		"data:a\n":                                "message=a",
		"data:a\nid: 1":                           "message=a",
		"":                                        "",
		"\n\n\n":                                  "",
		"data: 123456789\n\ndata:1\n\n":           `!long "123456789" "123456789"|message=1`,
		"data: 1234\ndata: 5678\n\n":              `!long "1234\n5678" "5678"`,
		"data: 12345678\n\n":                      "message=12345678",
		"data: " + strings.Repeat("x", 30) + "\n": "!a server-sent event is larger than 8 bytes ",
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytewise": iotest.OneByteReader, "dataerr": iotest.DataErrReader,
		} {
			max := int64(8)
			if strings.Contains(in, "😀") || strings.Contains(in, "\xef") {
				max = 20
			}
			assert.Equalf(t, strings.Join(all(NewReader(wrap(strings.NewReader(in)), max, 20)), "|"), want, "%s %q", name, in)
		}
	}
}

func TestIDAndRetry(t *testing.T) {
	r := NewReader(strings.NewReader("id: 1\nretry: 1500\ndata:\n\nid: 2\ndata: a\n\nid: 3\x00\nretry: x\ndata: b\n\nid\n\nid: 9\ndata: c\n"), 100, 0)
	for _, want := range []string{"a 2", "b 2", "c "} {
		ev, err := r.Next()
		if got := string(ev.Data) + " " + r.LastID(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if d, ok := r.Retry(); !ok || d != 1500*time.Millisecond {
		t.Errorf("retry %v, %v", d, ok)
	}
}

func TestLongLines(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, cut := range []int{0, 1, 17, bufferSize - 6, bufferSize - 7, bufferSize, 3 * bufferSize} {
			b := big[:len(big)-cut]
			in := "id: 7" + end + "data: " + string(b) + end + end + ":" + string(big) + end + "event: e" + end + "data: x" + end + "data:" + string(b) + end + end + "data: last" + end + end
			got := all(NewReader(iotest.HalfReader(strings.NewReader(in)), 1<<20+2, 0))
			want := []string{"message=" + string(b), "e=x\n" + string(b), "message=last"}
			if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
				t.Errorf("cut %d, end %q: %d events", cut, end, len(got))
			}
		}
	}
	_, err := NewReader(strings.NewReader("data: "+string(big)), 2<<20, 0).Next()
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut long line: %v", err)
	}
}

func TestLimit(t *testing.T) {
	big := strings.Repeat("x", 200<<10)
	in := "data: <" + big + ">\n\ndata: ok\n\n"
	size := int64(len(big) + 2)
	if got := all(NewReader(strings.NewReader(in), size, 0)); len(got) != 2 {
		t.Errorf("at the limit: %d events", len(got))
	}
	r := NewReader(strings.NewReader(in), size-1, 1<<20)
	_, err := r.Next()
	var long *TooLongError
	if !errors.As(err, &long) || long.Fatal || long.Head[0] != '<' || long.Tail[len(long.Tail)-1] != '>' || len(long.Head) > edge || len(long.Tail) > edge {
		t.Fatalf("one byte above: %v", err)
	}
	if ev, err := r.Next(); err != nil || string(ev.Data) != "ok" {
		t.Errorf("after it: %q, %v", ev.Data, err)
	}
	// A line that never ends is given up, whatever its field.
	for _, field := range []string{"data: ", "id: ", ": "} {
		r = NewReader(io.MultiReader(strings.NewReader(field), endless{}), 1<<20, 1<<20)
		if _, err := r.Next(); !errors.As(err, &long) || !long.Fatal {
			t.Errorf("endless %q: %v", field, err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// reference is the standard, word for word, over the whole text.
func reference(in string) []string {
	in = strings.TrimPrefix(in, "\xef\xbb\xbf")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(in, "\n")
	lines = lines[:len(lines)-1] // a line without an end
	var out []string
	var name, data string
	for _, l := range lines {
		if l == "" {
			if d := strings.TrimSuffix(data, "\n"); d != "" {
				if name == "" {
					name = "message"
				}
				out = append(out, name+"="+d)
			}
			name, data = "", ""
			continue
		}
		f, v, _ := strings.Cut(l, ":")
		v = strings.TrimPrefix(v, " ")
		switch f {
		case "data":
			data += v + "\n"
		case "event":
			name = v
		}
	}
	return out
}

func FuzzReader(f *testing.F) {
	f.Add("data: a\r\n\r\nevent: b\ndata: c\rdata:d\n\n", uint64(1))
	f.Add("\xef\xbb\xbf\xef\xbb\xbfdata: a\n\r\n\r", uint64(2))
	f.Fuzz(func(t *testing.T, in string, seed uint64) {
		in += "\n\n"
		got := all(NewReader(&splitter{r: strings.NewReader(in), rnd: rand.New(rand.NewPCG(seed, 0))}, 1<<20, 1<<20))
		want := reference(in)
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	})
}

// splitter reads in pieces of random sizes.
type splitter struct {
	r   io.Reader
	rnd *rand.Rand
}

func (s *splitter) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 1+s.rnd.IntN(7))]) }

func BenchmarkNotifications(b *testing.B) {
	in := bytes.Repeat([]byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n\n"), 10_000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(in), 1<<20, 0)
		for n := 0; ; n++ {
			if _, err := r.Next(); err != nil {
				if n != 10_000 {
					b.Fatal(n, err)
				}
				break
			}
		}
	}
}

func BenchmarkOneEvent50MB(b *testing.B) {
	in := append(append([]byte("data: "), bytes.Repeat([]byte("x"), 50<<20)...), "\n\n"...)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if ev, err := NewReader(bytes.NewReader(in), 64<<20, 0).Next(); err != nil || len(ev.Data) != 50<<20 {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadAll50MB(b *testing.B) {
	in := append(append([]byte("data: "), bytes.Repeat([]byte("x"), 50<<20)...), "\n\n"...)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := io.ReadAll(struct{ io.Reader }{bytes.NewReader(in)}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStreamedEvents(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000)
	in := "data: a\n\n" + "event: x\ndata: <" + long + "\ndata: " + long + ">\n\n" + "data: !" + long + "\n\n" + "data: -" + long + "\n\ndata: b\n\n"
	want := []string{"a", "<" + long + "\n" + long + ">", "", "!", "b"}
	for name, from := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
		r := NewReader(from, 100_000, 1<<30)
		var sink *bytes.Buffer
		r.Stream(func(head []byte) io.Writer {
			if len(head) == 0 || len(head) > 200_000 {
				t.Errorf("%s: asked with %d bytes", name, len(head))
			}
			switch head[0] {
			case '<':
				sink = &bytes.Buffer{}
				return sink
			case '!':
				return io.Discard
			}
			return nil
		})
		var got []string
		for {
			ev, err := r.Next()
			var long *TooLongError
			switch {
			case errors.As(err, &long) && !long.Fatal:
				got = append(got, "!")
				continue
			case err == io.EOF:
			case err != nil:
				t.Fatal(name, err)
			case ev.Streamed && sink != nil:
				if ev.Name != "x" || ev.Data != nil {
					t.Errorf("%s: %+v", name, ev)
				}
				got, sink = append(got, sink.String()), nil
			default:
				got = append(got, string(ev.Data))
			}
			if err != nil {
				break
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d events, %.20q", name, len(got), got)
		}
	}
	// A writer that fails ends it, and so does a stream that breaks off within the event.
	r := NewReader(strings.NewReader(in), 100_000, 0)
	r.Stream(func([]byte) io.Writer { return failing{} })
	_, _ = r.Next()
	if _, err := r.Next(); err == nil || err.Error() != "full" {
		t.Error(err)
	}
	r = NewReader(strings.NewReader("data: "+long), 100_000, 0)
	r.Stream(func([]byte) io.Writer { return io.Discard })
	if ev, err := r.Next(); err != io.ErrUnexpectedEOF {
		t.Errorf("%+v %v", ev, err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
