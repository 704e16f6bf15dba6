package pane

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
)

const (
	// keptBytes is up to what size a result as sent is kept beside what is
	// shown of it; a larger one is read from the journal when somebody asks.
	keptBytes = 1 << 20
	// largeBytes is from what size on something is worth tidying up after.
	largeBytes = 8 << 20
	// tidyTime is how long after it was shown: the journal is through with it then.
	tidyTime = 2 * time.Second
)

// ResultAsSent gives a result as it was sent, whenever it is asked for. The text of a large result and the frame that
// it came in are not both held in memory: the journal has the frame, on disk if it is large.
func ResultAsSent(j *journal.Journal, r rpc.Reply) func() ([]byte, error) {
	if len(r.Result) <= keptBytes || r.Response == 0 {
		return bytesOf(json.RawMessage(r.Result))
	}
	seq := r.Response
	return func() ([]byte, error) {
		frame, err := j.Body(seq)
		if err != nil {
			return nil, fmt.Errorf("the raw result is gone: %w; run it again", err)
		}
		env, err := jsonrpc.Scan(frame)
		return env.Result, err
	}
}

// viewOf is a text as bytes that nobody may change, without a copy: texts can be as large as frames.
func viewOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// tidy gives memory back to the system a moment after n bytes were shown, if
// they are many: reading them took several times of what is kept.
func tidy(n int) tea.Cmd {
	if n < largeBytes {
		return nil
	}
	return tea.Tick(tidyTime, func(time.Time) tea.Msg {
		debug.FreeOSMemory()
		return nil
	})
}

// CopyBody copies the body of a journal entry, nil if it has none.
func CopyBody(j *journal.Journal, seq uint64) tui.CopyFunc {
	if e, ok := j.Get(seq); !ok || e.Size == 0 {
		return nil
	}
	return func() (string, error) {
		body, err := j.Body(seq)
		return string(body), err
	}
}
