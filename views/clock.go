package views

import (
	"fmt"
	"time"

	"github.com/mcphud/mcphud/tui"
)

// tick changes ten times a second: a key for panes that show something moving.
// The shell redraws at that pace only while there is something to wait for.
func tick() int64 { return time.Now().UnixMilli() / 100 }

// spin is the picture of something that is under way.
func spin() string { return tui.Spinner(time.Duration(time.Now().UnixNano())) }

// until is how long it is until t, "" when that is past or t is zero.
func until(t time.Time) string {
	left := time.Until(t)
	if t.IsZero() || left <= 0 {
		return ""
	}
	return fmt.Sprintf("%d s", int(left/time.Second)+1)
}
