package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func env(kv ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == k {
				return kv[i+1]
			}
		}
		return ""
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		setting string
		env     func(string) string
		want    string
	}{
		{"", env("TERM", "xterm-256color"), "blocks false"},
		{"", env("TERM", "xterm-kitty"), "kitty false"},
		{"auto", env("TERM", "xterm-ghostty"), "kitty false"},
		{"auto", env("TERM", "xterm-256color", "TERM_PROGRAM", "ghostty"), "kitty false"},
		{"auto", env("TERM", "xterm-256color", "TERM_PROGRAM", "iTerm.app"), "blocks false"},
		{"auto", env("TERM", "xterm-kitty", "TMUX", "/tmp/s,1,0"), "blocks false"},
		{"auto", env("TERM", "screen-256color", "TERM_PROGRAM", "ghostty"), "blocks false"},
		{"kitty", env("TERM", "tmux-256color"), "kitty true"},
		{"kitty", env("TERM", "xterm"), "kitty false"},
		{"iterm2", env("TMUX", "x"), "blocks false"},
		{"iterm2", env(), "iterm2 false"},
		{"sixel", env("TMUX", "x"), "sixel false"},
		{"none", env("TERM", "xterm-kitty"), "none false"},
		{"nonsense", env("TERM", "xterm-kitty"), "kitty false"},
	} {
		p, tmux := Choose(c.setting, c.env)
		assert.Equalf(t, fmt.Sprint(p, " ", tmux), c.want, "%q", c.setting)
	}
	if got := AskTmux(env("TMUX", "/tmp/tmux-0/default,12,0")); strings.Join(got, " ") != "tmux -S /tmp/tmux-0/default show-options -gwqv allow-passthrough" {
		t.Errorf("%v", got)
	}
}

func square(n int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	for i := 0; i < len(img.Pix); i += 4 {
		copy(img.Pix[i:], []byte{c.R, c.G, c.B, c.A})
	}
	return img
}

// What no document shows any more is forgotten, here and in the terminal, and what is missed is reported once it is visible again.
func TestStoreIsBounded(t *testing.T) {
	s := New(Kitty, false, 0, 0)
	var out bytes.Buffer
	w := s.On(&out)
	first := s.Place(square(30, color.NRGBA{255, 0, 0, 255}))
	if len(first) != 2 || s.Frame(first) {
		t.Fatalf("%q", first)
	}
	for range 2 * maxPictures {
		rows := s.Place(square(30, color.NRGBA{0, 255, 0, 255}))
		if s.Frame(rows) {
			t.Fatal("a picture is lost at once")
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.pictures) > maxPictures || !s.Frame(first) {
		t.Errorf("%d pictures are kept", len(s.pictures))
	}
	sent, gone := bytes.Count(out.Bytes(), []byte("a=T,")), bytes.Count(out.Bytes(), []byte("a=d,d=I,"))
	if sent != 2*maxPictures+1 || sent-gone != maxPictures {
		t.Errorf("%d were sent, %d taken away", sent, gone)
	}
	assert.Equalf(t, bytes.Count(s.Close(), []byte("a=d,d=I,")), maxPictures, "are taken away at the end")
	big := New(Blocks, false, 10, 20)
	for range 11 {
		if big.Place(square(1900, color.NRGBA{9, 9, 9, 255})); big.pixels > maxPixels {
			t.Fatalf("%d pixels are kept", big.pixels)
		}
	}
	if lines := big.Place(square(3000, color.NRGBA{})); lines != nil {
		t.Error("a picture of nine million pixels is taken")
	}
}

// tmux hands on what is wrapped, each piece for itself.
func TestTmux(t *testing.T) {
	s := New(Kitty, true, 0, 0)
	var out bytes.Buffer
	w := s.On(&out)
	s.Frame(s.Place(square(200, color.NRGBA{1, 2, 3, 255})))
	if _, err := w.Write([]byte("frame")); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if !strings.HasPrefix(got, "\x1bPtmux;\x1b\x1b_Ga=T,f=100,q=2,U=1,") || !strings.HasSuffix(got, "\x1b\x1b\\\x1b\\frame") || strings.Count(got, "\x1b\x1b_G") != strings.Count(got, "\x1bPtmux;") {
		t.Errorf("%.100q … %q", got, got[len(got)-20:])
	}
}

// A photograph has more colours than sixel; what is transparent stays as it is.
func TestSixelOfManyColours(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(4 * x), uint8(4 * y), uint8(x * y), 255})
		}
	}
	img.SetNRGBA(5, 5, color.NRGBA{})
	index, colors := indexed(img)
	if len(colors) > 256 || index[5*64+5] != -1 || index[6*64+5] < 0 {
		t.Errorf("%d colours", len(colors))
	}
	if b := sixel(img); !bytes.HasPrefix(b, []byte("\x1bP0;1q\"1;1;64;64#")) || !bytes.HasSuffix(b, []byte("\x1b\\")) || bytes.Count(b, []byte("-")) != 10 {
		t.Errorf("%.60q", b)
	}
}

// A row that no picture is in stays as it is, and no spot is drawn where another colour than a picture's is before a placeholder.
func TestForeignPlaceholders(t *testing.T) {
	s := New(Sixel, false, 0, 0)
	rows := []string{"plain \x1b[31mred\x1b[m", "\x1b[38;2;1;2;3m" + placeholder + "\u0305\u0305\x1b[39m"}
	if !s.Frame(rows) || rows[0] != "plain \x1b[31mred\x1b[m" || strings.Contains(rows[1], placeholder) || len(s.spots) != 0 {
		t.Errorf("%q, %v", rows, s.spots)
	}
	if _, after := s.around([]byte("\x1b[38;2;1;0;0m ")); after != nil {
		t.Errorf("%q", after)
	}
}
