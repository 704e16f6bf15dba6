package tui

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/mask"
)

// maxRecall bounds the history of the `:` line.
const maxRecall = 200

// recall is the history of the `:` line, kept in a file when one is given.
type recall struct {
	file  string
	lines []string // oldest first
	at    int      // the line shown; len(lines) is the one being typed
	typed string
}

// load reads the history; a file that cannot be read is an empty history.
func (r *recall) load(file string) {
	r.file = file
	if file == "" {
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.file = "" // not ours to overwrite
		}
		return
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			r.lines = append(r.lines, line)
		}
	}
	r.lines = r.lines[max(0, len(r.lines)-maxRecall):]
}

// begin starts a new line.
func (r *recall) begin() { r.at, r.typed = len(r.lines), "" }

// move shows an older or newer line.
func (r *recall) move(older bool, now string) string {
	if r.at == len(r.lines) {
		r.typed = now
	}
	if older {
		r.at = max(r.at-1, 0)
	} else {
		r.at = min(r.at+1, len(r.lines))
	}
	if r.at == len(r.lines) {
		return r.typed
	}
	return r.lines[r.at]
}

// add remembers a line; a repeated one moves to the end.
func (r *recall) add(line string) {
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	r.lines = slices.DeleteFunc(r.lines, func(s string) bool { return s == line })
	r.lines = append(r.lines, line)
	r.lines = r.lines[max(0, len(r.lines)-maxRecall):]
}

// save writes the history, without what looks like a secret: a token that was pasted at the wrong place is none for good. It is called
// once, when the program ends.
func (r *recall) save() error {
	if r.file == "" || len(r.lines) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o700); err != nil {
		return err
	}
	return files.Write(r.file, []byte(mask.Log(strings.Join(r.lines, "\n")+"\n")))
}
