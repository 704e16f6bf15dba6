package faketest

import (
	"bytes"
	"sync"
)

// Buffer is a bytes.Buffer for several goroutines: a log, or what a process writes, that is read while it grows.
type Buffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write appends p; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

// String is what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}
