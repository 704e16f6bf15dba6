package routes

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Keys are routes that do not come from files: a text for each key, such as those of a key-value bucket. Package cluster has the one of NATS. Who may
// write to a bucket is not who may write to the router's files, so that a key says less: see Table.foreign. The methods are called by the
// watcher's goroutine and must not block.
type Keys interface {
	// Snapshot is what there is now. Its error says why it may be out of date; then the texts are the last that were known.
	Snapshot() (map[string][]byte, error)
	// Changed receives after each change; several may make one. It is asked for once.
	Changed() <-chan struct{}
	// String is where they are, without secrets.
	String() string
}

// MaxBucket is how many bytes a bucket of routes that is made has room for.
const MaxBucket = 64 << 20

// Format is the version of what the value of a key has: an object with "v", "name" and what a route has. Readers refuse what is newer.
const Format = 1

// parseKey reads the value of a key.
func parseKey(key string, text []byte) (*Table, error) {
	if len(text) > maxForeign {
		return nil, fmt.Errorf("is %d bytes long; the maximum is %d", len(text), maxForeign)
	}
	version, err := strconv.Atoi(string(jsonrpc.Get(bytes.TrimSpace(text), "v")))
	switch {
	case err == nil && version > Format:
		return nil, fmt.Errorf("has version %d, and this router knows %d: update the router", version, Format)
	case err == nil && version != Format:
		return nil, fmt.Errorf(`has an unknown version in "v"; it must be %d`, Format)
	}
	root, err := document(text, `"v", "name" and what a route has`)
	if err != nil {
		return nil, err
	}
	root.what = "route"
	named := ""
	root.each(func(key string, v value) {
		if key == "name" {
			named = v.text()
		}
	})
	t := &Table{Routes: map[string]*Route{}}
	switch {
	case root.d.err != nil:
	case version != Format:
		root.fail(`has no version; give it as "v": %d`, Format)
	case !belongs(key, named):
		root.fail("has the name %q, which is not that of its key", clip(named))
	default:
		t.add(named, root, "v", "name", "lease_ms")
	}
	if root.d.err != nil {
		return nil, root.d.err
	}
	for _, w := range root.d.warnings {
		w.File, w.Line, w.Col = key, 0, 0
		t.Warnings = append(t.Warnings, w)
	}
	return t, t.foreign()
}

// RouteKey is the key of a route that somebody put there.
func RouteKey(name string) string { return "route." + token(name) }

// AgentKey is the key by which one process of an agent registers itself; id tells it from the others.
func AgentKey(name, id string) string { return "agent." + token(name) + "." + id }

// AgentOf is what an AgentKey was made of.
func AgentOf(key string) (name, id string, ok bool) {
	rest, ok := strings.CutPrefix(key, "agent.")
	name, id, more := strings.Cut(rest, ".")
	return strings.ReplaceAll(name, "=", "."), id, ok && more && id != "" && !strings.Contains(id, ".")
}

// token is a name without dots, so that rights can be given for all keys of one agent.
func token(name string) string { return strings.ReplaceAll(name, ".", "=") }

// belongs reports whether whoever may write to the key may have a route of that name.
func belongs(key, name string) bool {
	agent, _, ok := AgentOf(key)
	return key == RouteKey(name) || ok && agent == name
}
