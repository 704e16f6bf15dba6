package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A file that somebody has open for a while is replaced after that; what does not pass is not waited for, and nothing is waited for longer than
// a second.
func TestRenameIsPatient(t *testing.T) {
	held, broken := errors.New("held"), errors.New("broken")
	for name, c := range map[string]struct {
		fails int // times
		err   error
		want  error
		took  time.Duration
	}{
		"free":     {0, held, nil, 0},
		"held":     {7, held, nil, 7 * renamePause},
		"for good": {1e6, held, held, 99 * renamePause},
		"broken":   {1, broken, broken, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, tries := time.Now(), 0
				err := retryWhile(func() error {
					if tries++; tries <= c.fails {
						return c.err
					}
					return nil
				}, func(err error) bool { return errors.Is(err, held) })
				if !errors.Is(err, c.want) || time.Since(began) != c.took {
					t.Errorf("%v after %v and %d tries", err, time.Since(began), tries)
				}
			})
		})
	}
	dir := t.TempDir()
	began := time.Now()
	if err := Rename(filepath.Join(dir, "no"), filepath.Join(dir, "file")); !errors.Is(err, os.ErrNotExist) || time.Since(began) > time.Second/2 {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
