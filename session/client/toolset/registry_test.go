package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/test/require"
)

func tool(server, name string) toolset.RegisteredTool {
	t := toolset.RegisteredTool{Name: toolset.FullName(server, name), Source: toolset.MCP, Server: server, Tool: name}
	if server == "" {
		t.Name, t.Source = name, toolset.Local
	}
	t.Run = func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{}`), nil }
	return t
}

func names(ts []toolset.RegisteredTool) []string {
	out := []string{}
	for _, t := range ts {
		out = append(out, t.Name)
	}
	return out
}

func TestS12_SourcesAndServers(t *testing.T) {
	r := toolset.NewRegistry()
	changes := 0
	r.OnChange(func() { changes++ })
	for _, v := range []toolset.RegisteredTool{tool("", "echo"), tool("git", "log"), tool("git__hub", "issue"), tool("git", "hub__x")} {
		require.NoError(t, r.Register(v))
	}
	if got := names(r.ListBySource(toolset.Local)); !slices.Equal(got, []string{"echo"}) {
		t.Errorf("Local = %v", got)
	}
	if got := names(r.ListBySource(toolset.MCP)); !slices.Equal(got, []string{"mcp__git__log", "mcp__git__hub__issue", "mcp__git__hub__x"}) {
		t.Errorf("MCP = %v", got)
	}
	if err := r.Register(tool("git", "log")); err == nil {
		t.Error("a name was registered twice")
	}
	if n := r.UnregisterServer("git"); n != 2 {
		t.Errorf("UnregisterServer removed %d, want 2", n)
	}
	if got := names(r.List()); !slices.Equal(got, []string{"echo", "mcp__git__hub__issue"}) {
		t.Errorf("left: %v", got)
	}
	if n := r.UnregisterServer("nothing"); n != 0 || changes != 5 {
		t.Errorf("removed %d, %d changes; want 0 and 5", n, changes)
	}
}

// A server whose name begins another's is removed alone, and its replacement
// keeps off names that others have.
func TestRegistryKeepsServersApart(t *testing.T) {
	r := toolset.NewRegistry()
	r.Replace("git__hub", []toolset.RegisteredTool{tool("git__hub", "x")})
	if clashes := r.Replace("git", []toolset.RegisteredTool{tool("git", "hub__x"), tool("git", "log")}); !slices.Equal(clashes, []string{"mcp__git__hub__x"}) {
		t.Errorf("clashes = %v", clashes)
	}
	if v, _ := r.Get("mcp__git__hub__x"); v.Server != "git__hub" {
		t.Errorf("the name went to %q", v.Server)
	}
	if n := r.UnregisterServer("git"); n != 1 || len(r.List()) != 1 {
		t.Errorf("removed %d, left %v", n, names(r.List()))
	}
}

// Replace happens in one step for those who list at the same time.
func TestReplaceIsAtomic(t *testing.T) {
	r := toolset.NewRegistry()
	two := []toolset.RegisteredTool{tool("a", "x"), tool("a", "y")}
	r.Replace("a", two)
	var wg sync.WaitGroup
	errs := make(chan error, 1)
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if n := len(r.ListByServer("a")); n != 2 {
					select {
					case errs <- fmt.Errorf("saw %d tools", n):
					default:
					}
				}
			}
		})
	}
	for range 2000 {
		r.Replace("a", two)
	}
	close(stop)
	wg.Wait()
	select {
	case err := <-errs:
		t.Error(err)
	default:
	}
}
