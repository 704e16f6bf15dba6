package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Verdicts that only calls of files have.
const (
	unmet   = "assertion" // an assertion failed
	skipped = "skipped"   // it needs what an earlier call did not give, or was left out by an interrupt
)

// ranCall is the outcome of one of several calls, as JSON.
type ranCall struct {
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
	reply      rpc.Reply
	err        error // nil where all is as it should be
}

func ranOf(c calls.Call, server string) ranCall {
	return ranCall{Name: c.Name, File: c.File, Line: c.Line, Server: server, Method: c.Method, Target: c.Target, Verdict: history.OK}
}

// fail makes it one whose assertions failed.
func (c *ranCall) fail(server string, failed []expect.Failed) {
	c.Verdict, c.Failures, c.err = unmet, failed, expect.Failure(server, c.Name, failed)
	var e *failure.Error
	if errors.As(c.err, &e) && slices.ContainsFunc(failed, func(f expect.Failed) bool { return f.Assertion == expect.OfSnapshot }) {
		e.Next = "--update keeps the answer as the snapshot, if it is right"
	}
}

// toolFailure is the error of a tool that reported one, nil where it did not.
func toolFailure(server, tool string, result []byte) error {
	if !offer.IsError(result) {
		return nil
	}
	return toolError(server, "tools/call "+tool, result)
}

// ran prints the outcome of one of several calls, in the formats that print them as they come.
func (p *printer) ran(c ranCall) error {
	switch p.format {
	case formatText:
		return p.print(answer{text: func(t *textOutput) {
			line := fmt.Sprintf("%s  %s  %s  %s", verdictWord(c.Verdict), c.Name, text.Clip(c.Target, 100), c.Server)
			switch {
			case c.Skipped != "":
				line += "  " + c.Skipped
			case c.Error != nil && c.Verdict != history.OK && c.Verdict != unmet:
				var e struct{ Message string }
				if json.Unmarshal(c.Error, &e) == nil {
					line += "  " + text.Clip(text.FirstLine(e.Message), 300)
				}
			default:
				line += fmt.Sprintf("  %s  %s", text.Duration(c.reply.Took), text.Bytes(len(c.reply.Result)))
			}
			if c.Assertions > 0 {
				line += fmt.Sprintf("  %d/%d", max(c.Assertions-len(c.Failures), 0), c.Assertions)
			}
			if c.Snapshot != "" {
				line += "  snapshot written"
			}
			t.block(line)
			for _, f := range c.Failures {
				t.block(fmt.Sprintf("    %s:%d:%d: %s", filepath.Base(c.File), max(f.Line, c.Line), max(f.Col, 1), f))
				for _, l := range f.Lines() {
					t.block("      " + l)
				}
			}
		}})
	case formatJSONL, formatRaw:
		raw, err := marshal(c)
		if err != nil {
			return err
		}
		return p.line(raw)
	}
	return nil
}

// ranAll prints the outcomes of all calls, in the formats that print them together.
func (p *printer) ranAll(all []ranCall, files int, took time.Duration) error {
	failed, judged, left, written := 0, 0, 0, 0
	for _, c := range all {
		if c.Verdict != history.OK {
			failed++
		}
		if c.Verdict == skipped {
			left++
		}
		if c.Snapshot != "" {
			written++
		}
		judged += c.Assertions
	}
	switch p.format {
	case formatText:
		return p.print(answer{text: func(t *textOutput) {
			parts := []string{count(files, "file", "files")}
			for _, n := range []struct {
				n         int
				one, many string
			}{{judged, "assertion", "assertions"}, {written, "snapshot written", "snapshots written"}, {left, "call skipped", "calls skipped"}} {
				if n.n > 0 {
					parts = append(parts, count(n.n, n.one, n.many))
				}
			}
			t.block(fmt.Sprintf("%s in %s: %d calls, %d failed", strings.Join(parts, ", "), text.Duration(took), len(all), failed))
		}})
	case formatJSON:
		raw, err := marshal(struct {
			Calls      []ranCall `json:"calls"`
			Failed     int       `json:"failed"`
			Skipped    int       `json:"skipped"`
			Assertions int       `json:"assertions"`
			Millis     float64   `json:"took_ms"`
		}{all, failed, left, judged, ms(took)})
		if err != nil {
			return err
		}
		return p.line(raw)
	}
	return nil
}

// bar draws how far a run of files is.
func (s *side) bar(done, total int, what string) {
	const cells = 20
	if !s.tty || total < 2 {
		return
	}
	full := done * cells / total
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	_, _ = fmt.Fprintf(s.err, "\r\x1b[K%s%s %d/%d %s", strings.Repeat("█", full), strings.Repeat("░", cells-full), done, total, text.Clip(what, 40))
	s.drawn = true
}
