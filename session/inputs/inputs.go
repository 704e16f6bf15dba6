// Package inputs keeps what was sent last for each tool, prompt and resource template, so that a form comes back filled in
// after a restart.
package inputs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcphud/mcphud/session/atomicfile"
	"github.com/mcphud/mcphud/session/config"
)

const (
	maxValue  = 64 << 10 // bytes of a value that is kept
	maxValues = 500      // values that are kept
)

// Store is a folder with one file (mode 0600) per value. Nothing that looks like a secret is written to it. A nil Store
// keeps nothing.
type Store struct{ dir string }

// New keeps values in a folder, which is made when it is needed. An empty name keeps none.
func New(dir string) *Store { return &Store{dir} }

// File is where the value of an item is, "" where none is kept. kind tells tools, prompts and templates apart. A server is
// identified by what it runs, not by its name.
func (s *Store) File(server config.Server, kind, name string) string {
	if s == nil || s.dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(server.Fingerprint() + "\x00" + kind + "\x00" + name))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

// Load returns the value of a file, nil if there is none.
func (s *Store) Load(file string) []byte {
	if file == "" {
		return nil
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxValue {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil // as if nothing had been sent yet
	}
	return b
}

// Save keeps a value without its secrets, and removes the oldest ones beyond the bound. schema is the JSON Schema that the
// value was made from: one that asks for a password or a write-only value keeps the value off the disk altogether.
func (s *Store) Save(file string, schema, value []byte) error {
	if file == "" || len(value) == 0 || len(value) > maxValue || asksForSecret(schema) {
		return nil
	}
	value, ok := withoutSecrets(value)
	if !ok {
		return nil
	}
	if err := s.write(file, value); err != nil {
		return fmt.Errorf("cannot save the last values in %s: %w", s.dir, err)
	}
	s.prune()
	return nil
}

func (s *Store) write(file string, value []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, value)
}

// asksForSecret is whether a schema marks a value as secret.
func asksForSecret(schema []byte) bool {
	return bytes.Contains(schema, []byte(`"password"`)) || bytes.Contains(schema, []byte(`"writeOnly"`))
}

// prune removes the values that were not sent for the longest time.
func (s *Store) prune() {
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) <= maxValues {
		return
	}
	type aged struct {
		name string
		at   int64
	}
	var all []aged
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			all = append(all, aged{f.Name(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Compare(a.at, b.at) })
	for _, a := range all[:max(len(all)-maxValues, 0)] {
		_ = os.Remove(filepath.Join(s.dir, a.name))
	}
}
