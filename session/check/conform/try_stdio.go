package conform

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// pipes try the rules of stdio.
var pipes = []trial{
	{"exits", alone, tryExits},
	{"stdout-clean", alone, tryStdout},
	{"pretty-printed", shared, tryOneLine},
}

// tryExits ends the input of a process, which has its whole time to leave here, whatever those before it did.
func tryExits(p *probe) error {
	p.conn.leave = p.leave
	if err := p.conn.open(p.ctx); err != nil {
		return err
	}
	p.lines = append(p.lines, "its input was closed")
	c := p.conn
	if err := c.pipe.tr.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if e := c.pipe.exit; e.Forced != "" {
		return newViolation("it was still there %v after its input ended, and was ended by %s", p.leave, e.Forced)
	}
	if e := c.pipe.exit; e.Left > 0 {
		return newViolation("it left %d processes behind", e.Left)
	}
	return nil
}

// tryStdout makes the requests at which servers write something of their own, and looks at all that came. What is JSON and no message belongs to
// another rule: see check.NoMessage.
func tryStdout(p *probe) error {
	c := p.conn
	if err := c.open(p.ctx); err != nil {
		return err
	}
	for _, m := range append(p.declaredLists(), nobody) {
		if _, err := p.call(m, "{}"); err != nil {
			return err
		}
	}
	frames, envs := c.pipe.framesAfter(0)
	for i, e := range envs {
		if e.Kind == jsonrpc.Invalid && len(strings.TrimSpace(string(frames[i]))) > 0 && check.NoMessage(frames[i]) {
			p.lines = append(p.lines, line(journal.In, frames[i]))
			return newViolation("a line on standard output is not a message: %.60q", frames[i])
		}
	}
	if err := c.pipe.brokenErr(); err != nil {
		return newViolation("output that could not be read: %s", err.Error()) // as text: an error would be taken for one of the trial
	}
	return nil
}

func tryOneLine(p *probe) error {
	// A message over several lines arrives as lines that are not messages, the first of which begins one.
	_, err := p.call(p.firstListOr(nobody), "{}")
	frames, _ := p.conn.pipe.framesAfter(0)
	for _, f := range frames {
		if s := strings.TrimSpace(string(f)); s == "{" || strings.HasPrefix(s, "{") && jsonrpc.Valid(f) != nil {
			return newViolation("a message begins with the line %.60q", f)
		}
	}
	return err
}
