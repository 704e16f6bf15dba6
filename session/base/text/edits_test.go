package text

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"theme", "layout.split", "mouse", "app.zoom"}
	for name, want := range map[string]string{
		"thme": "theme", "Theme": "theme", "split": "layout.split", "mose": "mouse", "zoom": "app.zoom", "qqq": "", "": "", "xy": "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
