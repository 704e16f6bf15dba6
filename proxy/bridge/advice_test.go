//go:build unix

package bridge

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// record is a log that may be written to by several.
type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// What goes wrong is said to who looks after the route, who has neither the flags nor the screen of a client.
func TestErrorsFitARoute(t *testing.T) {
	for command, want := range map[string]string{
		"/nowhere/at/all": "give its full path in the route's command, or set PATH in the route's env",
		"/":               "check the route's command, args and cwd",
	} {
		b := New(Options{Name: "x", Command: command})
		_, err := b.RoundTrip(request(t.Context(), http.MethodPost, "", hello, both))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "-e PATH") {
			t.Errorf("%s: %v", command, err)
		}
		_ = b.Close()
	}
	b := bridge(t, "legacy", func(o *Options) { o.Command, o.Args = "sh", []string{"-c", "echo oh no >&2; exit 3"} })
	if _, err := b.RoundTrip(request(t.Context(), http.MethodPost, "", hello, both)); err == nil || strings.Contains(err.Error(), "reconnect") || strings.Contains(err.Error(), "oh no") {
		t.Error(err)
	}
	require.Eventually(t, "the error to be shown", func() bool { return b.Status().Error != "" })
	if st := b.Status(); strings.Contains(st.Error, "reconnect") || !strings.Contains(st.Error, "the router's /status") {
		t.Error(st.Error)
	}
}

// Neither the status nor the log has the secrets that a process was given and wrote, and only some may read what it wrote at all.
func TestWhatProcessesWrite(t *testing.T) {
	var log record
	b := bridge(t, "legacy", func(o *Options) {
		o.Command, o.Args = "sh", []string{"-c", `echo "cannot open http://u:hunter2@db/ with $DB_PASSWORD and Bearer abcdefgh" >&2; exit 3`}
		o.Env["DB_PASSWORD"], o.Env["DB_KEY"] = "plain words", "3" // too short to be looked for
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	if _, err := b.RoundTrip(request(t.Context(), http.MethodPost, "", hello, both)); err == nil {
		t.Fatal("an answer")
	}
	require.Eventually(t, "what the process said last", func() bool { return strings.Contains(log.String(), "process ended") && len(b.Status().Stderr) == 1 })
	st := b.Status()
	const line = "cannot open http://***@db/ with *** and Bearer ***"
	if st.Stderr[0] != line || !strings.Contains(st.Error, "exited with status 3") || !strings.Contains(st.Error, line) || !strings.Contains(log.String(), line) {
		t.Errorf("%+v\n%s", st, log.String())
	}
	for _, secret := range []string{"hunter2", "plain words", "abcdefgh"} {
		assert.NotContains(t, log.String()+st.Error, secret)
	}
	if out := st.Public(); out.Stderr != nil || strings.Contains(out.Error, "cannot open") || !strings.Contains(out.Error, "exited with status 3") || out.Starts != st.Starts {
		t.Errorf("%+v", out)
	}
}
