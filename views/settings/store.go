package settings

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui"
)

// store is config.yaml for a screen.
type store struct {
	file File
	view string
	is   userconfig.Config // as it was read last
	raw  []byte            // of the file; nil where there is none
	err  error             // why nothing of it can be read
}

func storeOf(f File, view string) store { return store{file: f, view: view, is: userconfig.Default()} }

func (s *store) noFile(*tui.Ctx) string {
	if s.file.Path == "" {
		return "there is no folder for config.yaml; set HOME or XDG_CONFIG_HOME"
	}
	return ""
}

// closed is why nothing can be written, said; nil where it can.
func (s *store) closed(c *tui.Ctx) tea.Cmd {
	if why := s.noFile(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	if s.err != nil {
		return c.Toast(tui.Failure, s.err.Error()+"; "+c.KeyOf("settings.edit")+" in :settings opens it, nothing is written until it can be read")
	}
	return nil
}

// foot says what is wrong with the file, else where it is.
func (s *store) foot() string {
	switch {
	case s.err != nil:
		return "config.yaml cannot be read"
	case len(s.is.Warnings) > 0:
		return s.wrong(0)
	case s.raw == nil:
		return "no config.yaml yet: it comes with the first change"
	}
	return filepath.Base(s.file.Path)
}

// wrong is a remark about the file.
func (s *store) wrong(i int) string {
	w := s.is.Warnings[i]
	w.File = filepath.Base(w.File)
	return w.String()
}

// was is what was read.
type was struct {
	is  userconfig.Config
	raw []byte
	err error
}

// read reads the file.
func (s *store) read(c *tui.Ctx) tea.Cmd {
	path := s.file.Path
	cmd, _ := c.Replace(s.view, "read", "read config.yaml", func(context.Context) (any, error) {
		var w was
		if w.is, w.err = userconfig.Load(path); w.is.Found {
			w.raw, _ = userconfig.Text(path) // Load says why it cannot be read
		}
		return w, nil
	})
	return cmd
}

// wrote is the outcome of a change.
type wrote struct {
	row
	texts []string
}

// write writes a value to the file, none to take it out.
func (s *store) write(c *tui.Ctx, r row, texts []string) tea.Cmd {
	path := s.file.Path
	cmd, _ := c.Replace(s.view, "write", "write config.yaml", func(ctx context.Context) (any, error) {
		return wrote{r, texts}, userconfig.Write(ctx, path, r.Key, texts)
	})
	return cmd
}

// done takes in what was read, and says why something was not written; then is what follows a change.
func (s *store) done(c *tui.Ctx, m tui.OpDone, changed func(*tui.Ctx) tea.Cmd, then func(*tui.Ctx, wrote) tea.Cmd) (tea.Cmd, bool) {
	switch r := m.Value.(type) {
	case was:
		s.is, s.raw, s.err = r.is, r.raw, r.err
		return changed(c), true
	case wrote, replaced:
		if m.Err != nil {
			return tea.Batch(c.ResetTheme(), c.Toast(tui.Failure, "config.yaml was not changed: "+m.Err.Error())), true
		}
		w, _ := r.(wrote)
		return tea.Batch(s.read(c), then(c, w)), true
	}
	return nil, false
}
