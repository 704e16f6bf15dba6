// Package atomicfile replaces small private files.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces path by a file with these bytes, as a whole or not at all, that only its owner may read (mode 0600). The
// folder must exist. A reader sees the old bytes or the new ones. They are not forced to the disk: after a power failure
// the file may be the old one.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // why it could not be written is what matters
	}
	return err
}
