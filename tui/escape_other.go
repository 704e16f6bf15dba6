//go:build !unix

package tui

import "io"

// terminalInput is in: the console has events for keys.
func terminalInput(in io.Reader, _ func(string) string) io.Reader { return in }
