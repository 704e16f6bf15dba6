package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
)

// saveTries is how often a change is made again because another program writes the file.
const saveTries = 5

// Save writes the change, and before that a copy of the file beside it, whose path it returns; "" where there was no file, or the file says
// already what it should. Other programs that write by this function wait meanwhile. Where another program has written the file
// since it was read, the change is made again of what is there now, and c is that change, unless it is about the same entry. It writes
// nothing to a file that is read-only; the error is an *[EditError], or that of the file system. Links, mode and owner stay; a new file
// can be read by its owner only.
func (c *Change) Save() (backup string, err error) {
	unlock, err := c.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	for range saveTries {
		if err := c.renew(); err != nil {
			return "", err
		}
		if c.Before != nil && bytes.Equal(c.Before, c.After) {
			return "", nil
		}
		if backup, err = c.write(); !errors.Is(err, files.ErrChanged) {
			return backup, err
		}
	}
	return "", c.errChanged()
}

// lock keeps other programs out that change files by this package. The folder of the file is made where it is missing.
func (c *Change) lock() (unlock func(), err error) {
	if c.Before == nil {
		if info, err := os.Lstat(c.File); err == nil && info.Mode()&os.ModeSymlink != 0 {
			to, _ := os.Readlink(c.File) // where it cannot be read, the message is shorter
			return nil, &EditError{File: c.File, Message: "is a symbolic link to " + to + ", which does not exist", Next: "make that file, or remove the link"}
		}
		if err := os.MkdirAll(filepath.Dir(c.File), 0o700); err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", c.File, err)
		}
	}
	unlock, err = files.Lock(context.Background(), c.File)
	if err != nil {
		return nil, &EditError{File: c.File, Message: "cannot be changed now: " + err.Error(), Next: "try again"}
	}
	return unlock, nil
}

// renew makes the change again where the file is not what it was made of. What somebody else did to the entry is not undone.
func (c *Change) renew() error {
	is, err := readFile(c.File, maxJSON)
	if errors.Is(err, fs.ErrNotExist) && c.Before == nil || err == nil && c.Before != nil && bytes.Equal(is, c.Before) {
		return nil
	}
	if c.plan == nil {
		return c.errChanged()
	}
	now, err := c.plan()
	if err != nil {
		return err
	}
	if now.File != c.File || !reflect.DeepEqual(now.entry, c.entry) {
		return c.errChanged()
	}
	now.plan = c.plan
	*c = *now
	return nil
}

// write replaces the file, if it still has Before.
func (c *Change) write() (backup string, err error) {
	if c.Before != nil {
		info, err := os.Stat(c.File)
		if err != nil {
			return "", err
		}
		if info.Mode().Perm()&0o200 == 0 { // it would be replaced all the same
			return "", &EditError{File: c.File, Message: "is read-only; it was left as it is", Next: "make it writable if it is to be changed"}
		}
		if backup, err = c.backup(); err != nil {
			return "", fmt.Errorf("cannot keep a copy of %s: %w", c.File, err)
		}
	}
	lost, err := files.Rewrite(c.File, c.Before, c.After)
	if err != nil {
		if backup != "" {
			_ = os.Remove(backup)
		}
		if errors.Is(err, files.ErrChanged) {
			return "", err
		}
		return "", fmt.Errorf("cannot write %s: %w", c.File, err)
	}
	c.Lost = lost
	if backup != "" {
		c.tidy()
	}
	return backup, nil
}

// noteOtherNames says before the file is replaced what becomes of its other names.
func (c *Change) noteOtherNames() {
	if said := files.Apart(c.File); said != "" {
		c.Lost = []string{said}
	}
}

// errChanged is the error of a change that would undo what another program did meanwhile.
func (c *Change) errChanged() error {
	return &EditError{File: c.File, Message: "changed while it was edited; it was left as it is", Next: "look at it, and try again"}
}

// backup writes the file as it was beside it, for its owner only: it may have secrets.
func (c *Change) backup() (path string, err error) {
	stamp := time.Now().Format("20060102-150405")
	dir, base := filepath.Split(c.File)
	first := 1
	for _, name := range filesNamed(dir, base, backupName()) { // a number is not used again once the oldest are removed
		if m := backupName().FindStringSubmatch(strings.TrimPrefix(name, base)); m[1] == stamp {
			n, _ := strconv.Atoi(strings.TrimPrefix(m[2], "-")) // digits, or none for the first
			first = max(first, n+1, 2)
		}
	}
	for n := first; ; n++ {
		path = c.File + "." + stamp + ".bak"
		if n > 1 {
			path = fmt.Sprintf("%s.%s-%02d.bak", c.File, stamp, n)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(c.Before)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(path)
			return "", err
		}
		return path, nil
	}
}

// maxBackups is how many copies of a file are kept, and abandoned how old a file is that a killed program began.
const (
	maxBackups = 5
	abandoned  = time.Hour
)

var (
	backupName = lazyPattern(`^\.(\d{8}-\d{6})(-\d{1,2})?\.bak$`)
	draftName  = lazyPattern(`^\.\d+$`)
)

// tidy removes older copies of the file, and what killed programs left of it. It is a convenience: what cannot be removed stays.
func (c *Change) tidy() {
	dir, base := filepath.Split(c.File)
	if path, err := filepath.EvalSymlinks(c.File); err == nil {
		_, draft := filepath.Split(path)
		for _, name := range filesNamed(filepath.Dir(path), "."+draft, draftName()) {
			name = filepath.Join(filepath.Dir(path), name)
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(name)
			}
		}
	}
	copies := filesNamed(dir, base, backupName())
	slices.SortFunc(copies, func(a, b string) int { // of one second, the first has no number
		return strings.Compare(strings.TrimSuffix(a, ".bak"), strings.TrimSuffix(b, ".bak"))
	})
	for _, name := range copies[:max(len(copies)-maxBackups, 0)] {
		_ = os.Remove(filepath.Join(dir, name))
	}
}

// filesNamed are the files of a folder whose names are base and what matches.
func filesNamed(dir, base string, rest *regexp.Regexp) (names []string) {
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if after, ok := strings.CutPrefix(e.Name(), base); ok && rest.MatchString(after) {
			names = append(names, e.Name())
		}
	}
	return names
}
