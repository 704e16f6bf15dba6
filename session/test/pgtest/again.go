package pgtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// The ways in which Again runs tests.
const (
	Owner = "owner" // on a database that they may do with as they like
	Guest = "guest" // with rights on one schema alone, so that there are no extensions
)

const modeEnv = "MCPHUD_TEST_STORE"

// Again runs all other tests of the program once more, with PostgreSQL where they use Path. Those that have nothing to do with it are
// run as well.
func Again(t *testing.T, mode string) {
	t.Helper()
	if os.Getenv(modeEnv) != "" {
		t.Skip("this is the other run")
	}
	need(t)
	args := []string{"-test.run=^Test", "-test.skip=^TestB(ackend|udget)", "-test.count=1", "-test.failfast"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	again := exec.Command(os.Args[0], args...)
	again.Env = append(os.Environ(), modeEnv+"="+mode)
	out, err := again.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Path is what a test that Again runs gives to store.Open instead of a path: for the same one the same database, for "" one of its own.
// Otherwise it is the path.
func Path(t testing.TB, path string) string {
	t.Helper()
	mode := os.Getenv(modeEnv)
	if mode == "" {
		return path
	}
	paths.mu.Lock()
	defer paths.mu.Unlock()
	if url, ok := paths.urls[path]; ok {
		return url
	}
	url := schema(t, mode)
	if path != "" {
		paths.urls[path] = url
	}
	return url
}

var paths = struct {
	mu      sync.Mutex
	urls    map[string]string
	schemas int
}{urls: map[string]string{}}

// schema is the URL of a new schema in a database that all of them share, which is quicker than a database for each.
func schema(t testing.TB, mode string) string {
	t.Helper()
	need(t)
	s, err := shared()
	require.NoError(t, err)
	if paths.schemas++; paths.schemas == 1 {
		s.Exec(t, `CREATE DATABASE again`, `CREATE ROLE guest LOGIN`)
	}
	url, name := s.URL("again"), fmt.Sprintf("schema%d", paths.schemas)
	if mode == Guest {
		Exec(t, url, `CREATE SCHEMA `+name+` AUTHORIZATION guest`)
		url = As(url, "guest")
	}
	return url + "&search_path=" + name
}

// SQLite skips a test that is about SQLite when it is run Again.
func SQLite(t testing.TB) {
	t.Helper()
	if os.Getenv(modeEnv) != "" {
		t.Skip("about SQLite")
	}
}
