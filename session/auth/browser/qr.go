package browser

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is the empty border of a QR code, in modules.
const quiet = 2

// QR draws a text as a QR code: lines of the same width in cells, two modules above each other in one cell. It has to be shown black on
// white.
func QR(text string) ([]string, error) {
	code, err := qr.Encode(text, qr.L, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("too long for a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	dark := func(x, y int) bool {
		if x < 0 || y < 0 || x >= size || y >= size {
			return false
		}
		return code.At(x, y) == color.Black
	}
	var lines []string
	for y := -quiet; y < size+quiet; y += 2 {
		var b strings.Builder
		for x := -quiet; x < size+quiet; x++ {
			switch top, bottom := dark(x, y), dark(x, y+1); {
			case top && bottom:
				b.WriteRune('█')
			case top:
				b.WriteRune('▀')
			case bottom:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		lines = append(lines, b.String())
	}
	return lines, nil
}
