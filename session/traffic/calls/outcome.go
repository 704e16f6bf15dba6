package calls

import (
	"encoding/json"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Outcome is what came of a call that a Runner made, or was to make.
type Outcome struct {
	Name       string          `json:"name"`
	File       string          `json:"file"`
	Line       int             `json:"line"`
	Server     string          `json:"server"`
	Method     string          `json:"method"`
	Target     string          `json:"target"`
	Verdict    string          `json:"verdict"`
	Took       float64         `json:"took_ms"`
	Assertions int             `json:"assertions"` // how many were judged
	Failures   []expect.Failed `json:"failed_assertions,omitempty"`
	Skipped    string          `json:"skipped,omitempty"`          // why it was
	Snapshot   string          `json:"snapshot_written,omitempty"` // its file
	Result     json.RawMessage `json:"result,omitempty"`
	Error      json.RawMessage `json:"error,omitempty"`
	Reply      rpc.Reply       `json:"-"`
	Err        error           `json:"-"` // nil where all is as it should be
}

func outcomeOf(c Call, server string) Outcome {
	return Outcome{Name: c.Name, File: c.File, Line: c.Line, Server: server, Method: c.Method, Target: c.Target, Verdict: OK}
}

// Skip is the outcome of a call that was not made.
func Skip(c Call, server, why string) Outcome {
	o := outcomeOf(c, server)
	o.Verdict, o.Skipped = Skipped, why
	return o
}

// fail makes it one whose assertions failed.
func (o *Outcome) fail(failed []expect.Failed) {
	o.Verdict, o.Failures, o.Err = Unmet, failed, expect.Failure(o.Server, o.Name, failed)
}

// maxToolError is how many bytes of a tool's error text are kept.
const maxToolError = 4000

// ToolError is the error of a tool that reported one, with the first line that says something; nil where it did not. stage names the call in it.
func ToolError(server, stage string, result []byte) error {
	if !offer.IsError(result) {
		return nil
	}
	e := &failure.Error{Kind: failure.ToolError, Server: server, Stage: stage, Message: "the tool reported an error"}
	if cs, err := offer.Contents(result); err == nil {
		for _, c := range cs {
			if said := text.Headline(c.Text); c.Type == "text" && said != "" {
				e.Message += ": " + text.Clip(said, maxToolError)
				break
			}
		}
	}
	return e
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
