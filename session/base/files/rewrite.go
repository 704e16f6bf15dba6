package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// ErrChanged is that of Rewrite where the file is not what the caller read.
var ErrChanged = errors.New("the file changed meanwhile")

// Rewrite replaces a file that people keep by these bytes, as a whole or not at all: where path is a symbolic link the file that it leads to,
// with the mode and owner that the file has and, on Linux and macOS, its extended attributes, and forced to the disk. lost says, a sentence each,
// what of the file could not be kept; other names of it (hard links) never are, see [Apart]. A new file has mode 0600; its folder must
// exist. before is what the caller read, nil for no file: where the file is something else by now nothing is written, and the error is
// [ErrChanged]. Between this look and the replacement are microseconds in which a program that takes no [Lock] can still write what is lost.
func Rewrite(path string, before, data []byte) (lost []string, err error) {
	target, info, err := Target(path)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*") // mode 0600
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err == nil && info != nil {
		lost, err = keepAll(f, target, info)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = checkUnchanged(target, before)
	}
	if err == nil {
		err = Rename(f.Name(), target)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // why it could not be written is what matters
		return nil, err
	}
	syncFolder(filepath.Dir(target))
	return lost, nil
}

// keepAll gives a new file what there is of the one that it replaces beside its content, and says what it cannot give.
func keepAll(f *os.File, target string, info os.FileInfo) (lost []string, err error) {
	other, err := keep(f, info)
	if err != nil {
		return nil, err
	}
	if names := attributes(f, target, other); len(names) > 0 {
		lost = append(lost, fmt.Sprintf("%s has lost extended attributes, which the system does not let be copied: %s", target, strings.Join(names, ", ")))
	}
	if apart := Apart(target); apart != "" {
		lost = append(lost, apart)
	}
	return lost, nil
}

// Apart is what becomes of the other names (hard links) of a file that [Rewrite] replaces, "" where it has one name.
func Apart(path string) string {
	target, info, err := Target(path)
	if err != nil || info == nil || links(info) < 2 {
		return ""
	}
	return fmt.Sprintf("%s is one of %d names of a file (hard links): it becomes a file of its own, and the others keep the old text", target, links(info))
}

// Target is the file that path leads to through symbolic links, and what is known of it; nil for one that is not there. A link to nothing
// is an error, since nobody knows where the file should be.
func Target(path string) (string, os.FileInfo, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, bad := os.Lstat(path); bad == nil && info.Mode()&os.ModeSymlink != 0 {
			to, _ := os.Readlink(path) // where it cannot be read, the message is shorter
			return "", nil, fmt.Errorf("%s is a symbolic link to %s, which does not exist", path, to)
		}
		return path, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("%s is not a regular file", target)
	}
	return target, info, nil
}

// checkUnchanged is nil while a file has these bytes, or is not there for nil.
func checkUnchanged(path string, before []byte) error {
	if before == nil {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(ErrChanged, err)
		}
		return nil
	}
	if is, err := Read(path, int64(len(before))); err != nil || !bytes.Equal(is, before) {
		return ErrChanged
	}
	return nil
}

// Times of Lock.
const lockWait, lockAgain = time.Minute, 5 * time.Millisecond

// Lock keeps other programs that use it from writing the files of path's folder, for which it waits up to a minute: each writer waits for the disk. It is the folder that is
// locked: a file is another one after each write, and nothing is left beside it. Where the system or the file system has no such
// locks, nobody is kept out. unlock must be called.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if target, _, err := Target(path); err == nil {
		path = target
	}
	lock := flock.New(filepath.Dir(path), flock.SetFlag(os.O_RDONLY))
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(wait, lockAgain); errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		_ = lock.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("another program has been writing to %s for %s", filepath.Dir(path), lockWait)
	}
	return func() { _ = lock.Close() }, nil // nothing was written to it
}
