// Package faketest gives tests the misbehaving servers of package behave: as a
// child process over stdio (fakemcp), and over HTTP inside the test.
package faketest

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// Stdio is a server of the given mode as a child process. It is built when the first test of a test binary asks for it.
func Stdio(t testing.TB, mode behave.Mode) config.Server {
	t.Helper()
	return config.Server{Name: string(mode), Transport: config.Stdio, Command: Binary(t), Args: []string{string(mode)}}
}

// HTTP is a server of the given mode and fault over Streamable HTTP on loopback, until the test ends.
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

// Bare is a real server of budget size, made with an SDK as server authors make them: tools/list answers 5,000 tools in
// 6.7 MB, tool "big" one text of 50 MB. What it needs to answer is the base of ratios: see [Raw].
func Bare(t testing.TB) config.Server {
	t.Helper()
	return config.Server{Name: "bare", Transport: config.Stdio, Command: Program(t, "testdata/bareserver")}
}

// Binary is the path of the program fakemcp.
func Binary(t testing.TB) string {
	t.Helper()
	return Program(t, "session/test/faketest/fakemcp")
}

// Program builds the command of a folder of the module, given with slashes from the module's root, and returns the path
// of the program. It lies in the module's folder bin, which git ignores.
func Program(t testing.TB, folder string) string {
	t.Helper()
	made, _ := built.LoadOrStore(folder, sync.OnceValues(func() (string, error) { return build(folder) }))
	file, err := made.(func() (string, error))()
	require.NoError(t, err)
	return file
}

// built remembers what this test binary has built: folder -> func() (path, error).
var built sync.Map

// build makes a program, unless the one that is there is it: Go does not link again what it finds where it would write. The file
// appears by rename, so that packages that are tested at once never see half of it.
func build(folder string) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("faketest: find the module: %w", err)
	}
	module := strings.TrimSpace(string(root))
	if err := os.MkdirAll(filepath.Join(module, "bin"), 0o755); err != nil {
		return "", fmt.Errorf("faketest: %w", err)
	}
	file := filepath.Join(module, "bin", path.Base(folder))
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	fresh := fmt.Sprintf("%s.%d", file, os.Getpid())
	if b, err := os.ReadFile(file); err == nil {
		_ = os.WriteFile(fresh, b, 0o755) // half of it, or none, is no program: Go makes it
	}
	cmd := exec.Command("go", "build", "-o", fresh, "./"+folder)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("faketest: build %s: %w\n%s", folder, err, out)
	}
	if err := os.Rename(fresh, file); err != nil {
		return "", fmt.Errorf("faketest: %w", err)
	}
	return file, nil
}

// quiet is a log that goes nowhere: a client that refuses a certificate is not news in a test that is about that.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
