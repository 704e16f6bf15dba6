package pane

import (
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
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
