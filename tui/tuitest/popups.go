package tuitest

import (
	"fmt"
	"strings"
)

// Palette drives the palette.
type Palette struct{ *Part }

// Palette opens the palette.
func (a *App) Palette() *Palette {
	a.t.Helper()
	return &Palette{a.Press("ctrl+p").Overlay("palette")}
}

// Find types what to look for.
func (p *Palette) Find(text string) *Palette {
	p.t.Helper()
	p.Type(text)
	return p
}

// Run runs the action under the cursor, whose title contains title.
func (p *Palette) Run(title string) *App {
	p.t.Helper()
	p.Selected(title)
	return p.Press("enter").NoOverlay()
}

// Confirm drives a yes-or-no question.
type Confirm struct{ *Part }

// Confirm waits for a question whose title contains title.
func (a *App) Confirm(title string) *Confirm {
	a.t.Helper()
	return &Confirm{a.Overlay(title)}
}

// Says wants texts in the question.
func (c *Confirm) Says(texts ...string) *Confirm {
	c.t.Helper()
	c.Has(texts...)
	return c
}

// Yes agrees.
func (c *Confirm) Yes() *App {
	c.t.Helper()
	return c.Press("y").NoOverlay()
}

// No declines.
func (c *Confirm) No() *App {
	c.t.Helper()
	return c.Press("n").NoOverlay()
}

// Prompt drives the prompt line.
type Prompt struct{ *App }

// Prompt waits for the prompt line with a label: "/", ":" or that of a question.
func (a *App) Prompt(label string) *Prompt {
	a.t.Helper()
	p := &Prompt{a}
	return p.shows(label)
}

func (p *Prompt) shows(text string) *Prompt {
	p.t.Helper()
	p.Eventually(func() string {
		if got := p.State().Prompt; !strings.HasPrefix(got, text) {
			return fmt.Sprintf("the prompt is %q, want %q", got, text)
		}
		return ""
	})
	return p
}

// Answer replaces the text and presses enter.
func (p *Prompt) Answer(text string) *App {
	p.t.Helper()
	p.Press("ctrl+u").Type(text).Press("enter")
	return p.closed()
}

// Cancel presses esc.
func (p *Prompt) Cancel() *App {
	p.t.Helper()
	p.Press("esc")
	return p.closed()
}

func (p *Prompt) closed() *App {
	p.t.Helper()
	return p.Eventually(func() string {
		if got := p.State().Prompt; got != "" {
			return fmt.Sprintf("the prompt %q is open still", got)
		}
		return ""
	})
}
