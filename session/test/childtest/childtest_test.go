package childtest

import (
	"fmt"
	"io"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("CHILDTEST") != "" {
		fmt.Println("a line")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestStart(t *testing.T) {
	c := Start(t, "CHILDTEST=1")
	if c.Line != "a line" || c.PID == os.Getpid() {
		t.Errorf("%+v", c)
	}
	killed := Start(t, "CHILDTEST=1")
	if killed.Kill(); !killed.killed() || c.cmd.ProcessState != nil {
		t.Error("one is killed, and the other is not")
	}
}
