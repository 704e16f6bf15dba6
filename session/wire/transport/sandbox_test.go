package transport

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Why a sandbox cannot be is the error of the start, with what to do.
func TestX5b_RefusalSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err           error
		message, next string
	}{
		{&confine.UnsupportedError{Reason: "no such kernel"}, `cannot start "x": its sandbox cannot be enforced here: no such kernel`, "or without the sandbox, if it may do all that you may"},
		{&confine.PathError{List: confine.Read, Path: "/a", Err: errors.New("gone")}, `cannot start "x": its sandbox cannot allow to read /a: gone`, "make /a, or correct the list"},
	} {
		e := spawnFailed(config.Server{Command: "x"}, c.err)
		if e.Kind != failure.SpawnFailed || e.Message != c.message || !strings.Contains(e.Next, c.next) {
			t.Errorf("%v: %q, %q", c.err, e.Message, e.Next)
		}
	}
}

// locked is a buffer that a goroutine writes to.
type locked struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// In a sandbox a server is not given what is exported, but what its entry says; its home and temporary folder are its own.
func TestX5b_SandboxHasItsOwnEnvironment(t *testing.T) {
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
	leakChecked(t)
	t.Setenv("SOME_TOKEN", "exported-value")
	t.Setenv("XDG_CONFIG_HOME", "/home/somebody/config")
	run := func(box *confine.Rules) string {
		var out locked
		s := newStdio(config.Server{Command: "sh", Args: []string{"-c", "env >&2; echo $HOME >$TMPDIR/file && cat $TMPDIR/file >&2"}, Env: map[string]string{"GIVEN": "given-value"}, Sandbox: box}, Tap{}, &out, GracePeriod{})
		in := &received{}
		require.NoError(t, s.Start(t.Context(), in))
		<-s.ended
		out.mu.Lock()
		defer out.mu.Unlock()
		return out.String()
	}
	if open := run(nil); !strings.Contains(open, "exported-value") {
		t.Fatalf("without a sandbox: %s", open)
	}
	shut := run(&confine.Rules{})
	for _, want := range []string{"GIVEN=given-value", "PATH=", "HOME=", "mcphud-sandbox-"} {
		assert.Contains(t, shut, want)
	}
	for _, bad := range []string{"exported-value", "/home/somebody"} {
		assert.NotContains(t, shut, bad)
	}
}
