package widget

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // the formats that a terminal can show as cells
	_ "image/jpeg" // …
	_ "image/png"  // …
	"math"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/picture"
	"github.com/mcphud/mcphud/tui/safe"
)

// Limits of what [Image] decodes: a picture of a few kB can claim to be gigapixels wide.
const (
	MaxImageBytes  = 32 << 20
	MaxImagePixels = 24_000_000
)

// ImageInfo is what the header of a picture says.
type ImageInfo struct {
	Format string // "png", "jpeg" or "gif"
	W, H   int    // in pixels
}

// Picture is a picture in cells.
type Picture struct {
	ImageInfo
	Lines []string
}

// ReadImageInfo reads the header of a PNG, JPEG or GIF and checks it against the limits.
func ReadImageInfo(data []byte) (ImageInfo, error) {
	if len(data) > MaxImageBytes {
		return ImageInfo{}, fmt.Errorf("the picture has %d bytes, mcphud draws up to %d: save it to look at it", len(data), MaxImageBytes)
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(pixelsOf(data)))
	if err != nil {
		return ImageInfo{}, fmt.Errorf("not a valid PNG, JPEG or GIF: %s: save it to look at it", safe.Line(err.Error(), 0))
	}
	info := ImageInfo{format, cfg.Width, cfg.Height}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > MaxImagePixels/cfg.Height {
		return info, fmt.Errorf("the picture is %d × %d pixels, mcphud draws up to %d: save it to look at it", cfg.Width, cfg.Height, MaxImagePixels)
	}
	return info, nil
}

// Image draws a PNG, a JPEG or the first frame of a GIF into at most w × h cells: in its own pixels where the theme has a canvas, else half blocks, two pixels a cell, or
// shades of characters without colours. Decoding takes its time: call it beside the screen.
func Image(ctx context.Context, th *paint.Theme, data []byte, w, h int) (Picture, error) {
	info, err := ReadImageInfo(data)
	pic := Picture{ImageInfo: info}
	if err != nil {
		return pic, err
	}
	data = pixelsOf(data)
	if w <= 0 || h <= 0 {
		return pic, nil
	}
	if err := ctx.Err(); err != nil {
		return pic, err
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return pic, fmt.Errorf("the %s is damaged: %s: save it to look at it", info.Format, safe.Line(err.Error(), 0))
	}
	if err := ctx.Err(); err != nil {
		return pic, err
	}
	b := img.Bounds()
	if b.Empty() {
		return pic, fmt.Errorf("the %s has no pixels", info.Format)
	}
	if th.NoPictures {
		return pic, nil
	}
	if th.Canvas != nil {
		if pic.Lines, err = pixels(ctx, th, img, w, h); err != nil || pic.Lines != nil {
			return pic, err
		}
	}
	// A cell is twice as high as wide: half blocks make square pixels.
	scale := min(float64(w)/float64(b.Dx()), float64(2*h)/float64(b.Dy()), 1)
	pw, ph := max(int(math.Round(float64(b.Dx())*scale)), 1), max(int(math.Round(float64(b.Dy())*scale)), 1)
	small, err := shrink(ctx, img, pw, ph, ground(th))
	if err != nil {
		return pic, err
	}
	if th.Profile <= colorprofile.ASCII {
		pic.Lines = shades(small, pw, ph)
	} else {
		pic.Lines = halfBlocks(small, pw, ph, th.Profile)
	}
	return pic, nil
}

// What is smaller than legible, in pixels, is drawn up to maxZoom times as large.
const legible, maxZoom = 160, 4

