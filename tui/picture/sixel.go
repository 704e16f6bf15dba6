package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
)

// sixel is a picture as DEC terminals take it: its own colours where it has up to 256, else 216 that are dithered. What is transparent is
// left as it is.
func sixel(img image.Image) []byte {
	b := img.Bounds()
	out := []byte("\x1bP0;1q")
	out = fmt.Appendf(out, "\"1;1;%d;%d", b.Dx(), b.Dy())
	index, colors := indexed(img)
	for i, c := range colors {
		r, g, bl, _ := c.RGBA()
		out = fmt.Appendf(out, "#%d;2;%d;%d;%d", i, percent(r), percent(g), percent(bl))
	}
	w, h := b.Dx(), b.Dy()
	for top := 0; top < h; top += 6 {
		if top > 0 {
			out = append(out, '-')
		}
		present := [256]bool{}
		for y := top; y < min(top+6, h); y++ {
			for x := range w {
				if i := index[y*w+x]; i >= 0 {
					present[i] = true
				}
			}
		}
		first := true
		for c := range colors {
			if !present[c] {
				continue
			}
			if !first {
				out = append(out, '$')
			}
			first = false
			out = fmt.Appendf(out, "#%d", c)
			out = band(out, index, w, h, top, c)
		}
	}
	return append(out, "\x1b\\"...)
}

func percent(c uint32) uint32 { return (c*100 + 0x7fff) / 0xffff }

// band appends the six rows of one colour, runs of equal columns counted.
func band(out []byte, index []int16, w, h, top, c int) []byte {
	var last byte
	run := 0
	flush := func() {
		switch {
		case run > 3:
			out = fmt.Appendf(out, "!%d%c", run, last)
		default:
			for range run {
				out = append(out, last)
			}
		}
	}
	for x := range w {
		var bits byte
		for dy := range min(6, h-top) {
			if index[(top+dy)*w+x] == int16(c) {
				bits |= 1 << dy
			}
		}
		if ch := bits + 63; ch == last {
			run++
		} else {
			flush()
			last, run = ch, 1
		}
	}
	if last != 63 { // nothing behind the last one
		flush()
	}
	return out
}

// indexed are the colours of a picture, and for each pixel which one it has, -1 for none.
func indexed(img image.Image) (index []int16, colors color.Palette) {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	index = make([]int16, w*h)
	known := map[color.NRGBA]int16{}
	at := func(x, y int) color.NRGBA {
		return color.NRGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
	}
	for y := range h {
		for x := range w {
			c := at(x, y)
			if c.A < 128 {
				index[y*w+x] = -1
				continue
			}
			c.A = 255
			i, ok := known[c]
			if !ok {
				if len(colors) == 256 {
					return dithered(img)
				}
				i = int16(len(colors))
				known[c], colors = i, append(colors, c)
			}
			index[y*w+x] = i
		}
	}
	return index, colors
}

func dithered(img image.Image) (index []int16, colors color.Palette) {
	b := img.Bounds()
	p := image.NewPaletted(image.Rect(0, 0, b.Dx(), b.Dy()), palette.WebSafe)
	draw.FloydSteinberg.Draw(p, p.Bounds(), img, b.Min)
	index = make([]int16, b.Dx()*b.Dy())
	for y := range b.Dy() {
		for x := range b.Dx() {
			index[y*b.Dx()+x] = int16(p.Pix[y*p.Stride+x])
			if _, _, _, a := img.At(b.Min.X+x, b.Min.Y+y).RGBA(); a < 0x8000 {
				index[y*b.Dx()+x] = -1
			}
		}
	}
	return index, palette.WebSafe
}
