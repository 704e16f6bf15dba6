package conform

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// locks is set for a process of the tests that is a server with a file of its own, in a folder with that name.
const locks = "MCPHUD_TEST_LOCKS"

// locking is a server that writes its file after it started, which takes longer than the usual grace period: nobody else may write it
// meanwhile, and it does not leave before. One that is killed then leaves its lock behind, and those that follow wait for it.
func locking(dir string) int {
	written := make(chan struct{})
	go func() {
		defer close(written)
		lock := filepath.Join(dir, "lock")
		for os.Mkdir(lock, 0o700) != nil {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
		_ = os.Remove(lock) // nobody else does
	}()
	behave.Stdio(behave.Good, behave.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit})
	<-written
	return 0
}

// starting is set for a process of the tests that is a server which takes that long to start.
const starting = "MCPHUD_TEST_STARTING"

func slowly(how string) int {
	after, err := time.ParseDuration(how)
	if err != nil {
		panic(err)
	}
	time.Sleep(after)
	behave.Stdio(behave.Modern, behave.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit})
	return 0
}

// A server that is slow to start is tried like any other, in the era that it speaks: silence while it starts says nothing.
func TestSlowToStart(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	r := examinedWithin(t, config.Server{Name: "slow", Transport: config.Stdio, Command: self, Env: map[string]string{starting: "700ms"}}, func() {}, 300*time.Millisecond, "discovery", "exits")
	if len(r.Findings) > 0 || len(passed(r)) != 2 {
		t.Errorf("%+v %+v", r.Findings, r.Sections)
	}
	// One that never answers server/discover is of the other era.
	if r = examinedWithin(t, faketest.Stdio(t, behave.NoDiscover), func() {}, 300*time.Millisecond, "ping"); len(r.Findings) > 0 || len(passed(r)) != 1 {
		t.Errorf("%+v %+v", r.Findings, r.Sections)
	}
}

// A server is not ended by force while it would leave by itself: what that leaves behind is held against the next process otherwise, which
// is not how clients that keep to the specification meet it.
func TestExitsBesideWhatWasEnded(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	cfg := config.Server{Name: "locks", Transport: config.Stdio, Command: self, Env: map[string]string{locks: t.TempDir()}}
	_, s := sessiontest.Open(t, session.Options{}, cfg)
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	section, err := New(Options{Rules: []string{"version-supported", "exits"}, leave: 10 * time.Second})
	require.NoError(t, err)
	r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{section}, check.Tool{}, check.Watch{})
	if err != nil || len(r.Findings) > 0 || len(passed(r)) != 2 {
		t.Errorf("%v: %+v %+v", err, r.Findings, r.Sections)
	}
}

// What stands on standard output beside messages is one fault, however often it was seen.
func TestNoiseIsOneFault(t *testing.T) {
	t.Parallel()
	r := examined(t, faketest.Stdio(t, behave.Noise), func() {}, "stdout-*", "message-shape")
	if len(r.Findings) != 1 || r.Findings[0].ID != Name+"/stdout-clean" || r.Findings[0].Severity.String() != rules.Find("live", "stdout-noise").Severity.String() {
		t.Errorf("%+v %+v", r.Findings, r.Sections[1])
	}
	if r = examined(t, faketest.Stdio(t, behave.Noise), func() {}, "stdout-noise", "ping"); !finds(r, "stdout-noise") {
		t.Errorf("%+v", r.Findings)
	}
}

// A message with a wrong member is not noise: it is one fault as well, which is the member.
func TestABadMemberIsNoNoise(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":"text"}`: "message-shape", `{"level":"info","message":"started"}`: "stdout-clean",
	} {
		cfg := faketest.Stdio(t, behave.Good)
		cfg.Args = append([]string{"-c", `echo "$LINE"; exec "$0" "$@"`, cfg.Command}, cfg.Args...)
		cfg.Command, cfg.Env = "sh", map[string]string{"LINE": line}
		r := examined(t, cfg, func() {}, "stdout-*", "message-shape")
		if len(r.Findings) != 1 || r.Findings[0].ID != Name+"/"+want {
			t.Errorf("%s: %+v", line, r.Findings)
		}
	}
}

// Who declares a list and does not have it is judged as a check of the lists judges it.
func TestDeclaredAndNotImplemented(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for method, want := range map[string]string{"prompts/list": rules.Find("live", "capability-empty").Severity.String(), "tools/list": "error", "resources/templates/list": ""} {
		r := tried(t, agent, on(method, failing(-32601)), rev2511, "declared-lists")
		got := ""
		for _, f := range r.Findings {
			if f.ID == Name+"/declared-lists" {
				got = f.Severity.String()
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %+v", method, got, want, r.Findings)
		}
	}
}

// A server that leaves a child behind has that waited for once. It still has its own time to leave each time: it leaves properly.
func TestWhatIsLeftBehindIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what is left behind is known on Linux only, and not waited for elsewhere")
	}
	const busy = 300 * time.Millisecond // far more than a process has that is not waited for
	cfg := faketest.Stdio(t, behave.Good)
	cfg.Args = append([]string{"-c", `sleep 1000 & "$0" "$@"; sleep 0.3`, cfg.Command}, cfg.Args...)
	cfg.Command = "sh"
	_, s := sessiontest.Open(t, session.Options{}, cfg)
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	target, err := newTarget(&check.Subject{Offer: o, Session: s}, 20*time.Second, time.Minute)
	require.NoError(t, err)
	target.others = 100 * time.Millisecond
	for i, want := range []time.Duration{target.others, hardly} {
		c := target.connection(rev2511)
		if got := c.leaveGrace(); got.Input != time.Minute || got.Others != want {
			t.Errorf("process %d has %+v, want a minute and %v for what it leaves behind", i+1, got, want)
		}
		require.NoError(t, c.open(t.Context()))
		c.close()
		if e := c.pipe.exit; e.Forced != "" || e.Left == 0 || e.Took < busy {
			t.Errorf("process %d: %+v", i+1, e)
		}
	}
}
