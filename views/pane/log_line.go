package pane

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// LogLine is a message of a server, as it came.
type LogLine struct{ Level, Logger, Text string }

// ReadLog reads a journal entry as a message: stderr and stray output are
// their own text, notifications/message has level, logger and data.
func ReadLog(j *journal.Journal, e journal.Entry) LogLine {
	const most = 1 << 20 // longer messages are read in the detail pane
	if e.Size > most {
		return LogLine{Level: "info", Text: text.Bytes(e.Size) + " of text"}
	}
	body, err := j.Body(e.Seq)
	if err != nil {
		return LogLine{Level: "error", Text: err.Error()}
	}
	switch e.Kind {
	case journal.Stderr:
		return LogLine{Level: "stderr", Text: string(body)}
	case journal.Bad:
		return LogLine{Level: "stdout", Text: string(body)}
	}
	var l LogLine
	env, err := jsonrpc.Scan(body)
	if err != nil {
		return LogLine{Level: "error", Text: err.Error()}
	}
	_ = jsonrpc.Members(env.Params, func(key string, value []byte) bool {
		switch key {
		case "level":
			l.Level = PlainValue(value)
		case "logger":
			l.Logger = PlainValue(value)
		case "data":
			l.Text = PlainValue(value)
		}
		return true
	})
	return l
}

// LogBlocks are a log message's own text, and below it the frame that it came in.
func LogBlocks(j *journal.Journal, e journal.Entry, whole Source) []Source {
	if e.Kind != journal.Notification {
		return nil
	}
	l := ReadLog(j, e)
	message := Source{Name: whole.Name, Painter: whole.Painter, None: "The message is empty.", read: bytesOf(viewOf(l.Text))}
	message.title = strings.TrimSuffix(safe.Line(l.Level, 40)+" · "+safe.Line(l.Logger, 200), " · ")
	whole.title, whole.Head = "frame", nil
	return []Source{message, whole}
}

// IsLog is whether an entry is something that a server logged, or wrote besides its messages.
func IsLog(e *journal.Entry) bool {
	return e.Kind == journal.Stderr || e.Kind == journal.Bad && e.Dir == journal.In ||
		e.Kind == journal.Notification && e.Dir == journal.In && e.Method == "notifications/message"
}
