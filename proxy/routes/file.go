package routes

import (
	"fmt"
	"path/filepath"

	"github.com/mcphud/mcphud/session/atomicfile"
)

// maxFile is how large a routing.json may be.
const maxFile = 16 << 20

// Load reads a file. A missing one is an fs.ErrNotExist.
func Load(path string) (*Table, error) {
	text, err := atomicfile.Read(path, maxFile)
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
