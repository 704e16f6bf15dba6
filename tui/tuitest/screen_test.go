package tuitest

import (
	"io"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What the terminal answers waits for whoever reads: a program that asks and reads nothing goes on.
func TestAnswersWait(t *testing.T) {
	t.Parallel()
	s := newScreen(80, 24, true)
	in := s.input()
	for range 3 {
		_, err := s.Write([]byte("\x1b[?2026$p\x1b[?2027$p"))
		assert.NoError(t, err)
	}
	s.close()
	b, err := io.ReadAll(in)
	assert.NoError(t, err)
	assert.Equal(t, strings.Count(string(b), "$y"), 6)
}
