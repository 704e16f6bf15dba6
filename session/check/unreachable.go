package check

import (
	"time"

	"github.com/mcphud/mcphud/session/text"
)

// Unreachable is the report of a server that could not be connected to: nothing was examined.
func Unreachable(server string, err error, tool Tool, began time.Time) *Report {
	own := NewRecorder(serverSection{}, Watch{})
	own.Add("server/unreachable", Finding{Place: Place{Kind: OfServer}, Message: text.Clip(text.FirstLine(err.Error()), 500), Evidence: err.Error()})
	r := &Report{
		Version: Version, Tool: tool, Server: ServerReport{Name: server}, Began: began.UTC(), Millis: millis(time.Since(began)), Findings: own.findings,
		Sections: []SectionReport{{Name: own.section, Title: serverSection{}.Title(), Error: err.Error()}},
	}
	r.Recount()
	return r
}