// pixels places a picture on the terminal's canvas: in its own size where there is room, and an icon larger.
func pixels(ctx context.Context, th *paint.Theme, img image.Image, w, h int) ([]string, error) {
	b := img.Bounds()
	cw, ch := th.Canvas.Cell()
	room := image.Pt(min(w, picture.MaxColumns)*cw, min(h, picture.MaxRows)*ch)
	// Whole cells are a little larger than the picture.
	area := math.Sqrt(0.8 * picture.MaxArea / float64(b.Dx()*b.Dy()))
	scale := min(float64(room.X)/float64(b.Dx()), float64(room.Y)/float64(b.Dy()), area, 1)
	pw, ph := max(int(float64(b.Dx())*scale), 1), max(int(float64(b.Dy())*scale), 1)
	if up := min(maxZoom, legible/max(pw, ph), room.X/pw, room.Y/ph); up > 1 { // an icon: its pixels as squares
		pw, ph = up*pw, up*ph
	}
	small, err := shrink(ctx, img, pw, ph, ground(th))
	if err != nil {
		return nil, err
	}
	out := image.NewNRGBA(image.Rect(0, 0, pw, ph))
	for i, c := range small {
		copy(out.Pix[4*i:], []byte{c.R, c.G, c.B, 0xff})
	}
	return th.Canvas.Place(out), nil
}

// ground is what shines through where a picture is transparent.
func ground(th *paint.Theme) color.RGBA {
	bg := th.Palette.Background
	return color.RGBA{bg.R, bg.G, bg.B, 0xff}
}

// shrink scales a picture to w × h by averaging, over a ground.
func shrink(ctx context.Context, img image.Image, w, h int, ground color.RGBA) ([]color.RGBA, error) {
	b := img.Bounds()
	out := make([]color.RGBA, w*h)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			// Sixteen samples a direction are enough to average by eye.
			sx, sy := max((x1-x0)/16, 1), max((y1-y0)/16, 1)
			var r, g, bl, a, n uint64
			for py := y0; py < y1; py += sy {
				for px := x0; px < x1; px += sx {
					cr, cg, cb, ca := img.At(px, py).RGBA()
					r, g, bl, a, n = r+uint64(cr), g+uint64(cg), bl+uint64(cb), a+uint64(ca), n+1
				}
			}
			under := 0xffff - a/n
			mix := func(c uint64, bg uint8) uint8 { return uint8(min(c/n+under*uint64(bg)/0xff, 0xffff) >> 8) }
			out[y*w+x] = color.RGBA{mix(r, ground.R), mix(g, ground.G), mix(bl, ground.B), 0xff}
		}
	}
	return out, nil
}

// halfBlocks draws two rows of pixels a line: the upper one as ink, the lower one as ground of ▀.
func halfBlocks(px []color.RGBA, w, h int, profile colorprofile.Profile) []string {
	var lines []string
	near := map[color.RGBA]color.Color{} // finding the nearest of 256 colours is slow
	shown := func(c color.RGBA) color.Color {
		if profile == colorprofile.TrueColor {
			return c
		}
		if _, ok := near[c]; !ok {
			near[c] = profile.Convert(c)
		}
		return near[c]
	}
	for y := 0; y < h; y += 2 {
		var row []byte
		var lastFg, lastBg color.Color
		for x := range w {
			fg := shown(px[y*w+x])
			var bg color.Color
			if y+1 < h {
				bg = shown(px[(y+1)*w+x])
			}
			if x == 0 || fg != lastFg || bg != lastBg {
				st := ansi.Style{}.ForegroundColor(fg)
				if bg != nil {
					st = st.BackgroundColor(bg)
				}
				row = append(row, st.String()...)
				lastFg, lastBg = fg, bg
			}
			row = append(row, "▀"...)
		}
		lines = append(lines, string(append(row, "\x1b[m"...)))
	}
	return lines
}

// shades draws two rows of pixels a line as characters of growing ink.
func shades(px []color.RGBA, w, h int) []string {
	const ink = " .:-=+*#%@"
	light := func(c color.RGBA) int { return (2126*int(c.R) + 7152*int(c.G) + 722*int(c.B)) / 10000 }
	var lines []string
	for y := 0; y < h; y += 2 {
		row := make([]byte, w)
		for x := range w {
			l := light(px[y*w+x])
			if y+1 < h {
				l = (l + light(px[(y+1)*w+x])) / 2
			}
			row[x] = ink[l*(len(ink)-1)/255]
		}
		lines = append(lines, string(row))
	}
	return lines
}
