package tui

import "time"

// How long keys are swallowed after something appeared that nobody at the keyboard asked for: until the keyboard was quiet for
// graceQuiet, for graceMost at most.
const (
	graceQuiet = 425 * time.Millisecond
	graceMost  = 1500 * time.Millisecond
)

// Grace swallows keys after something appeared because of a server, so that typing never answers it by accident. The zero value
// swallows nothing.
type Grace struct {
	opened, quiet time.Time // quiet is zero where no key is swallowed
}

// Start begins to swallow keys.
func (g *Grace) Start() {
	g.opened = time.Now()
	g.quiet = g.opened.Add(graceQuiet)
}

// Swallows reports whether a key that was pressed now means nothing. It must be asked for each.
func (g *Grace) Swallows() bool {
	if now := time.Now(); now.Before(g.quiet) && now.Before(g.opened.Add(graceMost)) {
		g.quiet = now.Add(graceQuiet)
		return true
	}
	g.quiet = time.Time{}
	return false
}
