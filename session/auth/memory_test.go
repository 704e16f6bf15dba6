package auth_test

import (
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/require"
)

// Whoever looks while credentials are replaced finds the old ones or the new ones: to find none means that somebody has logged out.
func TestMemoryIsNeverWithoutWhatItReplaces(t *testing.T) {
	s, c := auth.NewMemory(), auth.Credentials{Key: auth.Key{Resource: "https://srv.test", Issuer: "https://as.test"}}
	require.NoError(t, s.Put(t.Context(), c))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100_000 {
			_ = s.Put(t.Context(), c) // cannot fail
		}
	}()
	for looks := 0; ; looks++ {
		found, err := s.Find(t.Context(), c.Resource)
		if err != nil || len(found) != 1 {
			t.Errorf("look %d found %d logins: %v", looks, len(found), err)
			break
		}
		select {
		case <-done:
			return
		default:
		}
	}
	<-done
}
