package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"
)

// minChild is how long a child in the foreground lasts at least. A child that
// ends at once can freeze Bubble Tea 2.0.9 (issue 1778).
const minChild = 50 * time.Millisecond

// pagerDone reports how a child in the foreground ended.
type pagerDone struct {
	what string
	err  error
}

func (a *App) editText(view, tag, text, ext string) tea.Cmd {
	argv, err := commandFrom(a.getenv, []string{"VISUAL", "EDITOR"}, "vi")
	if err == nil && a.linear {
		err = errors.New("linear mode has no room for an editor: type the value in place of opening one")
	}
	if err != nil {
		return emit(Edited{View: view, Tag: tag, Text: text, Err: err})
	}
	path, cleanup, err := scratch(text, ext)
	if err != nil {
		return emit(Edited{View: view, Tag: tag, Text: text, Err: err})
	}
	return tea.Exec(newChild(append(argv, path)), func(err error) tea.Msg {
		defer cleanup()
		e := Edited{View: view, Tag: tag, Text: text}
		if err != nil {
			e.Err = fmt.Errorf("%s: %w; set $EDITOR to an editor that works", argv[0], err)
			return e
		}
		b, err := os.ReadFile(path)
		if err != nil {
			e.Err = fmt.Errorf("reading back what %s wrote: %w", argv[0], err)
			return e
		}
		e.Changed = string(b) != text
		e.Text = string(b)
		return e
	})
}

func (a *App) pageText(text, ext string) tea.Cmd {
	argv, err := commandFrom(a.getenv, []string{"PAGER"}, "less")
	if err == nil && a.linear {
		err = errors.New("linear mode prints in place of opening a pager")
	}
	if err != nil {
		return emit(Toast{Failure, err.Error()})
	}
	path, cleanup, err := scratch(text, ext)
	if err != nil {
		return emit(Toast{Failure, err.Error()})
	}
	return tea.Exec(newChild(append(argv, path)), func(err error) tea.Msg {
		cleanup()
		return pagerDone{argv[0], err}
	})
}

// scratch writes text to a file that only the user can read, in a folder of
// its own so that an editor's backup files go away with it.
func scratch(text, ext string) (path string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "mcphud-")
	if err != nil {
		return "", nil, fmt.Errorf("making a temporary folder: %w; set $TMPDIR to one that can be written", err)
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "mcphud"+filepath.Ext("x"+cleanExt(ext)))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("writing a temporary file: %w", err)
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

// commandFrom reads a command line from the first variable that is set. It is
// split like a shell would (quotes and backslashes), and never given to one.
func commandFrom(getenv func(string) string, names []string, def string) ([]string, error) {
	for _, n := range names {
		v := getenv(n)
		if v == "" {
			continue
		}
		argv, err := splitCommand(v)
		if err != nil {
			return nil, fmt.Errorf("$%s: %w", n, err)
		}
		if len(argv) > 0 {
			return argv, nil
		}
	}
	return []string{def}, nil
}

// splitCommand splits a command line at blanks, honouring single quotes,
// double quotes and backslashes. Nothing is expanded.
func splitCommand(s string) ([]string, error) {
	var (
		out   []string
		word  []rune
		open  rune // the quote that is open
		began bool
		esc   bool
	)
	for _, r := range s {
		switch {
		case esc:
			word = append(word, r)
			esc = false
		case r == '\\' && open != '\'':
			esc, began = true, true
		case open != 0:
			if r == open {
				open = 0
			} else {
				word = append(word, r)
			}
		case r == '\'' || r == '"':
			open, began = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if began {
				out = append(out, string(word))
				word, began = word[:0], false
			}
		default:
			word = append(word, r)
			began = true
		}
	}
	if open != 0 || esc {
		return nil, fmt.Errorf("a quote or backslash is left open in %q", s)
	}
	if began {
		out = append(out, string(word))
	}
	return out, nil
}

// child is a process in the foreground that lasts at least minChild.
type child struct{ *exec.Cmd }

func newChild(argv []string) *child { return &child{exec.Command(argv[0], argv[1:]...)} }

// SetStdin gives the child the terminal. A reader that is no file would be
// copied by a goroutine that outlives the child and eats what is typed next.
func (c *child) SetStdin(r io.Reader) {
	if f, ok := r.(*os.File); ok {
		c.Stdin = f
	}
}

// SetStdout is the counterpart of SetStdin.
func (c *child) SetStdout(w io.Writer) { c.Stdout = w }

// SetStderr is the counterpart of SetStdin.
func (c *child) SetStderr(w io.Writer) { c.Stderr = w }

// Run runs the child to its end.
func (c *child) Run() error {
	start := time.Now()
	err := c.Cmd.Run()
	if left := minChild - time.Since(start); left > 0 {
		time.Sleep(left)
	}
	return err
}
