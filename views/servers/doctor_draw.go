package servers

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
)

// page is the stages, with what was seen.
func (v *doctor) page(c *tui.Ctx) page.Page {
	d, p := v.runs[v.server], v.rows()
	switch {
	case c.Server == nil:
		p.None = [2]string{"No server is open.", "Press 1 for the servers."}
	case d == nil:
		p.None = [2]string{"Nobody looked at this server yet.", "Press " + c.KeyOf("doctor.run") + " to look at it."}
	default:
		p.Foot = v.summary(d)
	}
	return p
}

// rows are all stages with all that was seen; what to do has a key on this screen.
func (v *doctor) rows() page.Page {
	return pages.Diagnosis(v.steps, true, func(doc.Step) string { return "" })
}

// summary is a diagnosis in a few words.
func (v *doctor) summary(d *diagnosis) string {
	count := map[doc.Status]int{}
	for _, s := range v.steps {
		count[s.Status]++
	}
	if d.op != 0 {
		return strings.TrimSpace("looking… " + tui.Elapsed(time.Since(d.began)))
	}
	out := fmt.Sprintf("%d ok", count[doc.OK])
	if n := count[doc.Warning]; n > 0 {
		out = text.Count(n, "warning") + " · " + out
	}
	if n := count[doc.Failed]; n > 0 {
		out = fmt.Sprintf("%d failed · ", n) + out
	}
	if d.report != nil {
		out += " · " + text.Duration(d.report.Took)
	}
	return out
}

// stage is a stage, with the key of what to do.
func (v *doctor) stage(c *tui.Ctx, i int) page.Page {
	key, does := "", ""
	switch v.steps[i].Remedy {
	case failure.LogIn:
		key, does = c.KeyOf("app.login"), "log in, and see every step of it"
	case failure.TrustServer:
		key, does = "1", "to the servers, where enter asks for trust"
	}
	return pages.Stage(v.steps[i], key, does)
}
