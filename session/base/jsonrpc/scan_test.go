package jsonrpc

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// plainByByte is what plain does, one byte at a time.
func plainByByte(b []byte, i int) int {
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

func TestPlainLooksAtEachByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fill := []string{"x", "\x80", "\xff", "!", "#", "[", "]", "\x7f", " ", "é漢"}
	for n := range 140 {
		text := []byte(strings.Repeat(fill[n%len(fill)], n))[:n]
		for i := 0; i <= n; i++ {
			if got := plain(text, i); got != n {
				t.Fatalf("%q from %d: %d", text, i, got)
			}
		}
		// Every byte that could end a string, at each place, beside what a borrow could make of its neighbour.
		for at := range n {
			was := text[at]
			for c := range 256 {
				text[at] = byte(c)
				from := random.IntN(at + 1)
				if got, want := plain(text, from), plainByByte(text, from); got != want {
					t.Fatalf("%q from %d: %d, not %d", text, from, got, want)
				}
			}
			text[at] = was
		}
	}
}

// FuzzPlain holds the search for the end of a string against the one that looks at each byte by itself.
func FuzzPlain(f *testing.F) {
	f.Add([]byte("\x1f \"!\\[\x9f\x22"), 0)
	f.Add([]byte(strings.Repeat("words and more of them; ", 6)+`\n"`), 3)
	f.Fuzz(func(t *testing.T, b []byte, i int) {
		if i < 0 || i > len(b) {
			return
		}
		if got, want := plain(b, i), plainByByte(b, i); got != want {
			t.Fatalf("%q from %d: %d, not %d", b, i, got, want)
		}
	})
}
