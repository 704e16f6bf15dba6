//go:build !linux

package bench

import "time"

// alarm ends sleeps.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

func (*alarm) sleep(d time.Duration) { time.Sleep(d) }

func (*alarm) close() {}
