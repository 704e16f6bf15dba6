// Package nettest has ports for tests that name one before somebody listens at it, and certificates.
package nettest

import (
	"math/rand/v2"
	"testing"
)

// FreePort returns a port of 127.0.0.1 at which nobody listens, and nobody but who names it will until the test is over: it is
// below those that systems hand out by themselves, and where the system can, it is kept as well. Who listens there may end
// and come back.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		if release, free := keep(port); free {
			t.Cleanup(release)
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
