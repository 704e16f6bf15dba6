//go:build amd64 || arm64

package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// marker is the first argument of this program where it is to become a child. Two more follow, orders and the child's path, then
// the child's own arguments from argument 0 on.
const marker = "__mcphud-confined"

// orders are what the process gives up before it becomes the child.
type orders struct {
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	Devices []string `json:"devices"` // files that may be written and never made
	Network bool     `json:"network"`
}

// Prepare returns the program to start in the place of p, which becomes p once it has given up what r does not allow. The caller
// calls done once the child has ended, which removes its temporary folder.
func Prepare(r Rules, p Program) (in Program, done func(), err error) {
	if err := Supported(); err != nil {
		return in, nil, err
	}
	home, _ := os.UserHomeDir() // none, then nothing is kept away from being a runtime
	folder := p.Dir
	if folder == "" {
		if folder, err = os.Getwd(); err != nil {
			return in, nil, err
		}
	}
	allowed := r.Clone()
	allowed.Resolve(folder, home)
	o := orders{Read: existingPaths(system), Devices: existingPaths(devices), Network: r.Network}
	o.Read = append(o.Read, needs(p, folder, home)...)
	for _, l := range []struct {
		list  string
		paths []string
		to    *[]string
	}{{Read, allowed.Read, &o.Read}, {Write, allowed.Write, &o.Write}} {
		for _, path := range l.paths {
			if _, err := os.Stat(path); err != nil {
				return in, nil, &PathError{l.list, path, reason(err)}
			}
			*l.to = append(*l.to, path)
		}
	}
	own, err := os.MkdirTemp("", "mcphud-sandbox-")
	if err != nil {
		return in, nil, fmt.Errorf("its sandbox has no temporary folder: %w", reason(err))
	}
	o.Write = append(o.Write, own)
	text, err := json.Marshal(o)
	if err != nil { // strings: cannot happen
		return in, nil, err
	}
	in = Program{Path: "/proc/self/exe", Name: p.Name, Env: private(p.Env, own), Dir: p.Dir}
	in.Args = append([]string{marker, string(text), p.Path, p.Name}, p.Args...)
	return in, func() { _ = os.RemoveAll(own) }, nil // what is left of it is in the system's temporary folder
}

// private is env with the child's own folder as home and for temporary files, unless somebody gave it others than this process has.
func private(env []string, own string) []string {
	last := map[string]string{} // the last of a name counts
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		last[k] = v
	}
	out := slices.Clone(env)
	for _, name := range []string{"HOME", "TMPDIR", "TMP", "TEMP"} {
		if last[name] == os.Getenv(name) {
			out = append(out, name+"="+own)
		}
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		if v, given := last[name]; given && v == os.Getenv(name) {
			out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) // which are below the home folder then
		}
	}
	return out
}

// existingPaths are the paths that are there.
func existingPaths(paths []string) (there []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			there = append(there, filepath.Clean(p))
		}
	}
	return there
}

// reason is err without its operation and path.
func reason(err error) error {
	switch e := err.(type) {
	case *os.PathError:
		return e.Err
	case syscall.Errno:
		return e
	}
	return err
}
