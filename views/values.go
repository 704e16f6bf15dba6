package views

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/atomicfile"
)

const (
	maxValue  = 64 << 10 // bytes of a value that is kept
	maxValues = 500      // values that are kept
)

// Values keeps what was sent last for each tool, prompt and template, so that a
// form comes back filled in after a restart. One file (mode 0600) each; what
// its schema calls secret is never written.
type Values struct{ dir string }

// NewValues keeps values in a folder, which is made when it is needed. An empty
// name keeps none.
func NewValues(dir string) *Values { return &Values{dir} }

// file is where the value of an item is. Servers are told apart by what they
// run, not by their names.
func (v *Values) file(s *session.Session, screen, name string) string {
	if v == nil || v.dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Config().Fingerprint() + "\x00" + screen + "\x00" + name))
	return filepath.Join(v.dir, hex.EncodeToString(sum[:16])+".json")
}

// load returns the value of a file, nil if there is none.
func (v *Values) load(file string) []byte {
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

// save keeps a value, and forgets the oldest ones beyond the bound. schema is
// what the value was made from.
func (v *Values) save(file string, schema, value []byte) error {
	if file == "" || len(value) == 0 || len(value) > maxValue || secret(schema) {
		return nil
	}
	err := os.MkdirAll(v.dir, 0o700)
	if err == nil {
		err = atomicfile.Write(file, value)
	}
	if err != nil {
		return fmt.Errorf("keeping the values for the next start: %w", err)
	}
	v.prune()
	return nil
}

// secret is whether a schema asks for something that is not to be written down.
func secret(schema []byte) bool {
	return bytes.Contains(schema, []byte(`"password"`)) || bytes.Contains(schema, []byte(`"writeOnly"`))
}

// prune removes the values that were not sent for the longest time.
func (v *Values) prune() {
	entries, err := os.ReadDir(v.dir)
	if err != nil || len(entries) <= maxValues {
		return
	}
	type aged struct {
		name string
		at   int64
	}
	var all []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			all = append(all, aged{e.Name(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Compare(a.at, b.at) })
	for _, a := range all[:max(len(all)-maxValues, 0)] {
		_ = os.Remove(filepath.Join(v.dir, a.name))
	}
}
