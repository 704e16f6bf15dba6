package tuitest

import (
	"bytes"
	"image/color"
	"io"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"github.com/mcphud/mcphud/tui"
)

// maxRaw bounds the bytes kept for [App.Output].
const maxRaw = 16 << 20

// screen is the emulator behind a lock: vt's own SafeEmulator races in String and Close.
type screen struct {
	mu      sync.Mutex
	em      *vt.Emulator
	raw     []byte
	n       int
	changed chan struct{}
	title   string
}

func newScreen(w, h int, dark bool) *screen {
	s := &screen{em: vt.NewEmulator(w, h), changed: make(chan struct{}, 1)}
	bg, fg := color.Color(color.Black), color.Color(color.White)
	if !dark {
		bg, fg = fg, bg
	}
	s.em.SetDefaultBackgroundColor(bg)
	s.em.SetDefaultForegroundColor(fg)
	s.em.SetCallbacks(vt.Callbacks{Title: func(t string) { s.title = t }})
	// Bubble Tea separates lines by a bare line feed when its input is not a tty.
	_, _ = s.em.Write([]byte(ansi.SetModeLineFeedNewLine))
	return s
}

// Write is what the program prints.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if len(s.raw)+len(p) <= maxRaw {
		s.raw = append(s.raw, p...)
	}
	_, err := s.em.Write(p)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), err
}

// input is what the program reads: keys, and the terminal's answers. They wait in a buffer, as at a terminal: the emulator answers while
// the program writes, which it also does while it hands the terminal to an editor and reads nothing.
func (s *screen) input() io.Reader {
	b := &buffer{}
	b.more.L = &b.mu
	go func() {
		_, _ = io.Copy(b, s.em) // until close
		b.mu.Lock()
		defer b.mu.Unlock()
		b.over = true
		b.more.Broadcast()
	}()
	return b
}

// buffer is a pipe whose writer never waits.
type buffer struct {
	mu   sync.Mutex
	more sync.Cond
	b    bytes.Buffer
	over bool // nothing comes any more
}

// Write keeps p for who reads.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.more.Broadcast()
	return b.b.Write(p)
}

// Read waits for bytes.
func (b *buffer) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.b.Len() == 0 && !b.over {
		b.more.Wait()
	}
	return b.b.Read(p) // io.EOF once it is over
}

// send types bytes.
func (s *screen) send(b string) { _, _ = io.WriteString(s.em.InputPipe(), b) }

func (s *screen) close() {
	if c, ok := s.em.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
}

func (s *screen) writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// wait blocks until something was printed, d at most.
func (s *screen) wait(d time.Duration, bubble bool) {
	if bubble {
		time.Sleep(d)
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.changed:
	case <-t.C:
	}
}

func (s *screen) resize(w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.em.Resize(w, h)
}

func (s *screen) size() (w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.Width(), s.em.Height()
}

// text is the whole screen without trailing blanks.
func (s *screen) text() string {
	w, h := s.size()
	return strings.Join(s.rows(tui.Rect{W: w, H: h}), "\n")
}

// rows is a part of the screen, each row without trailing blanks.
func (s *screen) rows(r tui.Rect) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, r.H)
	for y := r.Y; y < r.Y+r.H; y++ {
		var b strings.Builder
		for x := r.X; x < r.X+r.W; x++ {
			c := s.em.CellAt(x, y)
			switch {
			case c == nil || c.Content == "" && c.Width != 0:
				b.WriteByte(' ')
			case c.Width == 0: // right half of a wide cell
			default:
				b.WriteString(c.Content)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// cells copies the screen.
func (s *screen) cells() [][]uv.Cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([][]uv.Cell, s.em.Height())
	for y := range out {
		out[y] = make([]uv.Cell, s.em.Width())
		for x := range out[y] {
			if c := s.em.CellAt(x, y); c != nil {
				out[y][x] = *c
			}
		}
	}
	return out
}
