// Package credstore keeps the credentials of logins between runs: in one file of mode 0600, each entry encrypted with a key that
// the keychain of the operating system holds, or in plain text where there is no keychain. The keychain is not asked before there
// is something to encrypt or to decrypt, and never holds more than that key: so the few kB that a value of it may have (2.5 kB on
// Windows, 3 kB on macOS) do not limit tokens.
package credstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/files"
)

// The modes of a store.
const (
	Auto     = "auto"     // the keychain where it answers, else plain text
	Keychain = "keychain" // never plain text
	File     = "file"     // never the keychain
	Memory   = "memory"   // until the program ends
)

// Modes lists them, the default first.
func Modes() []string { return []string{Auto, Keychain, File, Memory} }

// name is the file below the folder.
const name = "credentials.json"

// lockWait is how long another process that writes is waited for, renewWait one that renews a token, and lockAgain how often to look.
const (
	lockWait  = 10 * time.Second
	renewWait = 25 * time.Second
	lockAgain = 5 * time.Millisecond
)

// Open is the store of a mode below a folder of mcphud's own, which need not exist. Without a folder ("") it is memory. Nothing is
// read yet.
func Open(mode, dir string) auth.Store {
	if mode == Memory || dir == "" {
		return auth.NewMemory()
	}
	s := &store{mode: mode, path: filepath.Join(dir, name)}
	s.keychain = &keychain{account: s.path, patience: 10 * time.Second}
	return s
}

// store implements auth.Store on a file.
type store struct {
	mode     string
	path     string
	keychain *keychain

	mu    sync.Mutex
	where string // how the last entry was kept; "" for not known yet
}

// Find implements auth.Store.
func (s *store) Find(ctx context.Context, resource string) (found []auth.Credentials, err error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if !e.Of(resource) {
			continue
		}
		c, bad := s.open(ctx, e)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("the login at %s: %w", e.Issuer, bad))
			c = auth.Credentials{Key: e.Key}
		}
		found = append(found, c)
	}
	return found, err
}

// Put implements auth.Store.
func (s *store) Put(ctx context.Context, c auth.Credentials) error {
	e, err := s.close(ctx, c)
	if err != nil {
		return err
	}
	return s.edit(ctx, func(all []entry) []entry { return append([]entry{e}, removeKey(all, c.Key)...) })
}

// Delete implements auth.Store.
func (s *store) Delete(ctx context.Context, k auth.Key) error {
	if _, err := os.Stat(s.path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return s.edit(ctx, func(all []entry) []entry { return removeKey(all, k) })
}

func removeKey(all []entry, k auth.Key) []entry {
	return slices.DeleteFunc(all, func(e entry) bool { return e.Key == k })
}

// Where implements auth.Store.
func (s *store) Where() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path + s.where
}

func (s *store) setWhere(how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.where = how
}

// edit changes the entries, alone among all processes.
func (s *store) edit(ctx context.Context, change func([]entry) []entry) (err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	all, err := s.read()
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(document{version, change(all)}, "", "  ")
	if err != nil {
		return err
	}
	if len(b) > maxFile {
		return tooMuch(s.path)
	}
	return files.WriteForced(s.path, append(b, '\n'))
}

// Lock implements auth.Locker. What is locked is not the file: other logins are read and written meanwhile.
func (s *store) Lock(ctx context.Context, k auth.Key) (unlock func(), err error) {
	sum := sha256.Sum256([]byte(k.Resource + "\x00" + k.Issuer))
	release, err := s.lockFile(ctx, filepath.Join(filepath.Dir(s.path), "renewing", hex.EncodeToString(sum[:8])+".lock"), renewWait)
	if err != nil {
		return nil, err
	}
	return func() { _ = release() }, nil // the next one opens it anew
}

// lock keeps other processes from writing.
func (s *store) lock(ctx context.Context) (unlock func() error, err error) {
	return s.lockFile(ctx, s.path+".lock", lockWait)
}

func (s *store) lockFile(ctx context.Context, path string, wait time.Duration) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if ok, err := l.TryLockContext(ctx, lockAgain); err != nil || !ok {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s is locked by another process", s.path)
		}
		return nil, err
	}
	return l.Close, nil
}
