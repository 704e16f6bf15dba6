package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"io"
	"os"
	"slices"
)

// Screen is a terminal that frames are written to, with the pictures of a Store.
type Screen struct {
	io.Writer
	store *Store
}

// Terminal is a Screen that is a terminal, as the renderer wants to know.
type Terminal struct {
	*os.File
	screen Screen
}

// On puts the pictures of a Store on what is written to w.
func (s *Store) On(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		return &Terminal{f, Screen{f, s}}
	}
	return &Screen{w, s}
}

// Write writes a part of a frame, pictures that are new before it, and those that are drawn over it behind it.
func (t *Terminal) Write(b []byte) (int, error) { return t.screen.Write(b) }

// Unwrap is the terminal itself, for a program in the foreground.
func (t *Terminal) Unwrap() *os.File { return t.File }

// Write is that of Terminal.
func (sc *Screen) Write(b []byte) (int, error) {
	before, after := sc.store.around(b)
	if len(before) == 0 && len(after) == 0 {
		return sc.Writer.Write(b)
	}
	// In one piece, so that nothing comes in between.
	if _, err := sc.Writer.Write(slices.Concat(before, b, after)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// around is what goes before and behind a part of a frame.
func (s *Store) around(b []byte) (before, after []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.queue = s.queue, nil
	// Cells of pictures that were written again, and a screen that was cleared, take off what was drawn over them.
	if len(s.spots) == 0 || s.protocol == Kitty || !bytes.Contains(b, []byte("38;2;"+marker)) && !bytes.Contains(b, []byte("\x1b[2J")) {
		return before, nil
	}
	after = append(after, "\x1b7"...)
	for _, sp := range s.spots {
		if p := s.pictures[sp.id]; p != nil {
			after = fmt.Appendf(after, "\x1b[%d;%dH", sp.y+1, sp.x+1)
			after = append(after, s.encode(p, sp.from)...)
		}
	}
	return before, append(after, "\x1b8"...)
}

// maxEncoded is how many parts of a picture are kept as they were sent.
const maxEncoded = 32

// encode is a part of a picture as the protocol has it.
func (s *Store) encode(p *placed, part source) []byte {
	if b, ok := p.encoded[part]; ok {
		return b
	}
	img := p.img.SubImage(image.Rect(part.x*s.cellW, part.y*s.cellH, (part.x+part.w)*s.cellW, (part.y+part.h)*s.cellH))
	b := overlay(s.protocol, img, part)
	if len(p.encoded) >= maxEncoded {
		clear(p.encoded)
	}
	p.encoded[part] = b
	return b
}

// overlay draws a part of a picture at the cursor.
func overlay(p Protocol, img image.Image, part source) []byte {
	if p == Sixel {
		return sixel(img)
	}
	data := asPNG(img)
	return fmt.Appendf(nil, "\x1b]1337;File=inline=1;size=%d;width=%d;height=%d;preserveAspectRatio=0;doNotMoveCursor=1:%s\x07", len(data), part.w, part.h, base64.StdEncoding.EncodeToString(data))
}

// Close is what takes the pictures out of the terminal's memory.
func (s *Store) Close() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pictures {
		s.forget(p)
	}
	out := s.queue
	s.queue, s.spots = nil, nil
	return out
}
