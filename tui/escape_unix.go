//go:build unix

package tui

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// escapeTime is how long an esc from a terminal on this machine waits for the rest of a sequence: terminals write theirs at
// once. Over a network, where a sequence may be split, the library's 50 ms hold.
const escapeTime = 8 * time.Millisecond

// escapeKey is esc as terminals with the keyboard protocol of kitty send it, which no sequence begins with.
const escapeKey = "\x1b[27u"

// terminalInput is in, with what tells esc from the beginning of a sequence sooner than the library does, and two of them
// read at once from alt+esc; as it is where it is not a terminal or comes over a network.
func terminalInput(in io.Reader, getenv func(string) string) io.Reader {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) || getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" {
		return in
	}
	return &escapeInput{f}
}

// escapeInput reads a terminal.
type escapeInput struct{ *os.File }

// Read replaces esc at the end of what is there, with nothing behind it, by escapeKey.
func (r *escapeInput) Read(p []byte) (int, error) {
	n, err := r.File.Read(p)
	if err != nil {
		return n, err
	}
	head := bytes.TrimRight(p[:n], "\x1b")
	count := n - len(head)
	if count == 0 || len(head)+count*len(escapeKey) > len(p) || r.more() {
		return n, nil
	}
	return len(append(head, bytes.Repeat([]byte(escapeKey), count)...)), nil
}

// more is whether something else can be read within escapeTime.
func (r *escapeInput) more() bool {
	list := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(list, int(escapeTime/time.Millisecond))
	return n > 0 || err != nil && err != unix.EINTR
}

// file is the terminal itself, for a program in the foreground.
func (r *escapeInput) file() *os.File { return r.File }

// cellPixels is the size of a cell, 0 where the terminal does not say.
func cellPixels(f *os.File) (w, h int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 0, 0
	}
	return int(size.Xpixel / size.Col), int(size.Ypixel / size.Row)
}
