package runner

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/views/pages"
)

// PrintOutcome prints the outcome of one of several calls, in the formats that print them as they come.
func PrintOutcome(p *output.Printer, c calls.Outcome) error {
	switch p.Format {
	case output.FormatText:
		return p.Print(output.Answer{Text: func(t *output.Text) {
			line := fmt.Sprintf("%s  %s  %s  %s", pages.Verdict(c.Verdict), c.Name, text.Clip(c.Target, 100), c.Server)
			switch {
			case c.Skipped != "":
				line += "  " + c.Skipped
			case c.Error != nil && c.Verdict != calls.OK && c.Verdict != calls.Unmet:
				var e struct{ Message string }
				if json.Unmarshal(c.Error, &e) == nil {
					line += "  " + text.Clip(text.FirstLine(e.Message), 300)
				}
			default:
				line += fmt.Sprintf("  %s  %s", text.Duration(c.Reply.Took), text.Bytes(len(c.Reply.Result)))
			}
			if c.Assertions > 0 {
				line += fmt.Sprintf("  %d/%d", max(c.Assertions-len(c.Failures), 0), c.Assertions)
			}
			if c.Snapshot != "" {
				line += "  snapshot written"
			}
			t.Block(line)
			for _, f := range c.Failures {
				t.Block(fmt.Sprintf("    %s:%d:%d: %s", filepath.Base(c.File), max(f.Line, c.Line), max(f.Col, 1), f))
				for _, l := range f.Lines() {
					t.Block("      " + l)
				}
			}
		}})
	case output.FormatJSONL, output.FormatRaw:
		raw, err := output.Marshal(c)
		if err != nil {
			return err
		}
		return p.Line(raw)
	}
	return nil
}

// PrintAll prints the outcomes of all calls, in the formats that print them together.
func PrintAll(p *output.Printer, all []calls.Outcome, files int, took time.Duration) error {
	failed, judged, left, written := 0, 0, 0, 0
	for _, c := range all {
		if c.Verdict != calls.OK {
			failed++
		}
		if c.Verdict == calls.Skipped {
			left++
		}
		if c.Snapshot != "" {
			written++
		}
		judged += c.Assertions
	}
	switch p.Format {
	case output.FormatText:
		return p.Print(output.Answer{Text: func(t *output.Text) {
			parts := []string{text.Count(files, "file", "files")}
			for _, n := range []struct {
				n         int
				one, many string
			}{{judged, "assertion", "assertions"}, {written, "snapshot written", "snapshots written"}, {left, "call skipped", "calls skipped"}} {
				if n.n > 0 {
					parts = append(parts, text.Count(n.n, n.one, n.many))
				}
			}
			t.Block(fmt.Sprintf("%s in %s: %d calls, %d failed", strings.Join(parts, ", "), text.Duration(took), len(all), failed))
		}})
	case output.FormatJSON:
		raw, err := output.Marshal(struct {
			Calls      []calls.Outcome `json:"calls"`
			Failed     int             `json:"failed"`
			Skipped    int             `json:"skipped"`
			Assertions int             `json:"assertions"`
			Millis     float64         `json:"took_ms"`
		}{all, failed, left, judged, output.Ms(took)})
		if err != nil {
			return err
		}
		return p.Line(raw)
	}
	return nil
}

// drawBar draws how far a run of files is.
func drawBar(s *cli.Side, done, total int, what string) {
	const cells = 20
	if !s.Tty || total < 2 {
		return
	}
	full := done * cells / total
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Clear()
	_, _ = fmt.Fprintf(s.Err, "\r\x1b[K%s%s %d/%d %s", strings.Repeat("█", full), strings.Repeat("░", cells-full), done, total, text.Clip(what, 40))
	s.Drawn = true
}
