// Package files reads and replaces small files, each as a whole or not at all, and notices when files change: by what the system
// reports, and by looking again where it reports nothing, as on network file systems.
package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mcphud/mcphud/session/base/text"
)

// Read returns the content of a regular file of at most limit bytes, through symbolic links. What a file is gets asked before
// it is opened: a named pipe would block for ever, and a device never end. Errors name the file.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return nil, tooLarge(path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may grow
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(b)) > limit {
		return nil, tooLarge(path, limit)
	}
	return b, nil
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%s is larger than %s", path, text.Bytes(limit))
}

// Write replaces path by a file with these bytes, as a whole or not at all, that only its owner may read (mode 0600). The
// folder must exist. A reader sees the old bytes or the new ones. They are not forced to the disk: after a power failure
// the file may be the old one, or empty. A symbolic link is replaced, so that a link in somebody else's folder leads nowhere: [Rewrite] is
// for files that people keep.
func Write(path string, data []byte) error { return WriteMode(path, data, 0o600) }

// WriteMode is [Write] for a file of another mode.
func WriteMode(path string, data []byte, mode os.FileMode) error {
	return WriteTo(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteForced is [Write] for what must not be lost in a power failure either, such as logins: it is forced to the disk before it replaces the file.
func WriteForced(path string, data []byte) error {
	err := replace(path, 0o600, force, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err == nil {
		syncFolder(filepath.Dir(path))
	}
	return err
}

// force is what forces a file to the disk; a variable for tests.
var force = (*os.File).Sync

// WriteTo is [WriteMode] for what is written piece by piece. An error of write leaves the old file.
func WriteTo(path string, mode os.FileMode, write func(io.Writer) error) error {
	return replace(path, mode, func(*os.File) error { return nil }, write)
}

func replace(path string, mode os.FileMode, force func(*os.File) error, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = force(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // why it could not be written is what matters
	}
	return err
}
