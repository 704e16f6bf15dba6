package check

import (
	"time"

	"github.com/mcphud/mcphud/session/base/text"
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

// Stopped is the report of a check that was interrupted before the server was connected to.
func Stopped(server string, tool Tool, began time.Time) *Report {
	return &Report{
		Version: Version, Tool: tool, Server: ServerReport{Name: server}, Began: began.UTC(), Millis: millis(time.Since(began)), Findings: []Finding{}, Interrupted: true,
		Sections: []SectionReport{{Name: serverSection{}.Name(), Title: serverSection{}.Title(), Error: "interrupted before the server was connected to"}},
	}
}
