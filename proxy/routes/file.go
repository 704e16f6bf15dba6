package routes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxFile is how large a routing.json may be.
const maxFile = 16 << 20

// Load reads a file. A missing one is an fs.ErrNotExist.
func Load(path string) (*Table, error) {
	text, err := read(path)
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
	for _, name := range t.Names() {
		r := t.Routes[name]
		if err := r.vouched(); err != nil {
			key := "routes." + name + ".ca"
			return nil, fmt.Errorf("%s: line %d: %s: %w", path, t.Lines[key], key, &caError{r.CA, err})
		}
	}
	return t, nil
}

// caError is why a file that a route needs is of no use.
type caError struct {
	file string
	error
}

// read reads a regular file, through symbolic links, of a bearable size. A pipe would never end, so that what a file is gets
// asked before it is opened.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file; write the routes to one", path)
	}
	large := fmt.Errorf("%s is larger than %d MiB, which no list of routes is", path, maxFile>>20)
	if info.Size() > maxFile {
		return nil, large
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > maxFile {
		return nil, large
	}
	return text, nil
}

// stamp tells whether a file changed without reading it.
type stamp struct {
	mod  time.Time
	size int64
	file string // what the path leads to
	miss bool
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{miss: errors.Is(err, fs.ErrNotExist)}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return stamp{mod: info.ModTime(), size: info.Size(), file: real}
}
