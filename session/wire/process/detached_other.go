//go:build !linux

package process

// detached is nothing: the system does not tell whom a process descends from without a race.
type detached struct{}

func (detached) note(int)   {}
func (detached) count() int { return 0 }
func (detached) kill()      {}
func (detached) waitGone()  {}
func (detached) release()   {}

func countOthers(int) int { return 0 }
