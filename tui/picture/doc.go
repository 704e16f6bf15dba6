// Package picture puts pictures on a terminal in their own pixels: by the graphics protocol of kitty, by that of iTerm2, and by sixel.
// Documents place a picture as cells, which scroll, are cut and covered like all others. Kitty draws into such cells by itself; for the
// others the cells are blanked in each frame, and the parts of pictures that are visible are drawn over them when the frame is out.
package picture

import (
	"path/filepath"
	"strings"
)

// Protocol is how pictures are drawn.
type Protocol string

// The protocols. [Blocks] are characters, which need nothing of this package.
const (
	Blocks Protocol = "blocks"
	None   Protocol = "none"
	Kitty  Protocol = "kitty"
	ITerm2 Protocol = "iterm2"
	Sixel  Protocol = "sixel"
)

// Pixels reports whether this package draws.
func (p Protocol) Pixels() bool { return p == Kitty || p == ITerm2 || p == Sixel }

// Choose is the protocol for a setting ("auto" or "", or a protocol) in a terminal. It goes by the environment and asks the terminal
// nothing, whose answer could be taken for typing. tmux says that what tmux shall hand on has to be wrapped, once it is known that
// it does; auto only chooses what scrolls and is covered as text is.
func Choose(setting string, getenv func(string) string) (p Protocol, tmux bool) {
	term := getenv("TERM")
	inside := getenv("TMUX") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen")
	switch p := Protocol(setting); p {
	case Blocks, None:
		return p, false
	case Kitty:
		return p, inside
	case Sixel: // tmux has its own
		return p, false
	case ITerm2:
		if inside {
			return Blocks, false
		}
		return p, false
	}
	if !inside && (term == "xterm-kitty" || term == "xterm-ghostty" || getenv("TERM_PROGRAM") == "ghostty") {
		return Kitty, false
	}
	return Blocks, false
}

// AskTmux is the command that prints whether tmux hands sequences on: on, all or off.
func AskTmux(getenv func(string) string) []string {
	argv := []string{"tmux"}
	if socket, _, ok := strings.Cut(getenv("TMUX"), ","); ok && filepath.IsAbs(socket) {
		argv = append(argv, "-S", socket)
	}
	return append(argv, "show-options", "-gwqv", "allow-passthrough")
}
