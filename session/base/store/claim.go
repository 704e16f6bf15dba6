package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/gofrs/flock"
)

// Taken is the error of [Claim] where another process has the file.
type Taken struct {
	Path string
	By   string // who it says it is, "" where it does not
}

func (t *Taken) Error() string {
	by := "another process"
	if t.By != "" {
		by = t.By
	}
	return fmt.Sprintf("store: %s belongs to %s, which is running; stop that one, or name another file", t.Path, by)
}

// maxClaim is how much of another's name is read.
const maxClaim = 200

// Claim makes the file at path this process's own until release, as long as all others claim it too; who is what they are told. It is a
// lock on a file beside it, FILE.lock, which ends with the process. Where the system or the file system has no such locks, everybody
// gets it.
func Claim(path, who string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("store: create the folder: %w", err)
	}
	name := path + ".lock"
	for range 100 {
		lock := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		switch got, err := lock.TryLock(); {
		case err != nil:
			return func() error { return nil }, errors.Join(lock.Close(), unlockable(err))
		case !got:
			return nil, errors.Join(&Taken{Path: path, By: lockOwner(name)}, lock.Close())
		}
		if !lockedIs(lock, name) { // whoever had it removed the file
			_ = lock.Close()
			continue
		}
		_ = os.WriteFile(name, []byte(who), 0o600) // only who it is is lost
		return func() error {
			_ = os.Remove(name) // a file that stays does no harm
			return lock.Close()
		}, nil
	}
	return nil, &Taken{Path: path}
}

// unlockable is nil where locks are not to be had, else the error.
func unlockable(err error) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// lockedIs reports whether what is locked is the file of that name.
func lockedIs(lock *flock.Flock, name string) bool {
	held, err1 := lock.Stat()
	there, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(held, there)
}

// lockOwner is what the file of a lock says about who has it.
func lockOwner(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxClaim)) // what was read is enough
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), ""))
}
