package proxy

import (
	"net/http"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestAClosedRouterDoesNotStart(t *testing.T) {
	r, err := New(Options{Routes: t.TempDir() + "/routing.json"})
	require.NoError(t, err)
	require.NoError(t, r.Close(t.Context()))
	if err := r.Start(t.Context()); err == nil {
		res, err := http.Get(r.URL() + "/health")
		if err == nil {
			_ = res.Body.Close()
		}
		t.Errorf("a closed router started, and nobody will stop it: GET /health: %v", err)
		_ = r.web.Close()
		r.serves.Wait()
	}
	if r.URL() != "" {
		t.Errorf("a closed router has the address %s", r.URL())
	}
}

func TestARouterStartsOnce(t *testing.T) {
	t.Parallel()
	f := start(t, Options{})
	at := f.URL()
	if err := f.Start(t.Context()); err == nil {
		t.Error("it started twice")
	}
	if f.URL() != at {
		t.Errorf("it moved from %s to %s", at, f.URL())
	}
	if got := f.send(t, "GET", "/health", ""); got.status != 200 {
		t.Errorf("%+v", got)
	}
}
