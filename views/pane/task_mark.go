package pane

import (
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/tui"
)

// taskWords are the statuses as they are listed.
var taskWords = map[tasks.Status]string{
	tasks.Working: "… working", tasks.InputRequired: "? asks", tasks.Completed: "✓ completed", tasks.Failed: "✗ failed", tasks.Cancelled: "⊘ cancelled", tasks.Unknown: "! unknown",
}

// TaskMark is a status as glyph and word, in its colour.
func TaskMark(th *tui.Theme, s tasks.Status) string {
	style := th.Text
	switch s {
	case tasks.Working:
		style = th.Info
	case tasks.InputRequired, tasks.Unknown:
		style = th.Warn
	case tasks.Completed:
		style = th.OK
	case tasks.Failed:
		style = th.Error
	case tasks.Cancelled:
		style = th.Muted
	}
	return style.S(taskWords[s])
}

// Roughly is a time in its two largest units at most.
func Roughly(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}
