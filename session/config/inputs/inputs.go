// Package inputs keeps what was typed and sent last for each tool, prompt and resource template, so that a form comes back
// filled in after a restart.
package inputs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/mask"
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

// Kept is what is kept of an item: what was sent last, or what was typed since.
type Kept struct {
	// Value is JSON, nil where Text is all that there is.
	Value []byte
	// Text was typed as JSON and is not JSON yet.
	Text string
	// Draft is whether it was typed and not sent.
	Draft bool
	// At is when it was.
	At time.Time
}

// Empty reports whether nothing is kept.
func (k Kept) Empty() bool { return k.Value == nil && k.Text == "" }

// Load returns what is kept at a file. One that is missing, broken or too large is as if nothing had been typed yet.
func (s *Store) Load(file string) Kept {
	if file == "" {
		return Kept{}
	}
	var k Kept
	b, at := load(file)
	if json.Valid(b) {
		k = Kept{Value: b, At: at}
	}
	b, at = load(draftOf(file))
	var d typed
	if b == nil || at.Before(k.At) || json.Unmarshal(b, &d) != nil || d.Value == nil && d.Text == "" {
		return k
	}
	return Kept{Value: d.Value, Text: d.Text, Draft: true, At: at}
}

func load(file string) ([]byte, time.Time) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 2*maxValue {
		return nil, time.Time{}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, time.Time{}
	}
	return b, info.ModTime()
}

// typed is the file of a draft.
type typed struct {
	Value json.RawMessage `json:"value,omitempty"`
	Text  string          `json:"text,omitempty"`
}

// draftOf is the file beside the one of what was sent.
func draftOf(file string) string { return strings.TrimSuffix(file, ".json") + ".draft" }

// SaveDraft keeps what was typed and not sent, without its secrets: a value, or a text that is not JSON yet. Nothing typed
// forgets the draft.
func (s *Store) SaveDraft(file string, schema []byte, d Kept) error {
	if file == "" {
		return nil
	}
	rule := mask.RuleOf(schema)
	if len(d.Value)+len(d.Text) > maxValue || rule.Text(d.Text) {
		return s.remove(draftOf(file))
	}
	t := typed{Text: d.Text}
	if d.Text == "" {
		if clean, ok := rule.Without(d.Value); ok && string(clean) != "{}" {
			t.Value = clean
		}
	}
	if t.Text == "" && len(t.Value) == 0 {
		return s.remove(draftOf(file))
	}
	b, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("cannot save what was typed: %w", err)
	}
	return s.keep(draftOf(file), b)
}

// Forget removes what is kept of an item.
func (s *Store) Forget(file string) error {
	if file == "" {
		return nil
	}
	return errors.Join(s.remove(file), s.remove(draftOf(file)))
}

func (s *Store) remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove values: %w", err)
	}
	return nil
}

// Save keeps a value that was sent without its secrets, in place of a draft, and removes the oldest ones beyond the bound.
// schema is the JSON Schema that the value was made from, which may say what of it is secret.
func (s *Store) Save(file string, schema, value []byte) error {
	if file == "" {
		return nil
	}
	if err := s.remove(draftOf(file)); err != nil {
		return err
	}
	if len(value) == 0 || len(value) > maxValue {
		return nil
	}
	value, ok := mask.RuleOf(schema).Without(value)
	if !ok {
		return nil
	}
	return s.keep(file, value)
}

func (s *Store) keep(file string, value []byte) error {
	err := os.MkdirAll(s.dir, 0o700)
	if err == nil {
		err = files.Write(file, value)
	}
	if err != nil {
		return fmt.Errorf("cannot save values in %s: %w", s.dir, err)
	}
	s.prune()
	return nil
}

// prune removes the values that were not sent for the longest time.
func (s *Store) prune() {
	entries, err := os.ReadDir(s.dir)
	if err != nil || len(entries) <= maxValues {
		return
	}
	type aged struct {
		name string
		at   int64
	}
	var all []aged
	for _, f := range entries {
		if info, err := f.Info(); err == nil {
			all = append(all, aged{f.Name(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Compare(a.at, b.at) })
	for _, a := range all[:max(len(all)-maxValues, 0)] {
		_ = os.Remove(filepath.Join(s.dir, a.name))
	}
}
