package expect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/compare"
)

// MaxSnapshot is how large the file of a snapshot may be, in bytes.
const MaxSnapshot = compare.MaxBytes

// Snapshot is a result that was kept in a file, without secrets.
type Snapshot struct {
	Dir  string // of the file that asks for it
	File string // in Dir or below it
	Places
}

// CheckFile says what is wrong with the name of a snapshot's file.
func CheckFile(name string) error {
	if !filepath.IsLocal(name) || !strings.HasSuffix(name, ".json") || strings.ContainsAny(name, "\\\x00") {
		return errors.New("the file of a snapshot ends in .json and is beside the call, or below its folder")
	}
	return nil
}

// encodeSnapshot writes a result as the file of a snapshot has it.
func encodeSnapshot(result []byte) ([]byte, error) {
	if len(result) > MaxSnapshot {
		return nil, fmt.Errorf("the result is too large for a snapshot (%s; %s are the limit)", text.Bytes(len(result)), text.Bytes(MaxSnapshot))
	}
	clean, _ := mask.RuleOf(nil).Hide(result)
	var b bytes.Buffer
	if err := json.Indent(&b, clean, "", "  "); err != nil {
		return nil, fmt.Errorf("the result is not valid JSON: %w", err)
	}
	b.WriteByte('\n')
	if b.Len() > MaxSnapshot {
		return nil, fmt.Errorf("the result is too large for a snapshot (%s; %s are the limit)", text.Bytes(b.Len()), text.Bytes(MaxSnapshot))
	}
	return b.Bytes(), nil
}

// read is what is kept. What leads out of the folder is refused.
func (s *Snapshot) read() (_ []byte, err error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Stat(s.File); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := root.Open(s.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxSnapshot+1))
	if err == nil && len(b) > MaxSnapshot {
		err = fmt.Errorf("is larger than %s", text.Bytes(MaxSnapshot))
	}
	return b, err
}

// Update writes the file anew where the result differs from it. wrote reports whether it did.
func (s *Snapshot) Update(ctx context.Context, result []byte) (wrote bool, err error) {
	if _, same := s.check(ctx, result); same {
		return false, nil
	}
	b, err := encodeSnapshot(result)
	if err != nil {
		return false, err
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return false, fmt.Errorf("write the snapshot: %w", err)
	}
	defer root.Close()
	if dir := filepath.Dir(s.File); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return false, fmt.Errorf("write the snapshot: %w", err)
		}
	}
	fresh := s.File + ".new"
	if err := root.WriteFile(fresh, b, 0o644); err != nil {
		return false, fmt.Errorf("write the snapshot: %w", err)
	}
	if err := root.Rename(fresh, s.File); err != nil {
		return false, errors.Join(fmt.Errorf("write the snapshot: %w", err), root.Remove(fresh))
	}
	return true, nil
}

func (s *Snapshot) check(ctx context.Context, result []byte) (Failed, bool) {
	f := Failed{Assertion: OfSnapshot, Expected: "the same as " + filepath.ToSlash(s.File)}
	before, err := s.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Got = "no such snapshot yet"
		return f, false
	case err != nil:
		f.Got = "an error: " + err.Error()
		return f, false
	}
	after, err := encodeSnapshot(result)
	if err != nil {
		f.Got = "an error: " + err.Error()
		return f, false
	}
	ignored, err := s.In(ctx, before, after)
	if err != nil {
		f.Got = "an error: ignore: " + text.Clip(err.Error(), maxPreview)
		return f, false
	}
	r := compare.Values(before, after, compare.Options{NoGuess: true, Ignore: ignored})
	if r.Same() {
		return f, true
	}
	f.Got = r.Summary()
	const most = 100
	for _, d := range r.Differences {
		if d.Class != compare.Real {
			continue
		}
		if len(f.Differences) < most {
			f.Differences = append(f.Differences, d)
		}
	}
	f.More = r.Real() - len(f.Differences)
	return f, false
}
