package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/tailscale/hujson"

	"github.com/mcphud/mcphud/session/atomicfile"
)

// edit replaces the bytes from from to to.
type edit struct {
	from, to int
	text     string
}

func (p *Place) edit(from, to int, text string) { p.edits = append(p.edits, edit{from, to, text}) }

// text is the file with the edits; all else stands as it was, byte for byte.
func (p *Place) text() []byte {
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range p.edits {
		out = append(append(out, p.before[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, p.before[at:]...)
}

// Save writes the edits, and before that a copy of the file beside it, whose path it returns. It writes nothing where the file
// is not as it was read, or would lose anything besides what was edited; the error is an *[EditError], or that of the file system.
func (p *Place) Save() (backup string, err error) {
	now := p.text()
	if err := p.same(now); err != nil {
		return "", err
	}
	info, err := os.Stat(p.File)
	if err != nil {
		return "", err
	}
	if backup, err = p.backup(); err != nil {
		return "", fmt.Errorf("cannot keep a copy of %s: %w", p.File, err)
	}
	if is, err := readFile(p.File, maxJSON); err != nil || !bytes.Equal(is, p.before) {
		_ = os.Remove(backup)
		return "", &EditError{File: p.File, Message: "changed while it was edited; it was left as it is", Next: "try again once no program writes it"}
	}
	if err := atomicfile.WriteMode(p.File, now, info.Mode().Perm()); err != nil {
		_ = os.Remove(backup)
		return "", fmt.Errorf("cannot write %s: %w", p.File, err)
	}
	return backup, nil
}

// backup writes the file as it was beside it, for its owner only: it may have secrets.
func (p *Place) backup() (path string, err error) {
	stamp := time.Now().Format("20060102-150405")
	for n := 1; ; n++ {
		path = p.File + "." + stamp + ".bak"
		if n > 1 {
			path = fmt.Sprintf("%s.%s-%d.bak", p.File, stamp, n)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(p.before)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(path)
			return "", err
		}
		return path, nil
	}
}

// same checks that nothing differs from the file as it was but command and arguments of the entry.
func (p *Place) same(now []byte) error {
	old, err := p.rest(p.before)
	if err == nil {
		var is any
		if is, err = p.rest(now); err == nil && reflect.DeepEqual(old, is) {
			return nil
		}
	}
	return &EditError{File: p.File, Message: "would lose more than the entry's command", Next: "change the entry by hand"}
}

// rest is what a file says, without the command and the arguments of the entry.
func (p *Place) rest(b []byte) (any, error) {
	b, err := hujson.Standardize(bytes.Clone(b))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var all any
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	at := all
	for _, key := range p.path {
		m, ok := at.(map[string]any)
		if !ok {
			return nil, errors.New("the entry is gone")
		}
		at = m[key]
	}
	entry, ok := at.(map[string]any)
	if !ok {
		return nil, errors.New("the entry is gone")
	}
	delete(entry, "command")
	delete(entry, "args")
	return all, nil
}
