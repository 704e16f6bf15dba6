package views_test

import (
	"bytes"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	forms "github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/paint"
)

// TestE2EForms takes the input schema of every tool of every pinned server, as
// it is sent today, through form -> JSON -> form, by way of every row and of
// the raw editor.
func TestE2EForms(t *testing.T) {
	for _, s := range peertest.All(t) {
		t.Run(s.Name, func(t *testing.T) {
			m := session.NewManager(session.Options{})
			defer func() { _ = m.Close() }()
			sess, err := m.Register(s)
			require.NoError(t, err)
			require.NoError(t, sess.Connect(t.Context()))
			l, err := sess.List(t.Context(), offer.Tools)
			if err != nil || len(l.Items) == 0 {
				t.Fatalf("%d tools, %v", len(l.Items), err)
			}
			theme := paint.New(themes.Default(true), colorprofile.NoTTY)
			for _, it := range l.Items {
				sch := schema.Parse(it.InputSchema)
				want := sch.Root().Skeleton().JSON()
				first := forms.New(sch, theme)
				first.SetSize(100, 30)
				if err := first.SetJSON(want); err != nil {
					t.Fatalf("%s: %v", it.Name, err)
				}
				for _, key := range []string{"ctrl+r", "ctrl+r", "ctrl+home"} {
					first.Key(press(key))
				}
				for range 60 {
					first.Key(press("down"))
					first.Lines()
				}
				second := forms.New(sch, theme)
				if err := second.SetJSON(first.JSON()); err != nil {
					t.Fatalf("%s: %v", it.Name, err)
				}
				if got := second.JSON(); !bytes.Equal(got, want) || !bytes.Equal(first.JSON(), want) {
					t.Errorf("%s: %s became %s, then %s", it.Name, want, first.JSON(), got)
				}
				if sch.Err() != nil || len(sch.Notes()) > 0 {
					t.Errorf("%s: %v, %v", it.Name, sch.Err(), sch.Notes())
				}
			}
		})
	}
}

func press(key string) tea.KeyPressMsg { return tui.PressOf(key) }
