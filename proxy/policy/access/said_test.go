package access

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// listener hears what is logged.
type listener struct {
	slog.Handler
	hear func(message string)
}

func (l listener) Enabled(context.Context, slog.Level) bool { return true }

func (l listener) Handle(_ context.Context, r slog.Record) error {
	l.hear(r.Message)
	return nil
}

// Who reads in the log that tokens were loaded can use them.
func TestTokensAreInForceWhenTheLogSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"tokens":[{"name":"x","sha256":"`+strings.Repeat("0", 64)+`"}]}`), 0o600))
	var g *Guard
	heard := 0
	g = NewGuard(slog.New(listener{hear: func(message string) {
		if message != "tokens loaded" {
			return
		}
		heard++
		if tokens := g.state.Load().tokens; tokens == nil || tokens.Len() != 1 {
			t.Error("the log says that tokens were loaded which are not in force")
		}
	}}))
	if err := g.Follow(path); err != nil || heard != 1 {
		t.Error(heard, err)
	}
}
