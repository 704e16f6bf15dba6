//go:build !unix

package tui

import (
	"io"
	"os"
)

// terminalInput is in: the console has events for keys.
func terminalInput(in io.Reader, _ func(string) string) io.Reader { return in }

// cellPixels is the size of a cell, 0: the console does not say.
func cellPixels(*os.File) (w, h int) { return 0, 0 }
