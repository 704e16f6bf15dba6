package tuitest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"

	uv "github.com/charmbracelet/ultraviolet"
)

// halfBlocks takes a picture made of half-blocks out of cells and returns it as what it was: an image of a pixel for
// each half, "" if there is none. As text and rectangles it would be ten times the size.
func halfBlocks(cells [][]uv.Cell, fg, bg string) string {
	box := image.Rectangle{}
	for y, row := range cells {
		for x := range row {
			if c := row[x].Content; c == "▀" || c == "▄" {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if box.Empty() {
		return ""
	}
	img := image.NewNRGBA(image.Rect(0, 0, box.Dx(), 2*box.Dy()))
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := &cells[y][x]
			if c.Content != "▀" && c.Content != "▄" {
				continue
			}
			upper, lower := (&run{style: c.Style}).colors(fg, bg)
			if c.Content == "▄" {
				upper, lower = lower, upper
			}
			img.SetNRGBA(x-box.Min.X, 2*(y-box.Min.Y), ofHex(upper))
			img.SetNRGBA(x-box.Min.X, 2*(y-box.Min.Y)+1, ofHex(lower))
			c.Content, c.Style = " ", uv.Style{}
		}
	}
	var b bytes.Buffer
	// Not compressed: the bytes must be the same with every version of the compressor.
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img); err != nil {
		return "" // an image in memory does not fail
	}
	return fmt.Sprintf(`<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`+"\n",
		px(float64(box.Min.X)*cellW), px(float64(box.Min.Y)*cellH), px(float64(box.Dx())*cellW), px(float64(box.Dy())*cellH), base64.StdEncoding.EncodeToString(b.Bytes()))
}

// ofHex reads what hex writes.
func ofHex(s string) color.NRGBA {
	c := color.NRGBA{A: 255}
	_, _ = fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}
