package routes

import (
	"fmt"
	"path/filepath"

	"github.com/mcphud/mcphud/session/base/files"
)

// maxFile is how many bytes a routing.json may have: 10,000 routes take a few MB.
const maxFile = 16 << 20

// Load reads a file, or a folder of files. A missing one is an fs.ErrNotExist. Of a folder that counts which is in order; what is
// not is among the warnings.
func Load(path string) (*Table, error) {
	if !folder(path) {
		return loadFile(path)
	}
	list, foreign, err := names(path)
	if err != nil {
		return nil, err
	}
	pieces := map[string]*piece{}
	for _, n := range list {
		p := &piece{order: "0" + n, path: filepath.Join(path, n)}
		p.read(foreign)
		pieces[n] = p
	}
	t := merge(pieces)
	for _, n := range list {
		if err := pieces[n].err; err != nil {
			t.Warnings = append(t.Warnings, Problem{File: n, Message: err.Error()})
		}
	}
	return t, nil
}

// loadFile reads a file with all that it needs.
func loadFile(path string) (*Table, error) {
	t, err := loadText(path, maxFile)
	if err != nil {
		return nil, err
	}
	for _, name := range t.Names() {
		r := t.Routes[name]
		if of, err := r.checkCertificates(); err != nil {
			key := "routes." + name + "." + of
			if of == "ca" {
				err = &caError{r.CA, err}
			}
			return nil, fmt.Errorf("%s: line %d: %s: %w", path, t.Lines[key], key, err)
		}
	}
	return t, nil
}

// loadText reads a file of at most so many bytes.
func loadText(path string, most int64) (*Table, error) {
	text, err := files.Read(path, most)
	if err != nil {
		return nil, err
	}
	t, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.resolve(filepath.Dir(abs))
	return t, nil
}

// caError is why a file that a route needs is of no use. The watcher looks at that file as well: once it is there the routes are read again.
type caError struct {
	file string
	error
}
