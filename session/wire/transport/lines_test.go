package transport

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
)

// sink keeps what a line reader delivers.
type sink struct {
	frames []string
	broken []string // head, tail
	errs   []error
}

func (s *sink) Frame(f []byte) { s.frames = append(s.frames, string(f)) }
func (s *sink) Broken(h, t []byte, err error) {
	s.broken = append(s.broken, string(h)+"|"+string(t))
	s.errs = append(s.errs, err)
}
func (s *sink) Lost(error) {}

// TestS14_FrameLimit: exactly the limit passes, one byte more does not, and the frames around are untouched; wherever reads
// happen to end.
func TestS14_FrameLimit(t *testing.T) {
	for _, max := range []int{10, 4096, lineBuffer, lineBuffer + 1, 3 * lineChunk} {
		for _, over := range []int{-1, 0, 1, 2, 100, 2 * lineBuffer} {
			for _, end := range []string{"\n", "\r\n"} {
				big := strings.Repeat("x", max+over-1) + "y"
				input := "first" + end + big + end + "\n \n" + "last\n"
				for name, r := range map[string]io.Reader{"whole": strings.NewReader(input), "half": iotest.HalfReader(strings.NewReader(input)), "odd": &oddReader{r: strings.NewReader(input)}} {
					var s sink
					require.NoError(t, newLineReader(int64(max), &s).run(r))
					want := []string{"first", big, "last"}
					if over > 0 {
						want = []string{"first", "last"}
					}
					if strings.Join(s.frames, "\n") != strings.Join(want, "\n") {
						t.Errorf("%s: limit %d%+d: %d frames", name, max, over, len(s.frames))
					}
					if (over > 0) != (len(s.broken) == 1) {
						t.Errorf("%s: limit %d%+d: %d broken", name, max, over, len(s.broken))
						continue
					}
					if over > 0 && (!strings.HasSuffix(s.broken[0], "y") || len(s.broken[0]) > headBytes+tailBytes+1 || !strings.Contains(s.errs[0].Error(), "raise the limit")) {
						t.Errorf("%q %v", s.broken[0], s.errs[0])
					}
				}
			}
		}
	}
}

// oddReader reads pieces of random size.
type oddReader struct{ r io.Reader }

func (o *oddReader) Read(p []byte) (int, error) {
	return o.r.Read(p[:1+rand.IntN(min(len(p), 70_000))])
}

func TestLinesAreOfTheirOwn(t *testing.T) {
	var want []string
	var input bytes.Buffer
	for range 300 {
		line := strings.Repeat(string(rune('a'+rand.IntN(26))), 1+rand.IntN(20_000))
		want = append(want, line)
		input.WriteString(line + "\n")
	}
	var got [][]byte
	l := newLineReader(0, &keeper{&got})
	require.NoError(t, l.run(&oddReader{r: &input}))
	for i := range l.buf {
		l.buf[i] = '#'
	}
	if len(got) != len(want) {
		t.Fatal(len(got))
	}
	for i := range got {
		if string(got[i]) != want[i] {
			t.Fatalf("frame %d shares memory with the buffer or is wrong", i)
		}
	}
}

type keeper struct{ frames *[][]byte }

func (k *keeper) Frame(f []byte)                { *k.frames = append(*k.frames, f) }
func (k *keeper) Broken(_, _ []byte, err error) { panic(err) }
func (k *keeper) Lost(error)                    {}

func TestUnfinishedLine(t *testing.T) {
	var s sink
	require.NoError(t, newLineReader(0, &s).run(strings.NewReader("whole\nhalf of it")))
	if len(s.frames) != 1 || len(s.broken) != 1 || !strings.HasPrefix(s.broken[0], "half of it") || failure.KindOf(s.errs[0]) != failure.Protocol {
		t.Errorf("%q %q %v", s.frames, s.broken, s.errs)
	}
}
