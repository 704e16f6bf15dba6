package serve

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/tui/safe"
)

// agentLogger writes the agent's log to f: JSON lines for programs, and on a terminal lines for people.
func agentLogger(f *os.File, level string) *slog.Logger {
	from := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError}[level]
	if output.Terminal(f) {
		return slog.New(NewLineHandler(f, from))
	}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: from}))
}

// lineHandler writes records as "15:04:05 INFO message key=value". What comes from clients cannot act on the terminal or add
// lines: the text handler underneath quotes values with anything but printable characters, and the line is sanitised, since
// combining marks count as printable.
type lineHandler struct {
	out  *lineWriter
	rest slog.Handler // writes the attributes to out.line
}

type lineWriter struct {
	mu   sync.Mutex
	w    io.Writer
	line bytes.Buffer
}

// NewLineHandler makes a handler of logs that writes a line for each record.
func NewLineHandler(w io.Writer, level slog.Level) *lineHandler {
	out := &lineWriter{w: w}
	rest := slog.NewTextHandler(&out.line, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{} // said at the start of the line
		}
		return a
	}})
	return &lineHandler{out: out, rest: rest}
}

func (h *lineHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.rest.Enabled(ctx, l) }

func (h *lineHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return &lineHandler{h.out, h.rest.WithAttrs(a)}
}

func (h *lineHandler) WithGroup(name string) slog.Handler {
	return &lineHandler{h.out, h.rest.WithGroup(name)}
}

func (h *lineHandler) Handle(ctx context.Context, r slog.Record) error {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	b := &h.out.line
	b.Reset()
	b.WriteString(r.Time.Format("15:04:05 "))
	b.WriteString((r.Level.String() + "  ")[:max(5, len(r.Level.String()))])
	b.WriteByte(' ')
	b.WriteString(safe.Line(r.Message, maxLogMessage))
	b.WriteByte(' ')
	if err := h.rest.Handle(ctx, r); err != nil {
		return err
	}
	_, err := io.WriteString(h.out.w, safe.Text(b.String()))
	return err
}

// maxLogMessage is how many cells of a message are shown.
const maxLogMessage = 500
