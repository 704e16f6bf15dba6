package nettest

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"testing"
)

func TestFree(t *testing.T) {
	port := FreePort(t)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Fatal("somebody listens there")
	} else if runtime.GOOS == "linux" && !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	for _, at := range []string{addr, addr, fmt.Sprintf(":%d", port), fmt.Sprintf("localhost:%d", port)} { // it comes and goes
		ln, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(at, err)
		}
		if _, free := keep(port); free {
			t.Error("a port at which somebody listens is given out")
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Error(err)
		} else {
			_ = c.Close()
		}
		_ = ln.Close()
	}
	if _, free := keep(port); free && runtime.GOOS == "linux" {
		t.Error("a port that is kept is given out twice")
	}
}
