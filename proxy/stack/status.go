package stack

import "time"

// State is what a process is doing, in a word.
type State string

// The states.
const (
	Stopped  State = "stopped"
	Waiting  State = "waiting" // for what it comes after
	Starting State = "starting"
	Ready    State = "ready"
	Stopping State = "stopping"
	Failed   State = "failed" // will be started again at RetryAt
	Crashing State = "crash loop"
)

// Status is a process as it is now.
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
	Err      string    `json:"error,omitempty"`   // how the last process ended, if that was a failure
	Trouble  string    `json:"trouble,omitempty"` // what is wrong around a process that runs

	Figures
}

// Figures are what a process of ours tells about itself at /status; zero for others.
type Figures struct {
	Requests int64 `json:"requests"` // handled since its start
	Running  int   `json:"running"`
	Queued   int   `json:"queued"` // tool calls that wait
	Known    bool  `json:"-"`      // whether it told
}

// Up is how long the process has been there, 0 if it is not.
func (s *Status) Up(now time.Time) time.Duration {
	if s.PID == 0 || s.Started.IsZero() {
		return 0
	}
	return now.Sub(s.Started)
}
