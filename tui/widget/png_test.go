package widget

import (
	"bytes"
	"context"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// A picture is shown although a chunk that no pixel comes from is damaged, and
// refused where one is that pixels come from.
func TestPNGWithDamagedChunks(t *testing.T) {
	t.Parallel()
	good := encode(t, "png", halves(4, 2))
	const afterIHDR = 8 + 12 + 13
	damaged := bytes.Join([][]byte{good[:afterIHDR], []byte("\x00\x00\x00\x03iCCPabc\x00\x00\x00\x00"), good[afterIHDR:]}, nil)
	th := testTheme(colorprofile.TrueColor)
	pic, err := Image(context.Background(), th, damaged, 80, 24)
	want, _ := Image(context.Background(), th, good, 80, 24)
	if err != nil || len(pic.Lines) != 1 || pic.Lines[0] != want.Lines[0] {
		t.Errorf("%q, %v", pic.Lines, err)
	}
	if got := pixelsOf(damaged); !bytes.Equal(got, good) {
		t.Errorf("%q, want %q", got, good)
	}
	for _, cut := range []int{0, 4, 8, 12, 20, len(good) - 20, len(good) - 1} {
		if _, err := Image(context.Background(), th, good[:cut], 80, 24); err == nil {
			t.Errorf("%d bytes of %d are a picture", cut, len(good))
		}
	}
	bad := bytes.Clone(good)
	bad[afterIHDR-1] ^= 1
	if _, err := Image(context.Background(), th, bad, 80, 24); err == nil {
		t.Error("a damaged header is a picture")
	}
}
