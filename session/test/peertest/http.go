package peertest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/wire/process"
)

const (
	// startLimit bounds the wait for a server to listen; node on a busy machine needs seconds.
	startLimit = 30 * time.Second
	// stopLimit is what a server gets between SIGTERM and SIGKILL.
	stopLimit = 2 * time.Second
)

// HTTP is a reference server that listens on a loopback port until the test ends.
type HTTP struct {
	// Server is how to reach it. It stays the same over Kill and Restart.
	Server config.Server

	t       testing.TB
	port    int
	command func() *exec.Cmd
	child   *exec.Cmd
	exited  chan struct{}
	output  *tail
}

// EverythingHTTP is server-everything over Streamable HTTP.
func EverythingHTTP(t testing.TB) *HTTP {
	return everythingNet(t, "everything-http", "streamableHttp", config.HTTP, "/mcp")
}

// EverythingSSE is server-everything over HTTP+SSE.
func EverythingSSE(t testing.TB) *HTTP {
	return everythingNet(t, "everything-sse", "sse", config.SSE, "/sse")
}

// GoSDKEverythingHTTP is go-sdk's everything example over Streamable HTTP.
func GoSDKEverythingHTTP(t testing.TB) *HTTP {
	t.Helper()
	bin, port := gobin(t, "go-sdk-everything"), nettest.FreePort(t)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return serve(t, port, config.Server{Name: "go-sdk-everything-http", Transport: config.HTTP, URL: "http://" + addr},
		func() *exec.Cmd { return exec.Command(bin, "-http", addr) })
}

// PatientHTTP is Patient over HTTP, in three ways by the path of the URL: /mcp
// has sessions, /modern has none, /sse is HTTP+SSE.
func PatientHTTP(t testing.TB, path string) *HTTP {
	t.Helper()
	bin, port := gobin(t, "go-sdk-patient"), nettest.FreePort(t)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return serve(t, port, config.Server{Name: "patient", Transport: config.Auto, URL: "http://" + addr + path},
		func() *exec.Cmd { return exec.Command(bin, "-http", addr) })
}

func everythingNet(t testing.TB, name, mode, transport, path string) *HTTP {
	t.Helper()
	bin, port := npm(t, "mcp-server-everything"), nettest.FreePort(t)
	url := fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
	return serve(t, port, config.Server{Name: name, Transport: transport, URL: url}, func() *exec.Cmd {
		cmd := exec.Command(bin, mode)
		cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
		return cmd
	})
}

// serve starts a server and stops it at the end of the test.
func serve(t testing.TB, port int, s config.Server, command func() *exec.Cmd) *HTTP {
	t.Helper()
	h := &HTTP{Server: s, t: t, port: port, command: command}
	h.Restart()
	t.Cleanup(h.Kill)
	return h
}

// Kill stops the server and returns once it is gone: SIGTERM, then SIGKILL.
func (h *HTTP) Kill() {
	if h.child == nil {
		return
	}
	process.SignalGroup(h.child.Process.Pid, process.Term)
	select {
	case <-h.exited:
	case <-time.After(stopLimit):
		process.SignalGroup(h.child.Process.Pid, process.Kill)
		<-h.exited
	}
	h.child = nil
}

// Restart starts the server again on the same port, after a Kill or not, and returns once it listens.
func (h *HTTP) Restart() {
	h.t.Helper()
	h.Kill()
	cmd, out := h.command(), &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	process.Group(cmd)
	if err := cmd.Start(); err != nil {
		h.t.Fatalf("start %s: %v", h.Server.Name, err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended does not matter, that it did is what Kill and the wait below ask
		close(exited)
	}()
	h.child, h.exited, h.output = cmd, exited, out
	h.waitListening()
}

// waitListening returns once the port accepts a connection, and ends the test
// when the server exits first or takes too long.
func (h *HTTP) waitListening() {
	h.t.Helper()
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(h.port))
	for deadline := time.Now().Add(startLimit); ; {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-h.exited:
			h.t.Fatalf("%s exited instead of listening on %s:\n%s", h.Server.Name, addr, h.output)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s does not listen on %s after %v:\n%s", h.Server.Name, addr, startLimit, h.output)
		}
	}
}

// tail keeps the last few KB of what a process printed.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *tail) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const keep = 8 << 10
	if o.buf.Len()+len(p) > 2*keep {
		o.buf.Next(max(0, o.buf.Len()-keep))
	}
	return o.buf.Write(p)
}

func (o *tail) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
