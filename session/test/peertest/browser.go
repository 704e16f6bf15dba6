package peertest

import (
	"os"
	"os/exec"
	"testing"
)

// Node is the machine's own Node.
func Node(t testing.TB) string {
	t.Helper()
	return program(t, "install Node 20 or newer", "node")
}

// Chromium is a browser that can be driven without a screen. testdata/chromium/install installs it on Debian and Ubuntu.
func Chromium(t testing.TB) string {
	t.Helper()
	if os.Getenv(RequireEnv) != "required" { // nobody installed it for this, and the tests of a page are the slowest of all
		t.Skip("a browser is started where " + RequireEnv + "=required says so")
	}
	return program(t, "run testdata/chromium/install", "chromium", "chromium-browser", "google-chrome")
}

// program is the path of the first of some programs that there is, or ends the test as installed does.
func program(t testing.TB, next string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(RequireEnv) == "required" {
		t.Fatalf("%s is not installed; %s", names[0], next)
	}
	t.Skipf("%s is not installed; %s", names[0], next)
	return ""
}
