package picture

import (
	"bytes"
	"fmt"
)

// chunk is how much of a payload kitty takes in one sequence.
const chunk = 4096

// transmission gives a picture to the terminal for the cells that stand for it. Nothing of it is answered (q=2).
func (s *Store) transmission(p *placed) []byte {
	data := p.data
	var out []byte
	for first := true; first || len(data) > 0; first = false {
		part := data[:min(len(data), chunk)]
		data = data[len(part):]
		more := 0
		if len(data) > 0 {
			more = 1
		}
		head := fmt.Sprintf("m=%d", more)
		if first {
			head = fmt.Sprintf("a=T,f=100,q=2,U=1,i=%d,c=%d,r=%d,m=%d", p.id, p.cols, p.rows, more)
		}
		out = append(out, s.wrap("\x1b_G"+head+";"+part+"\x1b\\")...)
	}
	return out
}

// deletion takes a picture off the terminal, and out of its memory.
func deletion(id uint32) string { return fmt.Sprintf("\x1b_Ga=d,d=I,i=%d,q=2\x1b\\", id) }

// wrap is a sequence that tmux hands on where that is needed.
func (s *Store) wrap(seq string) []byte {
	if !s.tmux {
		return []byte(seq)
	}
	return append(append([]byte("\x1bPtmux;"), bytes.ReplaceAll([]byte(seq), []byte("\x1b"), []byte("\x1b\x1b"))...), "\x1b\\"...)
}
