package widget

import (
	"strings"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// inks returns the SGR parameters of the colours that rendered markdown may contain: those of its style and no other.
func inks(th *paint.Theme) map[string]bool {
	m := map[string]bool{}
	for _, tok := range []themes.Token{themes.Link, themes.Muted, themes.Code, themes.Heading} {
		open := th.Ink(tok).Open()
		m[strings.TrimSuffix(strings.TrimPrefix(open, "\x1b["), "m")] = true
	}
	return m
}

// clean rewrites a line that glamour rendered: styles of the allow-list stay, each written once per stretch of text
// instead of once per cell; hyperlinks go; all text passes the sanitiser again; blanks at the end go.
func clean(line string, allowed map[string]bool) string {
	type stretch struct{ style, text string }
	var parts []stretch
	style := ""
	add := func(text string) {
		if k := len(parts) - 1; k >= 0 && parts[k].style == style {
			parts[k].text += text
			return
		}
		parts = append(parts, stretch{style, text})
	}
	for i := 0; i < len(line); {
		j := strings.IndexByte(line[i:], 0x1b)
		if j != 0 {
			if j < 0 {
				j = len(line) - i
			}
			add(line[i : i+j])
			i += j
			continue
		}
		n, _, _ := paint.Next(line[i:])
		seq := line[i : i+n]
		i += n
		switch {
		case seq == "\x1b[m" || seq == "\x1b[0m":
			style = ""
		case strings.HasPrefix(seq, "\x1b]8;"):
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") && permitted(seq[2:len(seq)-1], allowed):
			style += seq
		default:
			add(seq) // the sanitiser shows it
		}
	}
	for k := len(parts) - 1; k >= 0; k-- {
		parts[k].text = strings.TrimRight(parts[k].text, " ")
		if parts[k].text != "" {
			break
		}
		parts = parts[:k]
	}
	var b strings.Builder
	for _, p := range parts {
		if p.text == "" {
			continue
		}
		b.WriteString(p.style)
		b.WriteString(safe.Text(p.text))
		if p.style != "" {
			b.WriteString("\x1b[m")
		}
	}
	return b.String()
}

// permitted says whether SGR parameters are bold, italic, underline, strike or a colour of the allow-list.
func permitted(params string, allowed map[string]bool) bool {
	for params != "" {
		found := false
		for _, p := range []string{"1", "3", "4", "9"} {
			if params == p || strings.HasPrefix(params, p+";") {
				params, found = strings.TrimPrefix(params[1:], ";"), true
				break
			}
		}
		for ink := range allowed {
			if !found && ink != "" && (params == ink || strings.HasPrefix(params, ink+";")) {
				params, found = strings.TrimPrefix(params[len(ink):], ";"), true
			}
		}
		if !found {
			return false
		}
	}
	return true
}
