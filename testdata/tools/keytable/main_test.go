package main

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/tui"
)

// The manual of the keys has the tables of the actions that there are.
func TestKeysAreUpToDate(t *testing.T) {
	if want := begin + table() + end; !strings.Contains(tui.KEYS, want) {
		t.Errorf("tui/KEYS.md has other tables; go generate ./tui writes\n%s", want)
	}
}
