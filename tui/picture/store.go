package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi/kitty"
)

// Bounds of what is kept and sent.
const (
	maxPictures = 64
	maxPixels   = 32 << 20 // of all together
	// MaxColumns and MaxRows are the largest picture in cells: kitty counts no further.
	MaxColumns = 297
	MaxRows    = 200
	// MaxArea bounds a picture in pixels.
	MaxArea = 4 << 20
)

// Store has the pictures that documents have placed. It may be used by any number of goroutines; a nil Store draws none.
type Store struct {
	cellW, cellH int // pixels

	mu       sync.Mutex
	protocol Protocol
	tmux     bool
	base     uint32
	next     uint32
	pictures map[uint32]*placed
	clock    uint64
	pixels   int

	queue []byte // for the terminal, before the next frame
	spots []spot // to draw over it, where the protocol asks for that
}

// placed is a picture.
type placed struct {
	id         uint32
	img        *image.NRGBA
	cols, rows int
	data       string // for kitty: a PNG in base64
	sent       bool
	used       uint64            // when it was visible last
	encoded    map[source][]byte // for protocols that draw over the frame
}

// New has no pictures yet. cellW and cellH are the size of a cell in pixels, 0 where it is not known.
func New(p Protocol, tmux bool, cellW, cellH int) *Store {
	if cellW < 4 || cellH < 8 || cellW > 100 || cellH > 200 {
		cellW, cellH = 10, 20
	}
	// Other programs in the terminal have pictures, too: an id among 65,535 times 255.
	return &Store{protocol: p, tmux: tmux, cellW: cellW, cellH: cellH, base: (1 + rand.Uint32N(0xffff)) << 8, pictures: map[uint32]*placed{}}
}

// Use changes the protocol. What was drawn by the one before is taken off the terminal.
func (s *Store) Use(p Protocol, tmux bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == s.protocol && tmux == s.tmux {
		return
	}
	for _, pic := range s.pictures {
		s.forget(pic)
	}
	s.protocol, s.tmux, s.spots = p, tmux, nil
}

// Protocol is how pictures are drawn at present.
func (s *Store) Protocol() Protocol {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.protocol
}

// Cell is the size of a cell in pixels.
func (s *Store) Cell() (w, h int) { return s.cellW, s.cellH }

// Place takes a picture over and returns the lines of cells that stand for it: styled text, each as wide as the picture. It has at most
// MaxColumns × MaxRows cells and MaxArea pixels. Encoding it takes its time: call it beside the screen.
func (s *Store) Place(img *image.NRGBA) []string {
	b := img.Bounds()
	cols, rows := (b.Dx()+s.cellW-1)/s.cellW, (b.Dy()+s.cellH-1)/s.cellH
	if cols == 0 || rows == 0 || cols > MaxColumns || rows > MaxRows || b.Dx()*b.Dy() > MaxArea {
		return nil
	}
	full := image.NewNRGBA(image.Rect(0, 0, cols*s.cellW, rows*s.cellH)) // whole cells; what is left over is transparent
	for y := range b.Dy() {
		copy(full.Pix[y*full.Stride:], img.Pix[img.PixOffset(b.Min.X, b.Min.Y+y):img.PixOffset(b.Min.X, b.Min.Y+y)+4*b.Dx()])
	}
	p := &placed{img: full, cols: cols, rows: rows, encoded: map[source][]byte{}}
	switch protocol := s.Protocol(); protocol {
	case Kitty:
		p.data = base64.StdEncoding.EncodeToString(asPNG(full))
	case ITerm2, Sixel:
		all := source{0, 0, cols, rows}
		p.encoded[all] = overlay(protocol, full, all)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	s.next = s.next%255 + 1
	for s.pictures[s.base|s.next] != nil {
		s.next = s.next%255 + 1
	}
	p.id, p.used = s.base|s.next, s.clock
	s.pictures[p.id] = p
	s.pixels += len(full.Pix) / 4
	for len(s.pictures) > maxPictures || s.pixels > maxPixels && len(s.pictures) > 1 {
		s.forget(s.oldest(p))
	}
	lines := make([]string, rows)
	for y := range rows {
		lines[y] = p.line(y)
	}
	return lines
}

// line is a row of cells: each a placeholder with the row and column of the picture as diacritics, in a colour that is its id.
func (p *placed) line(y int) string {
	var b strings.Builder
	b.WriteString("\x1b[38;2;" + strconv.Itoa(int(p.id>>16&0xff)) + ";" + strconv.Itoa(int(p.id>>8&0xff)) + ";" + strconv.Itoa(int(p.id&0xff)) + "m")
	for x := range p.cols {
		b.WriteRune(kitty.Placeholder)
		b.WriteRune(kitty.Diacritic(y))
		b.WriteRune(kitty.Diacritic(x))
	}
	b.WriteString("\x1b[39m")
	return b.String()
}

// oldest is the picture that was visible longest ago, but for one.
func (s *Store) oldest(but *placed) (old *placed) {
	for _, p := range s.pictures {
		if p != but && (old == nil || p.used < old.used) {
			old = p
		}
	}
	return old
}

// forget drops a picture, from the terminal as well.
func (s *Store) forget(p *placed) {
	if p.sent {
		s.queue = append(s.queue, s.wrap(deletion(p.id))...)
	}
	s.pixels -= len(p.img.Pix) / 4
	delete(s.pictures, p.id)
}

// asPNG is a picture as this program writes it, never the bytes that it was read from.
func asPNG(img image.Image) []byte {
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if enc.Encode(&b, img) != nil { // no picture that this package makes
		return nil
	}
	return b.Bytes()
}
