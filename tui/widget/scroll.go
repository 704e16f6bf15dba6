package widget

// span is a cursor in n rows of which page are visible from top on.
type span struct{ cur, top, n, page int }

// clamp puts the cursor on a row and the rows around it into view.
func (s *span) clamp() {
	s.cur = max(min(s.cur, s.n-1), 0)
	if s.cur < s.top {
		s.top = s.cur
	}
	if s.page > 0 && s.cur >= s.top+s.page {
		s.top = s.cur - s.page + 1
	}
	s.top = max(min(s.top, s.n-s.page), 0)
}

// Line is the number of the visible row under the cursor, from 1; 0 if there is no row.
func (s *span) Line() int {
	if s.n == 0 {
		return 0
	}
	return s.cur - s.top + 1
}

// scroll moves the rows under the cursor, and the cursor only as far as it must to stay visible.
func (s *span) scroll(d int) {
	s.top = max(min(s.top+d, s.n-s.page), 0)
	s.cur = max(min(s.cur, s.top+s.page-1), s.top)
	s.clamp()
}

// mouse scrolls by the wheel, and moves the cursor to the row that was clicked among the h visible ones.
func (s *span) mouse(m Mouse, h int) Hit {
	switch m.Kind {
	case WheelUp:
		s.scroll(-wheel)
		return HitScroll
	case WheelDown:
		s.scroll(wheel)
		return HitScroll
	case Click, DoubleClick:
		row := s.top + m.Y
		if m.Y < 0 || m.Y >= h || row >= s.n {
			return HitNone
		}
		s.cur = row
		if m.Kind == DoubleClick {
			return HitOpen
		}
		return HitSelect
	}
	return HitNone
}

// key moves the cursor; false if the key means nothing here.
func (s *span) key(k string) bool {
	half := max(s.page/2, 1)
	switch k {
	case "up", "k":
		s.cur--
	case "down", "j":
		s.cur++
	case "pgup":
		s.top -= s.page
		s.cur -= s.page
	case "pgdown":
		s.top += s.page
		s.cur += s.page
	case "ctrl+u":
		s.top -= half
		s.cur -= half
	case "ctrl+d":
		s.top += half
		s.cur += half
	case "home", "g":
		s.cur = 0
	case "end", "G":
		s.cur = s.n - 1
	default:
		return false
	}
	s.top = max(min(s.top, s.n-s.page), 0)
	s.clamp()
	return true
}
