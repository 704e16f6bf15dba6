package tuitest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Copied waits until the UI put n texts on the clipboard, and returns the last of them. A toast says so before the terminal
// is told.
func (a *App) Copied(n int) string {
	a.t.Helper()
	var text string
	a.Eventually(func() string {
		all := strings.Split(string(a.Output()), "\x1b]52;c;")[1:]
		if len(all) < n {
			return fmt.Sprintf("%d texts were copied, want %d", len(all), n)
		}
		var whole bool
		if text, _, whole = strings.Cut(all[n-1], "\a"); !whole {
			return "a text is being copied"
		}
		return ""
	})
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		a.t.Fatalf("what was copied is not base64: %v: %.200q", err, text)
	}
	return string(b)
}
