//go:build amd64 || arm64

package confine

import (
	"errors"
	"strings"
	"testing"
)

func TestX5b_OldLandlock(t *testing.T) {
	for v, fits := range map[int]bool{1: false, 2: false, 3: true, 4: true, 7: true} {
		err := checkLandlock(v, 0)
		var e *UnsupportedError
		if fits != (err == nil) || !fits && (!errors.As(err, &e) || !strings.Contains(err.Error(), "Linux has from 6.2 on")) {
			t.Errorf("version %d: %v", v, err)
		}
	}
}
