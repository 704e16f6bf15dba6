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
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/compare"
	"github.com/mcphud/mcphud/session/secret"
	"github.com/mcphud/mcphud/session/text"
)

// MaxSnapshot is how large the file of a snapshot may be, in bytes.
const MaxSnapshot = compare.MaxBytes

// maxIgnored is how many places the expressions of one snapshot may name.
const maxIgnored = 100_000

// Snapshot is a result that was kept in a file, without secrets.
type Snapshot struct {
	Dir  string // of the file that asks for it
	File string // in Dir or below it

	pointers []string
	queries  []*Query
}

// Ignore leaves places out of the comparison: a JSON pointer, or a jq expression that names places, such as .items[].id.
func (s *Snapshot) Ignore(place string) error {
	if strings.HasPrefix(place, "/") {
		s.pointers = append(s.pointers, place)
		return nil
	}
	q, err := parsePaths(place)
	if err != nil {
		return err
	}
	s.queries = append(s.queries, q)
	return nil
}

// Ignored are the places that are left out, as Ignore was given them.
func (s *Snapshot) Ignored() []string {
	all := slices.Clone(s.pointers)
	for _, q := range s.queries {
		all = append(all, q.Text)
	}
	return all
}

// CheckFile says what is wrong with the name of a snapshot's file.
func CheckFile(name string) error {
	if !filepath.IsLocal(name) || !strings.HasSuffix(name, ".json") || strings.ContainsAny(name, "\\\x00") {
		return errors.New("the file of a snapshot ends in .json and is beside the call, or below its folder")
	}
	return nil
}

// kept is a result as a snapshot has it.
func kept(result []byte) ([]byte, error) {
	if len(result) > MaxSnapshot {
		return nil, fmt.Errorf("the result is too large for a snapshot (%s; %s are the limit)", text.Bytes(len(result)), text.Bytes(MaxSnapshot))
	}
	clean, _ := secret.Of(nil).Hide(result)
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
	b, err := kept(result)
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
	after, err := kept(result)
	if err != nil {
		f.Got = "an error: " + err.Error()
		return f, false
	}
	ignored, err := s.ignored(ctx, before, after)
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

// ignored is a set of JSON pointers: what is at one of them, or below, does not count.
func (s *Snapshot) ignored(ctx context.Context, values ...[]byte) (func(pointer string) bool, error) {
	set := map[string]bool{}
	for _, p := range s.pointers {
		set[p] = true
	}
	for _, q := range s.queries {
		for _, raw := range values {
			v, err := decode(raw)
			if err != nil {
				return nil, err
			}
			err = q.each(ctx, v, func(out any) bool {
				set[pointerOf(out)] = true
				return len(set) <= maxIgnored
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.Text, err)
			}
			if len(set) > maxIgnored {
				return nil, fmt.Errorf("%s names more than %d places", q.Text, maxIgnored)
			}
		}
	}
	if len(set) == 0 {
		return nil, nil
	}
	return func(pointer string) bool {
		for at := pointer; ; at = at[:strings.LastIndexByte(at, '/')] {
			if set[at] {
				return true
			}
			if at == "" {
				return false
			}
		}
	}, nil
}

// pointerOf is a path of jq as a JSON pointer.
func pointerOf(path any) string {
	var b strings.Builder
	parts, _ := path.([]any)
	for _, p := range parts {
		b.WriteByte('/')
		switch p := p.(type) {
		case int:
			b.WriteString(strconv.Itoa(p))
		case string:
			b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
		default: // a slice
			b.WriteString("-")
		}
	}
	return b.String()
}
