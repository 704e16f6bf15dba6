package credstore

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
)

// Secrets of inputs come back by scope, are encrypted, and are not listed among the logins.
func TestInputs(t *testing.T) {
	keyring.MockInit()
	dir := t.TempDir()
	in := []setup.Input{{Name: "TOKEN", Secret: true}, {Name: "HOST"}, {Name: "PIN", Secret: true}}
	kept := Inputs{withKeychain(t, Keychain, dir)}
	require.NoError(t, kept.Keep(t.Context(), "io.example/a", in, map[string]string{"TOKEN": "hunter2", "HOST": "h"}))
	own := []setup.Input{{Name: "WORDS", Secret: true, Default: "--call=x"}}
	require.NoError(t, kept.Keep(t.Context(), "io.example/a", own, map[string]string{"WORDS": "--call=x"}))
	again := Inputs{withKeychain(t, Keychain, dir)} // which has no words of a publisher: they would come back as somebody's secret
	if got, err := again.Recall(t.Context(), "io.example/a"); err != nil || !maps.Equal(got, map[string]string{"TOKEN": "hunter2"}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := again.Recall(t.Context(), "io.example/b"); err != nil || len(got) > 0 {
		t.Errorf("another server has %v, %v", got, err)
	}
	for _, s := range []auth.Store{again.Store, auth.NewMemory()} {
		_ = s.Put(t.Context(), auth.Credentials{Key: auth.Key{Resource: "https://h/mcp", Issuer: "https://i"}})
		_ = Inputs{s}.Keep(t.Context(), "io.example/a", in, map[string]string{"PIN": "1"})
		if logins, err := s.Find(t.Context(), ""); err != nil || len(logins) != 1 || logins[0].Issuer != "https://i" {
			t.Errorf("the logins are %v, %v", logins, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || strings.Contains(string(b), "hunter2") {
		t.Errorf("the file holds %s, %v", b, err)
	}
}
