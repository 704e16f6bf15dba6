package tui

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
)

// maxOSC52 bounds what is sent to the terminal's clipboard: many terminals
// ignore or choke on more than 100 kB of base64.
const maxOSC52 = 74_000

// clipboardTime bounds the system's clipboard command.
const clipboardTime = 2 * time.Second

// copyText copies by OSC 52, which works over ssh, and with the system's
// command, which works where the terminal refuses OSC 52.
func (a *App) copyText(what, s string) tea.Cmd {
	if s == "" {
		return emit(Toast{Warning, "nothing to copy: the " + what + " is empty"})
	}
	if a.linear {
		return emit(printed{s})
	}
	argv, size := a.clipboard, text.Bytes(len(s))
	native := func() tea.Msg {
		err := pipeTo(argv, s)
		switch {
		case len(s) > maxOSC52 && (err != nil || argv == nil):
			return Toast{Failure, fmt.Sprintf("the %s has %s, too much for the terminal's clipboard, and there is no clipboard command that works; press v to open it in $PAGER", what, size)}
		case err != nil:
			return Toast{Warning, fmt.Sprintf("copied the %s through the terminal only: %v", what, err)}
		}
		return Toast{Success, fmt.Sprintf("copied %s (%s)", what, size)}
	}
	if len(s) > maxOSC52 {
		return native
	}
	return tea.Batch(tea.SetClipboard(s), native)
}

// pipeTo runs argv with text on its stdin; nil argv does nothing.
func pipeTo(argv []string, s string) error {
	if len(argv) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), clipboardTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(s)
	cmd.WaitDelay = clipboardTime
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	return nil
}

// clipboardCommand finds the system's clipboard command, nil if there is none.
func clipboardCommand(getenv func(string) string, lookPath func(string) (string, error)) []string {
	var tries [][]string
	switch runtime.GOOS {
	case "darwin":
		tries = [][]string{{"pbcopy"}}
	case "windows":
		tries = [][]string{{"clip.exe"}}
	default:
		if getenv("WAYLAND_DISPLAY") != "" {
			tries = append(tries, []string{"wl-copy"})
		}
		if getenv("DISPLAY") != "" {
			tries = append(tries, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
		}
	}
	for _, t := range tries {
		if p, err := lookPath(t[0]); err == nil {
			return append([]string{p}, t[1:]...)
		}
	}
	return nil
}

// CopyFunc makes the text to copy.
type CopyFunc func() (string, error)

// CopyString is a text that is at hand; nil if ok is false.
func CopyString(text string, ok bool) CopyFunc {
	if !ok {
		return nil
	}
	return func() (string, error) { return text, nil }
}

// CopyBytes is a text that is at hand as bytes that do not change; nil if there are none.
func CopyBytes(text []byte) CopyFunc {
	if len(text) == 0 {
		return nil
	}
	return func() (string, error) { return string(text), nil }
}

// CopyKind is what the y chord copies; its value is the chord's second key.
type CopyKind byte

// The forms in which a selection can be copied.
const (
	CopyValue   CopyKind = 'v' // the value itself
	CopyPath    CopyKind = 'p' // path of the value, or the URI
	CopyJSON    CopyKind = 'j' // JSON as on the wire
	CopyCommand CopyKind = 'c' // the mcphud command that does the same
	CopyCurl    CopyKind = 'u' // the curl command that does the same
	CopyRaw     CopyKind = 'r' // the raw frame
	CopyConfig  CopyKind = 'm' // a server's entry in a configuration file
)
