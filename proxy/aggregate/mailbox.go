package aggregate

import (
	"bytes"
	"slices"
	"sync"
)

// mailbox holds messages for a stream; of too many the oldest go.
type mailbox struct {
	wake   chan struct{}
	mu     sync.Mutex
	all    [][]byte
	size   int // bytes of all
	closed bool
}

const (
	maxMail  = 1024
	maxBytes = 1 << 20      // of one message that belongs to no request
	maxTotal = 4 * maxBytes // of those that wait
)

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) put(frames ...[]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range frames {
		if len(f) > maxBytes || slices.ContainsFunc(m.all, func(have []byte) bool { return bytes.Equal(have, f) && changed(f) }) {
			continue
		}
		for len(m.all) >= maxMail || m.size+len(f) > maxTotal {
			m.size -= len(m.all[0])
			m.all[0], m.all = nil, m.all[1:]
		}
		m.all = append(m.all, f)
		m.size += len(f)
	}
	m.signal()
}

// changed reports whether a message says that something changed, which need not be said twice.
func changed(frame []byte) bool {
	return len(frame) < 1<<10 && bytes.Contains(frame, []byte("changed"))
}

// prepend puts a message before those that are there.
func (m *mailbox) prepend(frame []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append([][]byte{frame}, m.all...)
	m.size += len(frame)
	m.signal()
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.all
	m.all, m.size = nil, 0
	return all
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.signal()
}

func (m *mailbox) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}
