package transport

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// until is a writer that takes nothing before something is so.
type until func() bool

func (so until) Write(b []byte) (int, error) {
	for end := time.Now().Add(30 * time.Second); !so() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	return len(b), nil
}

// A message that was being written when the child ended fails because its input is closed. What is told is how the child ended.
func TestS4_TheEndOfAChildGoesBeforeWhatItDoesToWrites(t *testing.T) {
	leakChecked(t)
	file := t.TempDir() + "/pid"
	// What it leaves behind holds its input, so that the write goes on. It has to be in a session of its own before the child ends, or it
	// ends with it.
	script := `exec 3<&0; setsid sh -c 'echo $$ >"$1"; exec sleep 300' sh "` + file + `" <&3 3<&- >/dev/null 2>&1 &
while [ ! -s "` + file + `" ]; do sleep 0.01; done; head -c 1 >/dev/null; echo giving up >&2; exit 3`
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	var s *stdio
	failed := until(func() bool { return s.fault.Load() != nil })
	s = newStdio(config.Server{Command: "/bin/sh", Args: []string{"-c", script}}, Tap{Journal: j, Server: "srv", Conn: 1}, failed, GracePeriod{})
	got := &received{news: make(chan struct{}, 1)}
	t.Cleanup(func() {
		raw, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
		assert.NoError(t, s.Close())
	})
	require.NoError(t, s.Start(t.Context(), got))
	frame := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"`), bytes.Repeat([]byte("x"), 8<<20)...), `"}}`...)
	if err := s.Send(t.Context(), Message{Frame: frame}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the write failed with %v", err)
	}
	got.await(t, "the end", func() bool { return got.lost != nil })
	fails(t, got.lost, failure.ChannelClosed, "exited with status 3", "giving up")
}

// A process that ends because its parent did is not one that was left behind.
func TestWhatIsLeftBehind(t *testing.T) {
	leakChecked(t)
	for left, script := range map[int]string{
		0: `mkfifo "$0" && { { read x; sleep 0.1; } <"$0" >/dev/null 2>&1 & exec 3>"$0"; cat >/dev/null; }`,
		1: `sleep 300 </dev/null >/dev/null 2>&1 & cat >/dev/null`,
	} {
		others := time.Minute
		if left > 0 {
			others = 100 * time.Millisecond
		}
		s := newStdio(config.Server{Command: "/bin/sh", Args: []string{"-c", script, t.TempDir() + "/pipe"}}, Tap{}, nil, GracePeriod{Input: time.Minute, Others: others})
		var got *Exit
		s.exited = func(e Exit) { got = &e }
		require.NoError(t, s.Start(t.Context(), &received{news: make(chan struct{}, 1)}))
		if err := s.Close(); err != nil || got == nil || got.Left != left || got.Forced != "" {
			t.Errorf("%d: %v, %+v", left, err, got)
		}
	}
}

// What a server says at its end is read although something that it started holds its output open.
func TestLastWordsBesideAChild(t *testing.T) {
	leakChecked(t)
	const script = `sleep 300 & cat >/dev/null; echo '{"jsonrpc":"2.0","method":"last"}'`
	s := newStdio(config.Server{Command: "/bin/sh", Args: []string{"-c", script}}, Tap{}, nil, GracePeriod{Input: time.Minute, Others: time.Millisecond})
	got := &received{news: make(chan struct{}, 1)}
	require.NoError(t, s.Start(t.Context(), got))
	assert.NoError(t, s.Close())
	got.await(t, "the last message", func() bool { return len(got.frames) == 1 })
}
