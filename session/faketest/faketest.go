// Package faketest gives tests the misbehaving servers of package behave: as a
// child process over stdio, and over HTTP inside the test.
package faketest

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/faketest/behave"
)

// Stdio is a server of the given mode as a child process. It is built when the
// first test of a test binary asks for it.
func Stdio(t testing.TB, mode behave.Mode) config.Server {
	t.Helper()
	return config.Server{Name: string(mode), Transport: config.Stdio, Command: Binary(t), Args: []string{string(mode)}}
}

// HTTP is a server of the given mode and fault over Streamable HTTP on
// loopback, until the test ends.
func HTTP(t testing.TB, mode behave.Mode, fault behave.Fault) config.Server {
	t.Helper()
	srv := httptest.NewServer(behave.Handler(mode, fault))
	t.Cleanup(func() { stop(srv) })
	return config.Server{Name: string(mode) + "-http", Transport: config.HTTP, URL: srv.URL + "/mcp"}
}

// SSE is a server of the given mode and fault over HTTP+SSE.
func SSE(t testing.TB, mode behave.Mode, fault behave.Fault) config.Server {
	t.Helper()
	srv := httptest.NewServer(behave.Handler(mode, fault))
	t.Cleanup(func() { stop(srv) })
	return config.Server{Name: string(mode) + "-sse", Transport: config.SSE, URL: srv.URL + "/sse"}
}

// TLS is a good server behind a certificate that nobody trusts.
func TLS(t testing.TB) config.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(behave.Handler(behave.Good, behave.Fault{}))
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	t.Cleanup(func() { stop(srv) })
	return config.Server{Name: "tls", Transport: config.HTTP, URL: srv.URL + "/mcp"}
}

// stop ends a server with the streams that clients left open.
func stop(srv *httptest.Server) {
	srv.CloseClientConnections()
	srv.Close()
}

// Binary is the path of the program fakemcp.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build makes the program once per test binary, in the folder bin of the
// module, which git ignores. The file appears by rename, so that packages that
// are tested at once never see half of it.
var build = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("faketest: find the module: %w", err)
	}
	bin := filepath.Join(strings.TrimSpace(string(root)), "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", fmt.Errorf("faketest: %w", err)
	}
	name := "fakemcp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(bin, name)
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	out, err := exec.Command("go", "build", "-o", fresh, "github.com/mcphud/mcphud/session/faketest/fakemcp").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("faketest: build fakemcp: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("faketest: %w", err)
	}
	return path, nil
})

// quiet is a log that goes nowhere: a client that refuses a certificate is not
// news in a test that is about that.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
