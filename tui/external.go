package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/safe"
)

// minChild is how long a child in the foreground lasts at least. A child that
// ends at once can freeze Bubble Tea 2.0.9 (issue 1778).
const minChild = 50 * time.Millisecond

// pagerDone reports how the pager ended.
type pagerDone struct{ err error }

func (a *App) editText(view, tag, text, ext string) tea.Cmd {
	argv, err := commandFrom(a.settings.Editor, a.getenv, []string{"VISUAL", "EDITOR"}, "vi")
	if err == nil && a.linear {
		err = errors.New("no editor in linear mode: type the value instead")
	}
	if err != nil {
		return emit(Edited{View: view, Tag: tag, Text: text, Err: err})
	}
	c := &child{argv: argv, next: "set $EDITOR to an editor that works", text: text, ext: cleanExt(ext)}
	return tea.Exec(c, func(err error) tea.Msg {
		return Edited{View: view, Tag: tag, Text: c.text, Err: err, Changed: c.text != text}
	})
}

func (a *App) pageText(text, ext string) tea.Cmd {
	argv, err := commandFrom(a.settings.Pager, a.getenv, []string{"PAGER"}, "less")
	if err == nil && a.linear {
		err = errors.New("no pager in linear mode: the screen is printed in full")
	}
	if err != nil {
		return emit(Toast{Failure, err.Error()})
	}
	return tea.Exec(newPager(argv, text, ext), func(err error) tea.Msg { return pagerDone{err} })
}

// scratch writes text to a file that only the user can read, in a folder of its own so that an editor's backup files go
// away with it.
func scratch(text, ext string) (path string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "mcphud-")
	if err != nil {
		return "", nil, fmt.Errorf("cannot make a temporary folder: %w; set $TMPDIR to one that can be written", err)
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "mcphud"+ext)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("cannot write a temporary file: %w", err)
	}
	return path, cleanup, nil
}

// cleanExt keeps a file name extension only if it is a plain one: it may come
// from a MIME type or a URI that a server sent.
func cleanExt(ext string) string {
	if len(ext) < 2 || len(ext) > 9 || ext[0] != '.' {
		return ".txt"
	}
	for _, r := range ext[1:] {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return ".txt"
		}
	}
	return ext
}

// commandFrom reads a command line: the one that was set for mcphud, or that of the first variable that is set. It is
// split like a shell would (quotes and backslashes), and never given to one.
func commandFrom(set string, getenv func(string) string, names []string, def string) ([]string, error) {
	if argv, err := text.Words(set); err == nil && len(argv) > 0 {
		return argv, nil
	}
	for _, n := range names {
		v := getenv(n)
		if v == "" {
			continue
		}
		argv, err := text.Words(v)
		if err != nil {
			return nil, fmt.Errorf("$%s: %w", n, err)
		}
		if len(argv) > 0 {
			return argv, nil
		}
	}
	return []string{def}, nil
}

// child is a program in the foreground that lasts at least minChild, with a file that it shows or edits. Run does all the
// work: until then nothing is looked up and nothing is on the disk.
type child struct {
	argv           []string
	next           string // what to do where the program does not work
	text           string // of the file; after Run as the program left it
	ext            string
	readOnly       bool // show the text with control characters made visible, and do not read it back
	stdin          *os.File
	stdout, stderr io.Writer
}

// newPager shows text in a pager. Unlike an editor, that may hand escape sequences to the terminal, and may choose a program
// for the file by its extension: so the text is made safe, and the extension is one of three.
func newPager(argv []string, text, ext string) *child {
	if ext != ".json" && ext != ".md" {
		ext = ".txt"
	}
	return &child{argv: argv, next: "set $PAGER to one that works", text: text, ext: ext, readOnly: true}
}

// SetStdin gives the child the terminal. A reader that is not a file would be copied by a goroutine that outlives the child
// and eats what is typed next.
func (c *child) SetStdin(r io.Reader) {
	if f, ok := r.(interface{ file() *os.File }); ok {
		r = f.file()
	}
	c.stdin, _ = r.(*os.File)
}

// SetStdout is the counterpart of SetStdin.
func (c *child) SetStdout(w io.Writer) {
	if f, ok := w.(interface{ Unwrap() *os.File }); ok {
		w = f.Unwrap()
	}
	c.stdout = w
}

// SetStderr is the counterpart of SetStdin.
func (c *child) SetStderr(w io.Writer) { c.stderr = w }

// Run writes the file, runs the program to its end, and reads the file back.
func (c *child) Run() error {
	start := time.Now()
	defer func() { time.Sleep(minChild - time.Since(start)) }()
	shown := c.text
	if c.readOnly {
		shown = safe.Text(shown)
	}
	path, cleanup, err := scratch(shown, c.ext)
	if err != nil {
		return err
	}
	defer cleanup()
	cmd := exec.Command(c.argv[0], append(slices.Clone(c.argv[1:]), path)...)
	cmd.Stdout, cmd.Stderr = c.stdout, c.stderr
	if c.stdin != nil {
		cmd.Stdin = c.stdin
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; %s", c.argv[0], err, c.next)
	}
	if c.readOnly {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read what %s wrote: %w", c.argv[0], err)
	}
	c.text = string(b)
	return nil
}
