//go:build unix

package process

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// start runs a shell's text with its output in a pipe.
func start(t *testing.T, text string) (*Process, *bufio.Reader) {
	t.Helper()
	path, err := Lookup("sh", os.Environ(), "")
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	p, err := Start(Spec{Path: path, Args: []string{"-c", text}, Std: [3]*os.File{1: w, 2: w}})
	_ = w.Close()
	require.NoError(t, err)
	return p, bufio.NewReader(r)
}

func TestStatus(t *testing.T) {
	for text, want := range map[string]string{"exit 3": "exited with status 3", "exit 0": "exited with status 0", "kill -KILL $$": "was ended by signal killed"} {
		p, _ := start(t, text)
		<-p.Exited()
		assert.Equalf(t, p.Reap(), want, "%s", text)
		p.Signal(Kill) // its number may be somebody else's: nothing happens
	}
}

// The child's own children go with it, also those that ignore TERM.
func TestGroupEnds(t *testing.T) {
	p, out := start(t, `trap "" TERM; (trap "" TERM; echo ready; sleep 1000) & wait`)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.Signal(Term)
	select {
	case <-p.Exited():
		t.Fatal("it ended at TERM")
	default:
	}
	p.Signal(Kill)
	<-p.Exited()
	assert.Equal(t, p.Reap(), "was ended by signal killed")
	if _, err := out.ReadString('\n'); err == nil { // the pipe ends when nobody has it open any more
		t.Error("something of the group still writes")
	}
	if p.Signal(Term); Alive(p.PID()) || !Alive(os.Getpid()) || Alive(0) {
		t.Error("the child is still there")
	}
}

func TestFiltered(t *testing.T) {
	t.Setenv("AGENT_TOKEN", "secret")
	t.Setenv("LC_ALL", "C")
	t.Setenv("XDG_STATE_HOME", "/state")
	env := Filtered(map[string]string{"B": "2", "A": "1"})
	for _, want := range []string{"LC_ALL=C", "XDG_STATE_HOME=/state", "PATH=" + os.Getenv("PATH"), "A=1", "B=2"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	assert.NotContains(t, strings.Join(env, "\n"), "secret")
	if env := Environment(nil); !slices.Contains(env, "AGENT_TOKEN=secret") {
		t.Error("Environment leaves variables out")
	}
}
