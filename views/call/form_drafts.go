package call

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/tui"
)

// draftPause is how long what was typed waits for the disk: a crash loses no more.
const draftPause = 500 * time.Millisecond

// keeping is what a draft has on the disk, for the next run.
type keeping struct {
	file   string // "" if nothing is kept
	loaded bool   // it was looked for
	given  bool   // something else was filled in
	kept   inputs.Kept
	saved  int  // revision of the form that needs no saving
	called int  // revision that was sent last
	soon   bool // saving is on its way
}

// saveDraft says that it is time to save what was typed.
type saveDraft struct {
	view string
	d    *draft
}

// recalled is what an earlier run left.
type recalled struct {
	d    *draft
	kept inputs.Kept
}

// kept is the outcome of saving.
type kept struct{}

// recall fills in what an earlier run left, unless something was typed meanwhile.
func (v *formScreen) recall(c *tui.Ctx, d *draft) tea.Cmd {
	if d.loaded || d.file == "" {
		return nil
	}
	d.loaded = true
	cmd, _ := c.Replace(v.info.ID, "recall "+d.key, "recall the last values", func(context.Context) (any, error) {
		return recalled{d, v.inputs.Load(d.file)}, nil
	})
	return cmd
}

// fill fills the form with what was kept. A file that does not fit is as good as none.
func (d *draft) fill(k inputs.Kept) tea.Cmd {
	if k.Empty() || d.given || d.form.Dirty() || d.form.Prefill(k.Value, k.Text) != nil {
		return nil
	}
	d.kept, d.saved = k, d.form.Revision()
	return d.form.Cmd()
}

// note says of what run the marked values are.
func (d *draft) note() string {
	if d.kept.Empty() || !d.form.Recalled() && d.kept.Text == "" {
		return ""
	}
	when := d.kept.At.Local().Format("15:04")
	if time.Since(d.kept.At) > 20*time.Hour {
		when = d.kept.At.Local().Format("2 Jan")
	}
	what := "last used "
	if d.kept.Draft {
		what = "typed "
	}
	return what + when
}

// changed hands out the work of a form that changed, and sees to it that what was typed is saved soon.
func (v *formScreen) changed(c *tui.Ctx, d *draft) tea.Cmd {
	cmd := d.form.Cmd()
	if d.file == "" || d.soon || d.form.Revision() == d.saved {
		return cmd
	}
	d.soon = true
	return tea.Batch(cmd, c.After(draftPause, func() tea.Msg { return saveDraft{v.info.ID, d} }))
}

// saveDraft saves what was typed, if it was not sent meanwhile.
func (v *formScreen) saveDraft(c *tui.Ctx, d *draft) tea.Cmd {
	d.soon = false
	if d.form.Revision() == d.saved {
		return nil
	}
	return v.onDisk(c, d, v.unsaved(d))
}

// unsaved is what saves a draft as it is now; it may run beside the event loop.
func (v *formScreen) unsaved(d *draft) func() error {
	d.saved = d.form.Revision()
	file, fields, value, text := d.file, d.form.Schema(), d.form.Value(), d.form.Text()
	return func() error {
		return v.inputs.SaveDraft(file, fields.Raw(), inputs.Kept{Value: value.JSON(), Text: text})
	}
}

// startOver clears the form and what was kept for it.
func (v *formScreen) startOver(c *tui.Ctx) tea.Cmd {
	d := v.cur
	d.form.Reset()
	d.saved, d.kept = d.form.Revision(), inputs.Kept{}
	return tea.Batch(d.form.Cmd(), v.onDisk(c, d, func() error { return v.inputs.Forget(d.file) }))
}

// keep saves what was sent. It comes after the call, which does not wait for the disk.
func (v *formScreen) keep(c *tui.Ctx, d *draft) tea.Cmd {
	file, fields, value := d.file, d.form.Schema(), d.sent
	if d.form.Revision() != d.called {
		d.saved = d.called // what was typed during the call is saved again, for this forgets it
	}
	return v.onDisk(c, d, func() error { return v.inputs.Save(file, fields.Raw(), value) })
}

func (v *formScreen) onDisk(c *tui.Ctx, d *draft, save func() error) tea.Cmd {
	if d.file == "" {
		return nil
	}
	cmd, _ := c.Replace(v.info.ID, "keep "+d.key, "save the values for the next start", func(context.Context) (any, error) {
		_ = save() // a convenience: nobody is bothered where it fails
		return kept{}, nil
	})
	return cmd
}

// close saves what was typed just before the program ends.
func (v *formScreen) close() {
	for _, d := range v.drafts {
		if d.file != "" && d.form.Revision() != d.saved {
			_ = v.unsaved(d)()
		}
	}
}
