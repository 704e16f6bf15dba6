package tui_test

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
)

const log = `# Changelog

## Unreleased

- later

## [v0.3.0] - 2026-03-01

- three

## 0.2.1

- two and a bit

## 0.2.0 (2026-01-01)

- two

## 0.1.0

- one
`

func TestBetween(t *testing.T) {
	for _, tc := range []struct{ seen, now, want string }{
		{"v0.1.0", "v0.2.0", "## 0.2.0 (2026-01-01)\n\n- two\n\n"},
		{"0.2.0", "v0.3.0", "## [v0.3.0] - 2026-03-01\n\n- three\n\n## 0.2.1\n\n- two and a bit\n\n"},
		{"v0.3.0", "v0.3.0", ""},
		{"v0.4.0", "v0.3.0", ""},
		{"nonsense", "v0.3.0", ""},
	} {
		assert.Equalf(t, tui.ChangesBetween(log, tc.seen, tc.now), tc.want, "from %s to %s", tc.seen, tc.now)
	}
}

func TestReleased(t *testing.T) {
	for version, want := range map[string]string{
		"v0.1.0": "v0.1.0", "0.1.0": "v0.1.0", "v1.0.0-rc.1": "v1.0.0-rc.1", "v0.1": "v0.1.0",
		"devel": "", "": "", "v0.0.0-20261123015300-c4a51b43f5fa": "", "v0.1.0+dirty": "", "v0.1.1-0.20261123015300-c4a51b43f5fa+dirty": "",
	} {
		if got := tui.ReleasedOn(version); got != want {
			t.Errorf("%q is the release %q, want %q", version, got, want)
		}
	}
}
