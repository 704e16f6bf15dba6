package transport

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A server that ends after it answered says why in what it writes from then on; what it complained of before, it lived on with. One that a
// signal ends, or that ends well, did not end because of what it wrote.
func TestLastWords(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ last, want string }{
		"an error":     {`echo "Error: connect ECONNREFUSED 127.0.0.1:5432" >&2; exit 1`, "nothing listens at 127.0.0.1:5432"},
		"in colours":   {`printf '\033[31mError: connect ECONNREFUSED\033[0m 127.0.0.1:5432\n' >&2; exit 1`, "nothing listens at 127.0.0.1:5432"},
		"nothing":      {`exit 1`, ""},
		"a good end":   {`echo "Error: bye" >&2; exit 0`, ""},
		"a signal":     {`echo "Error: bye" >&2; kill -9 $$`, ""},
		"only a frame": {`echo "    at Timeout._onTimeout (/s.js:4:57)" >&2; exit 1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := `echo "Error: a cache that is not there" >&2; read one; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read two; ` + row.last
			j := journal.New(journal.Options{Dir: t.TempDir()})
			t.Cleanup(func() { _ = j.Close() })
			s := newStdio(config.Server{Command: "/bin/sh", Args: []string{"-c", script}}, Tap{Journal: j, Server: "srv", Conn: 1}, nil, GracePeriod{})
			t.Cleanup(func() { _ = s.Close() })
			got := &received{news: make(chan struct{}, 1)}
			require.NoError(t, s.Start(t.Context(), got))
			for !strings.Contains(s.Stderr(), "cache") { // it is read beside what the child answers
				time.Sleep(time.Millisecond)
			}
			require.NoError(t, s.Send(t.Context(), Message{Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"one"}`)}))
			got.await(t, "the answer", func() bool { return len(got.frames) == 1 })
			require.NoError(t, s.Send(t.Context(), Message{Frame: []byte(`{"jsonrpc":"2.0","id":2,"method":"two"}`)}))
			got.await(t, "the end", func() bool { return got.lost != nil })
			var e *failure.Error
			if !errors.As(got.lost, &e) || e.Kind != failure.ChannelClosed || e.Reason != row.want {
				t.Errorf("%v; the reason is %q, want %q", got.lost, e.Reason, row.want)
			}
		})
	}
}
