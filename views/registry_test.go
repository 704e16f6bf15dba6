package views_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/registrytest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
)

// keychain keeps secrets in memory.
type keychain struct {
	mu   sync.Mutex
	kept map[string]map[string]string
}

func (k *keychain) recall(_ context.Context, server string) (map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[server], nil
}

func (k *keychain) keep(_ context.Context, server string, _ []setup.Input, values map[string]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = map[string]map[string]string{server: values}
	return nil
}

// registryUI is the screen on a registry, with a cache below dir.
func registryUI(t *testing.T, r *registrytest.Registry, dir string, keys *keychain, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	from := &servers.Published{
		Open: func() (*registry.Client, *registry.Cache, error) {
			c, err := registry.Open(config.Server{URL: r.URL}, nil)
			return c, registry.OpenCache(dir, r.URL), err
		},
		Look:   func(c string) bool { return c == "npx" },
		Recall: keys.recall, Keep: keys.keep,
	}
	trust := config.OpenTrust(t.TempDir())
	deps := views.Deps{Published: from, Trust: trust, Configs: &servers.Configs{Where: config.Options{Home: t.TempDir()}}}
	return tuitest.Start(t, append([]tuitest.Option{tuitest.Beside(), tuitest.Deadline(time.Minute), tuitest.Views(views.All(deps)...), tuitest.Size(80, 24), tuitest.NoConnect(), tuitest.SessionOptions(func(o *session.Options) { o.Trust = trust }), tuitest.At("registry", nil)}, opts...)...)
}

func putPublished(t *testing.T, r *registrytest.Registry, file string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "session", "catalog", "registry", "testdata", file))
	require.NoError(t, err)
	r.Put(t, string(b))
}

// From a few letters to an open server: search, details, form, trust question, tools.
func TestRegistryToAnOpenServer(t *testing.T) {
	t.Parallel()
	r := registrytest.Start(t)
	putPublished(t, r, "airtable.json")
	putPublished(t, r, "brave.json")
	r.Status("io.github.brave/brave-search-mcp-server", "deprecated", "moved")
	url := faketest.HTTP(t, behave.Good, behave.Fault{}).URL
	r.Put(t, `{"name":"com.example/fake","description":"answers here\u001b]0;owned\u0007","version":"1.0.0","repository":{"url":"https://git.example.com/fake","source":"x"},"remotes":[{"type":"streamable-http","url":"`+url+`","headers":[{"name":"X-Api-Key","isRequired":true,"isSecret":true}]}]}`)
	keys := &keychain{}
	app := registryUI(t, r, t.TempDir(), keys, tuitest.Size(120, 40))
	shows(app, "list", "com.example/fake", "! depr")
	app.Type("fake")
	shows(app, "detail", "answers here", "https://git.example.com/fake", "X-Api-Key (required) (secret)", "is a program of this machine")
	app.Pane("list").Has("1 of 3")
	app.Press("enter", "enter").View("setup")
	app.Type("hunter2").Press("ctrl+g")
	app.Confirm("Keep secrets in the keychain?").Yes()
	app.Eventually(func() string {
		if got, _ := keys.recall(t.Context(), "registry:"+r.URL+"#com.example/fake"); got["X-Api-Key"] != "hunter2" {
			return "the secret is not kept"
		}
		return ""
	})
	app.View("addserver").Whole().Has("From the registry", url).HasNot("hunter2")
	app.Press("enter")
	app.Confirm("Start a server that somebody published?").Says("com.example", "https://git.example.com/fake", url).Yes()
	shows(app, "list", "echo")
	assert.NotContains(t, app.Title(), "owned")
}

// The list is there without the registry, which is said, and asked again on request.
func TestRegistryOffline(t *testing.T) {
	t.Parallel()
	r := registrytest.Start(t)
	putPublished(t, r, "airtable.json")
	dir := t.TempDir()
	app := registryUI(t, r, dir, &keychain{})
	shows(app, "list", "airtable-mcp-server")
	app.Press("esc", "q")
	var mu sync.Mutex
	down := true
	r.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if down {
			http.Error(w, "down", http.StatusServiceUnavailable)
		}
		return down
	})
	empty := registryUI(t, r, t.TempDir(), &keychain{})
	shows(empty, "list", "503", "Press r to try again")
	empty.Press("esc")
	mu.Lock()
	down = false
	mu.Unlock()
	empty.Press("r")
	shows(empty, "list", "airtable-mcp-server")
	mu.Lock()
	down = true
	mu.Unlock()
	again := registryUI(t, r, dir, &keychain{})
	shows(again, "list", "airtable-mcp-server")
	again.Press("esc", "r").Toast("503")
	shows(again, "list", "not refreshed")
	shows(again, "detail", "AIRTABLE_API_KEY")
}

// What cannot be reached here says why, and what is missing how to get it.
func TestRegistryRefusals(t *testing.T) {
	t.Parallel()
	r := registrytest.Start(t)
	r.Put(t, `{"name":"com.example/cargo","description":"x","version":"1","packages":[{"registryType":"cargo","identifier":"x","version":"1"}]}`)
	r.Put(t, `{"name":"com.example/py","description":"x","version":"1","packages":[{"registryType":"pypi","identifier":"x","version":"1"}]}`)
	app := registryUI(t, r, t.TempDir(), &keychain{}, tuitest.Size(120, 40))
	shows(app, "list", "com.example/cargo")
	app.Type("cargo")
	shows(app, "detail", "no program is known")
	app.Press("enter", "enter").Toast("no program is known")
	app.Press("esc", "/").Type("example/py")
	shows(app, "detail", "uvx is not on this machine", "docs.astral.sh")
}

func TestRegistryWithoutOne(t *testing.T) {
	t.Parallel()
	from := &servers.Published{Open: func() (*registry.Client, *registry.Cache, error) {
		return nil, nil, errors.New("config.yaml:3: registry.url is not a URL")
	}}
	app := tuitest.Start(t, tuitest.Beside(), tuitest.Deadline(time.Minute), tuitest.Views(views.All(views.Deps{Published: from})...), tuitest.Size(80, 24), tuitest.NoConnect(), tuitest.At("registry", nil))
	shows(app, "list", "config.yaml:3", "Press r")
}
