package tui

import "time"

const (
	// linearQuiet is how long nothing happens before the next line is carried out: lines that are piped in take effect one after the other.
	linearQuiet = 15 * time.Millisecond
	// linearLate is how late the end of that time may be noticed. What is noticed later was noticed by a process that had no processor
	// meanwhile, in which what the line before began had none either.
	linearLate = 5 * time.Millisecond
	// linearMost bounds how often the time begins anew because of that.
	linearMost = 50
)

// quiet is the time in which nothing happens.
type quiet struct {
	*time.Timer
	due  time.Time
	anew int
}

func startQuiet() *quiet {
	return &quiet{Timer: time.NewTimer(linearQuiet), due: time.Now().Add(linearQuiet)}
}

// again begins the time anew.
func (q *quiet) again() {
	q.Reset(linearQuiet)
	q.due, q.anew = time.Now().Add(linearQuiet), 0
}

// over reports, once the timer has fired, whether nothing happened although it could have. If not, the time begins anew.
func (q *quiet) over() bool { return q.overAt(time.Now()) }

func (q *quiet) overAt(now time.Time) bool {
	if now.Sub(q.due) <= linearLate || q.anew >= linearMost {
		return true
	}
	anew := q.anew + 1
	q.again()
	q.anew = anew
	return false
}
