package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcphud/mcphud/session/offer"
)

// ToolSource says where a registered tool runs.
type ToolSource string

// The sources: a function of this process, or a server's tool.
const (
	Local ToolSource = "Local"
	MCP   ToolSource = "MCP"
)

// RegisteredTool is a tool of the Registry.
type RegisteredTool struct {
	Name   string // unique in the registry; FullName of a server's tool
	Source ToolSource
	Server string     // "" if Local
	Tool   string     // the name that the server knows it by
	Item   offer.Item // the definition as it was received
	// Run calls it. The result has the shape of a tools/call result.
	Run func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// Registry holds tools of all servers, and local ones, under names that are
// unique across them. It is safe for concurrent use.
type Registry struct {
	mu      sync.RWMutex              // guards all of it; nothing is called while it is held
	rev     uint64                    // see Rev
	tools   map[string]RegisteredTool // by name
	order   []string                  // names in order of registration, those of tools and no others
	changed []func()                  // by OnChange; only grows
}

// NewRegistry is an empty registry.
func NewRegistry() *Registry { return &Registry{tools: map[string]RegisteredTool{}} }

// Rev grows with every change.
func (r *Registry) Rev() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.rev
}

// OnChange calls f after every change, without locks held.
func (r *Registry) OnChange(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = append(r.changed, f)
}

// notify calls what OnChange was given; the lock is not held.
func (r *Registry) notify() {
	r.mu.RLock()
	fs := slices.Clone(r.changed)
	r.mu.RUnlock()
	for _, f := range fs {
		f()
	}
}

// Register adds t. A name that is taken is an error.
func (r *Registry) Register(t RegisteredTool) error {
	if t.Name == "" || t.Run == nil {
		return errors.New("a tool needs a name and a function to run")
	}
	r.mu.Lock()
	if have, taken := r.tools[t.Name]; taken {
		r.mu.Unlock()
		return fmt.Errorf("tool %q is registered already, by %s; unregister that one first", t.Name, origin(have))
	}
	r.put(t)
	r.mu.Unlock()
	r.notify()
	return nil
}

// origin says for people where a tool is from.
func origin(t RegisteredTool) string {
	if t.Source == Local {
		return "this program"
	}
	return fmt.Sprintf("server %q", t.Server)
}

// put adds a tool whose name is free; mu is held.
func (r *Registry) put(t RegisteredTool) {
	r.rev++
	r.tools[t.Name] = t
	r.order = append(r.order, t.Name)
}

// Replace swaps all tools of a server for these in one step, so that nobody ever sees it with none. Tools whose name
// another server or a local tool has are left out and returned as clashes.
func (r *Registry) Replace(server string, tools []RegisteredTool) (clashes []string) {
	clashes = r.replace(server, tools)
	r.notify()
	return clashes
}

func (r *Registry) replace(server string, tools []RegisteredTool) (clashes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(func(t RegisteredTool) bool { return t.Source == MCP && t.Server == server })
	for _, t := range tools {
		if _, taken := r.tools[t.Name]; taken {
			clashes = append(clashes, t.Name)
			continue
		}
		r.put(t)
	}
	return clashes
}

// UnregisterServer removes the tools of that server and returns how many those were. It goes by the server and not by the beginning of
// names, since one server's may begin another's (git, git__hub).
func (r *Registry) UnregisterServer(server string) int {
	return r.removeAnd(func(t RegisteredTool) bool { return t.Source == MCP && t.Server == server })
}

func (r *Registry) removeAnd(which func(RegisteredTool) bool) int {
	r.mu.Lock()
	n := r.remove(which)
	r.mu.Unlock()
	if n > 0 {
		r.notify()
	}
	return n
}

// remove takes tools away and counts them; mu is held.
func (r *Registry) remove(which func(RegisteredTool) bool) int {
	before := len(r.order)
	r.order = slices.DeleteFunc(r.order, func(name string) bool {
		if !which(r.tools[name]) {
			return false
		}
		delete(r.tools, name)
		return true
	})
	n := before - len(r.order)
	r.rev += uint64(n)
	return n
}

// Get finds a tool by its registered name.
func (r *Registry) Get(name string) (RegisteredTool, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	return t, ok
}

// List is every tool in order of registration.
func (r *Registry) List() []RegisteredTool {
	return r.filter(func(RegisteredTool) bool { return true })
}

// ListBySource is the tools of one source, in order of registration.
func (r *Registry) ListBySource(s ToolSource) []RegisteredTool {
	return r.filter(func(t RegisteredTool) bool { return t.Source == s })
}

// ListByServer is the tools of one server, in the server's order.
func (r *Registry) ListByServer(server string) []RegisteredTool {
	return r.filter(func(t RegisteredTool) bool { return t.Source == MCP && t.Server == server })
}

func (r *Registry) filter(which func(RegisteredTool) bool) []RegisteredTool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []RegisteredTool
	for _, name := range r.order {
		if t := r.tools[name]; which(t) {
			out = append(out, t)
		}
	}
	return out
}
