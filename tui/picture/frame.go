package picture

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi/kitty"

	"github.com/mcphud/mcphud/tui/paint"
)

// placeholder is what a cell of a picture begins with.
const placeholder = string(kitty.Placeholder)

// source is a part of a picture, in cells.
type source struct{ x, y, w, h int }

// spot is a part of a picture, and the cell of the screen where it begins.
type spot struct {
	id   uint32
	x, y int
	from source
}

// Frame prepares the rows of a frame, before they go to the renderer: new pictures are sent before it is, and where they are drawn over it,
// their cells become blanks. lost says that a picture is visible that is no longer kept: whoever placed it has to do it again.
func (s *Store) Frame(rows []string) (lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spots = s.spots[:0]
	if !s.protocol.Pixels() && len(s.pictures) == 0 {
		return false
	}
	s.clock++
	seen := map[uint32]bool{}
	for y, row := range rows {
		if !strings.Contains(row, placeholder) {
			continue
		}
		cells := s.cells(row, y)
		for _, c := range cells.found {
			seen[c.id] = true
		}
		if s.protocol != Kitty {
			rows[y] = cells.blanked
			s.spots = join(s.spots, cells.found)
		}
	}
	for id := range seen {
		p := s.pictures[id]
		if p == nil || s.protocol == Kitty && p.data == "" { // placed for another protocol
			lost = true
			continue
		}
		p.used = s.clock
		if s.protocol == Kitty && !p.sent {
			p.sent = true
			s.queue = append(s.queue, s.transmission(p)...)
		}
	}
	s.spots = slices.DeleteFunc(s.spots, func(sp spot) bool { return s.pictures[sp.id] == nil })
	return lost
}

// row is what is found in a row of the screen: the runs of cells of pictures, and the row with blanks in place of them.
type row struct {
	found   []spot
	blanked string
}

// cells looks for pictures in a row. A blank has a colour of its own for each cell of a picture, so that the renderer writes it again,
// which takes off what was drawn over it, whenever another part of the picture comes to stand there.
func (s *Store) cells(text string, y int) (out row) {
	var b strings.Builder
	var ink uint32
	column := 0
	for i := 0; i < len(text); {
		rest := text[i:]
		if rest[0] == 0x1b {
			n := sequence(rest)
			if id, ok := colour(rest[:n]); ok {
				ink = id
			}
			b.WriteString(rest[:n])
			i += n
			continue
		}
		n, w, _ := paint.Next(rest)
		if !strings.HasPrefix(rest, placeholder) {
			b.WriteString(rest[:n])
			i, column = i+n, column+w
			continue
		}
		px, py := place(rest[len(placeholder):n])
		if k := len(out.found) - 1; k >= 0 && out.found[k].id == ink && out.found[k].from.y == py && out.found[k].from.x+out.found[k].from.w == px && out.found[k].x+out.found[k].from.w == column {
			out.found[k].from.w++
		} else {
			out.found = append(out.found, spot{ink, column, y, source{px, py, 1, 1}})
		}
		b.WriteString("\x1b[38;2;" + marker + strconv.Itoa(int(ink&0xff)^py) + ";" + strconv.Itoa((px*7+py)&0xff) + "m \x1b[39m")
		i, column = i+n, column+1
	}
	out.blanked = b.String()
	return out
}

// marker is the red of blanks under pictures; by it a frame is known that has written some.
const marker = "1;"

// join puts the runs of a row below those of the rows above where they are of one rectangle.
func join(all, more []spot) []spot {
	for _, m := range more {
		i := slices.IndexFunc(all, func(s spot) bool {
			return s.id == m.id && s.x == m.x && s.y+s.from.h == m.y && s.from.x == m.from.x && s.from.w == m.from.w && s.from.y+s.from.h == m.from.y
		})
		if i < 0 {
			all = append(all, m)
			continue
		}
		all[i].from.h++
	}
	return all
}

// sequence is the length of the control sequence that s begins with.
func sequence(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return min(len(s), 2)
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// colour is the foreground that a sequence sets, as an id; ok is false where it sets none.
func colour(seq string) (id uint32, ok bool) {
	body, found := strings.CutPrefix(seq, "\x1b[")
	body, styled := strings.CutSuffix(body, "m")
	if !found || !styled {
		return 0, false
	}
	parts := strings.Split(body, ";")
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "", "0", "39":
			id, ok = 0, true
		case "48":
			i += 4
		case "38":
			if i+4 < len(parts) && parts[i+1] == "2" {
				id, ok = 0, true
				for _, p := range parts[i+2 : i+5] {
					n, _ := strconv.ParseUint(p, 10, 8)
					id = id<<8 | uint32(n)
				}
			}
			i += 4
		}
	}
	return id, ok
}

// place is the column and row of a picture that the diacritics of a cell say.
func place(diacritics string) (x, y int) {
	at := make([]int, 0, 2)
	for _, r := range diacritics {
		at = append(at, indexOf(r))
	}
	if len(at) != 2 {
		return 0, 0
	}
	return at[1], at[0]
}

func indexOf(r rune) int {
	for i := range MaxColumns {
		if kitty.Diacritic(i) == r {
			return i
		}
	}
	return 0
}
