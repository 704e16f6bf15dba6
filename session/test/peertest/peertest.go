// Package peertest gives tests what others wrote: the reference servers that testdata/peers pins (those on npm and the
// examples of two Go SDKs), and the official conformance suite and clients that testdata/conformance pins.
//
// What is not installed skips the test, with the command that installs it, so that `go test ./...` passes on a fresh
// machine. With MCPHUD_PEERS=required it fails the test instead.
package peertest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// RequireEnv names the environment variable that makes a missing server fail the test when it is set to "required".
const RequireEnv = "MCPHUD_PEERS"

// Everything is server-everything over stdio: every feature of revision
// 2025-11-25. It does not exit when its stdin closes.
func Everything(t testing.TB) config.Server {
	return stdio(t, "everything", npm(t, "mcp-server-everything"), "stdio")
}

// Filesystem is server-filesystem over stdio, allowed to touch dir only.
func Filesystem(t testing.TB, dir string) config.Server {
	return stdio(t, "filesystem", npm(t, "mcp-server-filesystem"), dir)
}

// Memory is server-memory over stdio, with its graph in a file of its own.
func Memory(t testing.TB) config.Server {
	s := stdio(t, "memory", npm(t, "mcp-server-memory"))
	s.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}
	return s
}

// SequentialThinking is server-sequential-thinking over stdio: one tool.
func SequentialThinking(t testing.TB) config.Server {
	s := stdio(t, "sequential-thinking", npm(t, "mcp-server-sequential-thinking"))
	s.Env = map[string]string{"DISABLE_THOUGHT_LOGGING": "true"}
	return s
}

// GoSDKEverything is go-sdk's example of the same name over stdio; it speaks
// the modern revision 2026-07-28 and the legacy ones.
func GoSDKEverything(t testing.TB) config.Server {
	return stdio(t, "go-sdk-everything", gobin(t, "go-sdk-everything"))
}

// GoSDKMemory is go-sdk's memory example over stdio.
func GoSDKMemory(t testing.TB) config.Server {
	return stdio(t, "go-sdk-memory", gobin(t, "go-sdk-memory"))
}

// Patient is a small server of go-sdk over stdio whose tool wait ends only when
// it is cancelled, and whose tool count says "N waiting, N cancelled"; its tool ask
// is that of Questions.
func Patient(t testing.TB) config.Server {
	return stdio(t, "patient", gobin(t, "go-sdk-patient"))
}

// MCPGoEverything is mcp-go's everything example over stdio; both eras.
func MCPGoEverything(t testing.TB) config.Server {
	return stdio(t, "mcp-go-everything", gobin(t, "mcp-go-everything"))
}

// Questions is a small server of the TypeScript SDK over stdio; both eras. Its tool ask asks for a message, the roots and a name.
func Questions(t testing.TB) config.Server {
	installed(t, "peers", filepath.Join("node_modules", "@modelcontextprotocol", "server"))
	return stdio(t, "questions", Node(t), installed(t, "peers", "questions.mjs"))
}

// Inspector is the command line of the official Inspector, to which its own arguments are added.
func Inspector(t testing.TB) []string {
	t.Helper()
	const launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	return []string{Node(t), installed(t, "peers", filepath.FromSlash(launcher)), "--cli"}
}

// GoSDKExplore is a client of go-sdk, a program that prints what it sees of a server.
func GoSDKExplore(t testing.TB) string { return gobin(t, "go-sdk-explore") }

// All is every pinned server over stdio.
func All(t testing.TB) []config.Server {
	return []config.Server{
		Everything(t),
		Filesystem(t, t.TempDir()),
		Memory(t),
		SequentialThinking(t),
		GoSDKEverything(t),
		GoSDKMemory(t),
		MCPGoEverything(t),
	}
}

// stdio describes a server that is a child process.
func stdio(t testing.TB, name, command string, args ...string) config.Server {
	t.Helper()
	return config.Server{Name: name, Transport: config.Stdio, Command: command, Args: args}
}

// npm returns the path of a command that testdata/peers/package.json brings.
func npm(t testing.TB, command string) string {
	t.Helper()
	return installed(t, "peers", filepath.Join("node_modules", ".bin", command))
}

// gobin returns the path of a server built by testdata/peers/install.
func gobin(t testing.TB, name string) string {
	t.Helper()
	return installed(t, "peers", filepath.Join("bin", name))
}

// installed returns the path of a file below a folder of testdata, or ends the
// test: skipped, or failed where what others wrote is required.
func installed(t testing.TB, folder, file string) string {
	t.Helper()
	root, err := moduleRoot()
	require.NoError(t, err)
	path := filepath.Join(root, "testdata", folder, file)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv(RequireEnv) == "required" {
			t.Fatalf("not installed: %v; run testdata/%s/install", err, folder)
		}
		t.Skipf("%s is not installed; testdata/%s/install installs it", filepath.Base(file), folder)
	}
	return path
}

// moduleRoot is the folder of go.mod, found upwards from the folder that the test runs in.
var moduleRoot = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("peertest: no go.mod above the test's folder")
		}
		dir = up
	}
})
