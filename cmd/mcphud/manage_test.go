package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

var manageSocket = regexp.MustCompile(`"servers can be registered","socket":"([^"]+)"`)

// curl asks a router for a verb as a user does.
func curl(t *testing.T, socket, verb, body string) (answer string) {
	t.Helper()
	cmd := exec.Command("curl", "-sS", "--max-time", "60", "--unix-socket", socket, "http://router/"+verb, "-d", body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("curl %s: %v", verb, err)
	}
	if !json.Valid(out) {
		t.Fatalf("%s is answered with %q", verb, out)
	}
	return string(out)
}

// The flow of management by hand: curl, the command's own router, a server as a child process.
func TestG1_G2_E2E_ManagedWithCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("MCPHUD_PEERS") == "required" {
			t.Fatal(err)
		}
		t.Skip("there is no curl here")
	}
	dir, err := os.MkdirTemp("", "mng") // paths of sockets must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("MCPHUD_TAP_DIR", filepath.Join(dir, "mcphud"))
	r := launch(t, routerCommand(t, `{"routes":{}}`, nil, "--port", "0"), routerReady)
	m := manageSocket.FindStringSubmatch(r.log())
	if m == nil {
		t.Fatalf("the log does not name the socket: %s", r.log())
	}
	socket := m[1]
	if fi, err := os.Lstat(socket); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi, err)
	}
	config, err := json.Marshal(map[string]any{"name": "files", "command": faketest.Binary(t), "args": []string{string(behave.Good)}})
	require.NoError(t, err)
	assert.Contains(t, curl(t, socket, "RegisterMcpServer", string(config)), `"Disconnected"`)
	assert.Contains(t, curl(t, socket, "ConnectMcpServer", `{"name":"files"}`), `"status":"Connected"`)
	assert.Contains(t, curl(t, socket, "GetMcpTools", ""), `"name":"mcp__files__echo"`)
	for _, path := range []string{"/mcps/files/mcp", "/mcp"} {
		if out := mcphud(t, "tools", "list", "--url", r.url+path, "--format", "json").ok(t); !strings.Contains(out, "echo") {
			t.Errorf("%s: %s", path, out)
		}
	}
	assert.Contains(t, curl(t, socket, "ListMcpServers", ""), `"source":"registered"`)
	assert.Contains(t, curl(t, socket, "DisconnectMcpServer", `{"name":"files"}`), `"Disconnected"`)
	if got := r.via("files", addCall); got.status != http.StatusNotFound {
		t.Errorf("%+v", got)
	}
	assert.Contains(t, curl(t, socket, "ForgetMcpServer", "{}"), "the operations are RegisterMcpServer")

	// The socket of a router that was killed does not stand in the way of the next on its port.
	r.signal(syscall.SIGKILL)
	r.exit()
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("a killed router takes nothing away: %v", err)
	}
	port := r.url[strings.LastIndexByte(r.url, ':')+1:]
	next := launch(t, routerCommand(t, `{"routes":{}}`, nil, "--port", port), routerReady)
	if m := manageSocket.FindStringSubmatch(next.log()); m == nil || m[1] != socket {
		t.Errorf("%q in %s", m, next.log())
	}
	if got := curl(t, socket, "ListMcpServers", ""); strings.TrimSpace(got) != `{"servers":[]}` {
		t.Errorf("servers outlive the router: %s", got)
	}
	next.signal(syscall.SIGTERM)
	next.exit()
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}
