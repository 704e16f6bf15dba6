package calls

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/config"
)

// Folder is where a project has its calls, below the project's folder.
const Folder = ".mcphud/calls"

// README is the manual of the history and of named calls, in Markdown; Schema is the JSON Schema (2020-12) of a file of calls.
var (
	//go:embed README.md
	README string
	//go:embed calls.schema.json
	Schema []byte
)

// maxFile is how large a file of a call may be: as large as one of the configuration.
const maxFile = 64 << 10

// File is a file of calls.
type File struct {
	Name  string // without .yaml
	Path  string
	Calls []Call // one, or the steps of the file
	Steps bool   // whether it has steps
}

// Config is the server that the call's file itself describes, as an entry of a project's file, which starts only where it is trusted; false where it
// names one, or none.
func (c Call) Config() (config.Server, bool) {
	s, ok := c.Server.Config()
	if !ok {
		return s, false
	}
	if s.Command == "" {
		s.Name, _, _ = strings.Cut(c.Name, "/")
	}
	s.Source = config.Source{File: filepath.Dir(c.File), Project: true} // the same in several files is trusted once
	if dir, ok := strings.CutSuffix(filepath.ToSlash(filepath.Dir(c.File)), "/"+Folder); ok && s.Command != "" {
		s.Cwd = filepath.FromSlash(dir) // what the command names is there
	}
	return s, true
}

// Dir is the folder of a project's calls: below the working folder, or below the nearest one above it that has one, up to the root of a
// repository.
func Dir(wd string) string {
	for at := wd; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, Folder)); err == nil && info.IsDir() {
			return filepath.Join(at, Folder)
		}
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil || filepath.Dir(at) == at {
			return filepath.Join(wd, Folder)
		}
	}
}

// CheckName says what is wrong with the name of a call: it becomes a file's name.
func CheckName(name string) error {
	bad := name == "" || len(name) > 100 || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-")
	for _, r := range name {
		bad = bad || !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}
	if bad {
		return fmt.Errorf("%q cannot be the name of a call: a to z, digits, . _ and - are, and no . or - in front", name)
	}
	return nil
}

// Names are the calls of a folder, in order; none where there is no such folder.
func Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder of calls: %w", err)
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && CheckName(name) == nil && !e.IsDir() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Path is the file of a call in a folder.
func Path(dir, name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(dir, name+".yaml"), nil
}

// Read reads a file of calls. warnings are about keys that are not known, which stay in the file. The error of a file that is wrong says where.
func Read(path string) (f File, warnings []config.Warning, err error) {
	b, err := files.Read(path, maxFile)
	if err != nil {
		return f, nil, fmt.Errorf("cannot read the call: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return f, nil, fmt.Errorf("cannot read the call: %w", err)
	}
	return parse(path, b)
}

// Write writes a call to its file. Of a file that is there already comments, order and unknown keys stay, and of the keys that did not
// change every byte.
func Write(c Call) error {
	old, err := files.Read(c.File, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write the call: %w", err)
	}
	text, err := rewrite(c, old)
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("cannot write the call: its arguments are too large for a file (%d bytes; %d are the limit)", len(text), maxFile)
	}
	if err := os.MkdirAll(filepath.Dir(c.File), 0o755); err != nil {
		return fmt.Errorf("cannot write the call: %w", err)
	}
	if err := files.Write(c.File, text); err != nil {
		return fmt.Errorf("cannot write the call: %w", err)
	}
	return nil
}
