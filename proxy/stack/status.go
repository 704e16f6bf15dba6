package stack

import "time"

// State is the state of a process, as it is shown.
type State string

// The states.
const (
	Stopped  State = "stopped"
	Waiting  State = "waiting" // for processes that it depends on
	Starting State = "starting"
	Ready    State = "ready"
	Stopping State = "stopping"
	Failed   State = "failed"     // restarted at RetryAt
	Crashing State = "crash loop" // failed Backoff.Loop times in a row; restarted at RetryAt
)

// Status is a snapshot of a process.
type Status struct {
	Name     string    `json:"name"`
	Kind     Kind      `json:"kind"`
	State    State     `json:"state"`
	Since    time.Time `json:"since"`         // of State
	PID      int       `json:"pid,omitempty"` // 0 while there is no process
	Started  time.Time `json:"-"`             // of the process
	Port     int       `json:"port,omitempty"`
	URL      string    `json:"url,omitempty"`
	Restarts int       `json:"restarts"` // starts after the first one
	RetryAt  time.Time `json:"-"`
	Err      string    `json:"error,omitempty"`   // of the last run, if it failed
	Trouble  string    `json:"trouble,omitempty"` // a problem around a process that runs

	Figures
}

// Figures are what a process of ours reports at /status; zero for others.
type Figures struct {
	Requests int64 `json:"requests"` // handled since its start
	Running  int   `json:"running"`
	Queued   int   `json:"queued"` // tool calls waiting
	Known    bool  `json:"-"`      // whether /status could be read
}

// Up is how long the process has been running, 0 if it is not.
func (s *Status) Up(now time.Time) time.Duration {
	if s.PID == 0 || s.Started.IsZero() {
		return 0
	}
	return now.Sub(s.Started)
}
