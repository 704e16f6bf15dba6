package agentsrv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/store"
)

// maxSpare is how many files there are for agents that start with the same one, at most.
const maxSpare = 100

// claimed is the file that this agent has made its own. Two agents on one file would each declare the tasks of the other ended.
type claimed struct {
	mu      sync.Mutex
	release func() error // nil for none
}

// close gives the file back, once; nothing where none was claimed.
func (c *claimed) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.release == nil {
		return nil
	}
	release := c.release
	c.release = nil
	return release()
}

// openStore opens the database that Options.Store names. A file is claimed before it is opened, so that two agents never
// have one; with Options.StoreLater that is when there is something to keep.
func (a *Agent) openStore() (*store.DB, error) {
	if a.o.Store == "" || store.Remote(a.o.Store) {
		return store.Open(a.o.Store)
	}
	c := &claimed{}
	a.closes = append(a.closes, c.close) // after everything that uses the database
	claim := func() (path string, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		path = a.o.Store
		who := fmt.Sprintf("the agent %s with process id %d", a.o.Name, os.Getpid())
		for n := 2; ; n++ {
			c.release, err = store.Claim(path, who)
			var taken *store.Taken
			if !a.o.StoreLater || n > maxSpare || !errors.As(err, &taken) {
				return path, err
			}
			ext := filepath.Ext(a.o.Store)
			path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(a.o.Store, ext), n, ext)
		}
	}
	if _, err := os.Stat(a.o.Store); a.o.StoreLater && errors.Is(err, fs.ErrNotExist) {
		return store.OpenLater(a.o.Store, claim)
	}
	path, err := claim()
	if err != nil {
		return nil, err
	}
	a.o.Store = path
	return store.Open(path)
}
