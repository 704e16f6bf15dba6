package widget

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/paint"
)

// halves is red above and blue below.
func halves(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 0, 0, 255}
			if y >= h/2 {
				c = color.RGBA{0, 0, 255, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func encode(t *testing.T, format string, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 100})
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	require.NoError(t, err)
	return b.Bytes()
}

func TestImage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	data := encode(t, "png", halves(4, 2))
	pic, err := Image(ctx, testTheme(colorprofile.TrueColor), data, 80, 24)
	if err != nil || pic.Format != "png" || pic.W != 4 || pic.H != 2 {
		t.Fatal(pic, err)
	}
	if want := []string{"\x1b[38;2;255;0;0;48;2;0;0;255m▀▀▀▀\x1b[m"}; !slices.Equal(pic.Lines, want) {
		t.Errorf("%q, want %q", pic.Lines, want)
	}
	pic, err = Image(ctx, testTheme(colorprofile.ANSI256), data, 80, 24)
	if want := []string{"\x1b[38;5;196;48;5;21m▀▀▀▀\x1b[m"}; err != nil || !slices.Equal(pic.Lines, want) {
		t.Errorf("%q, want %q (%v)", pic.Lines, want, err)
	}
	pic, err = Image(ctx, testTheme(colorprofile.ASCII), data, 80, 24)
	if want := []string{"...."}; err != nil || !slices.Equal(pic.Lines, want) {
		t.Errorf("%q, want %q (%v)", pic.Lines, want, err)
	}
	for _, format := range []string{"png", "jpeg", "gif"} {
		pic, err := Image(ctx, testTheme(colorprofile.TrueColor), encode(t, format, halves(640, 480)), 20, 5)
		if err != nil || pic.Format != format || len(pic.Lines) != 5 {
			t.Fatalf("%s: %d lines, %v", format, len(pic.Lines), err)
		}
		for _, l := range pic.Lines {
			assert.Equalf(t, paint.Width(l), 13, "%s: cells", format)
		}
	}
}

// A transparent picture shows the theme's background.
func TestImageTransparent(t *testing.T) {
	t.Parallel()
	th := testTheme(colorprofile.TrueColor)
	pic, err := Image(context.Background(), th, encode(t, "png", image.NewNRGBA(image.Rect(0, 0, 1, 1))), 10, 10)
	if want := []string{"\x1b[38;2;21;23;28m▀\x1b[m"}; err != nil || !slices.Equal(pic.Lines, want) {
		t.Errorf("%q, want %q (%v)", pic.Lines, want, err)
	}
}

// hugePNG claims more pixels than it has bytes.
func hugePNG(w, h uint32) []byte {
	chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
	chunk = append(binary.BigEndian.AppendUint32(chunk, h), 8, 6, 0, 0, 0)
	out := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	return binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
}

func TestImageRefuses(t *testing.T) {
	t.Parallel()
	th := testTheme(colorprofile.TrueColor)
	whole := encode(t, "png", halves(100, 100))
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "not a valid PNG, JPEG or GIF"},
		{"text", []byte("hello\x1b[2J"), "not a valid PNG, JPEG or GIF"},
		{"a bomb", hugePNG(100_000, 100_000), "100000 × 100000"},
		{"too many pixels", hugePNG(10_000, 10_000), "10000 × 10000"},
		{"cut", whole[:len(whole)/2], "damaged"},
		{"too many bytes", make([]byte, MaxImageBytes+1), "bytes"},
	} {
		_, err := Image(context.Background(), th, tt.data, 80, 24)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Image(ctx, th, whole, 80, 24); err == nil {
		t.Error("a cancelled picture was drawn")
	}
}

func FuzzImage(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"), 10, 5)
	f.Add(hugePNG(1, 1), 3, 3)
	f.Fuzz(func(t *testing.T, data []byte, w, h int) {
		if w > 200 || h > 200 {
			return
		}
		pic, err := Image(context.Background(), testTheme(colorprofile.TrueColor), data, w, h)
		if err == nil && (len(pic.Lines) > max(h, 0) || len(pic.Lines) > 0 && paint.Width(pic.Lines[0]) > w) {
			t.Fatalf("%d lines of %d cells in %d×%d", len(pic.Lines), paint.Width(pic.Lines[0]), w, h)
		}
	})
}

// canvas keeps what is placed on it.
type canvas struct{ got *image.NRGBA }

func (c *canvas) Place(img *image.NRGBA) []string { c.got = img; return []string{"x"} }
func (c *canvas) Cell() (w, h int)                { return 10, 20 }

// On a canvas a picture has its own size where there is room, an icon a multiple of it, and nothing is drawn where no pictures are wanted.
func TestImageOnACanvas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, cols, rows, wantW, wantH int }{
		{400, 300, 80, 24, 400, 300},
		{1600, 300, 80, 24, 800, 150},
		{400, 960, 80, 24, 200, 480},
		{32, 32, 80, 24, 128, 128},
		{32, 32, 8, 24, 64, 64},
		{150, 20, 80, 24, 150, 20},
		{2500, 2000, 290, 200, 2048, 1638},
	} {
		on := &canvas{}
		th := testTheme(colorprofile.TrueColor)
		th.Canvas = on
		pic, err := Image(context.Background(), th, encode(t, "png", halves(c.w, c.h)), c.cols, c.rows)
		if err != nil || len(pic.Lines) != 1 || on.got == nil {
			t.Fatalf("%+v: %v, %v", c, pic, err)
		}
		if b := on.got.Bounds(); b.Dx() != c.wantW || b.Dy() != c.wantH {
			t.Errorf("%+v: %v", c, b)
		}
		top, bottom := on.got.NRGBAAt(c.wantW/2, 1), on.got.NRGBAAt(c.wantW/2, c.wantH-1)
		if top != (color.NRGBA{255, 0, 0, 255}) || bottom != (color.NRGBA{0, 0, 255, 255}) {
			t.Errorf("%+v: %v above %v", c, top, bottom)
		}
	}
	th := testTheme(colorprofile.TrueColor)
	th.NoPictures = true
	if pic, err := Image(context.Background(), th, encode(t, "png", halves(4, 4)), 80, 24); err != nil || len(pic.Lines) > 0 || pic.W != 4 {
		t.Errorf("%+v, %v", pic, err)
	}
}
