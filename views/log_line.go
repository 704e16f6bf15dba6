package views

import (
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
)

// logLine is a message of a server, as it came.
type logLine struct{ level, logger, text string }

// readLog reads a journal entry as a message: stderr and stray output are
// their own text, notifications/message has level, logger and data.
func readLog(j *journal.Journal, e journal.Entry) logLine {
	const most = 1 << 20 // longer messages are read in the detail pane
	if e.Size > most {
		return logLine{level: "info", text: text.Bytes(e.Size) + " of text"}
	}
	body, err := j.Body(e.Seq)
	if err != nil {
		return logLine{level: "error", text: err.Error()}
	}
	switch e.Kind {
	case journal.Stderr:
		return logLine{level: "stderr", text: string(body)}
	case journal.Bad:
		return logLine{level: "stdout", text: string(body)}
	}
	var l logLine
	env, err := jsonrpc.Scan(body)
	if err != nil {
		return logLine{level: "error", text: err.Error()}
	}
	_ = jsonrpc.Members(env.Params, func(key string, value []byte) bool {
		switch key {
		case "level":
			l.level = plainValue(value)
		case "logger":
			l.logger = plainValue(value)
		case "data":
			l.text = plainValue(value)
		}
		return true
	})
	return l
}
