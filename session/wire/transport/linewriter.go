package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	writeStall = 10 * time.Second // how long a reader may take for one piece before it counts as not reading
	writePiece = 64 << 10         // bytes; what a pipe of Linux holds
)

// lineWriter writes frames, one a line, one at a time. Who gives up waiting for a turn has written nothing, and after a write that failed
// none follows: what the other side reads is whole frames, and at most one that breaks off at the end.
type lineWriter struct {
	w     io.Writer
	turn  chan struct{} // holds a token while nobody writes
	done  chan struct{} // closed when there is nothing to write to any more
	stall func(error)   // called when a write failed: what follows would be in the middle of a frame
}

func newLineWriter(w io.Writer, done chan struct{}, stall func(error)) *lineWriter {
	l := &lineWriter{w: w, turn: make(chan struct{}, 1), done: done, stall: stall}
	l.turn <- struct{}{}
	return l
}

// errEnded is the error of whoever waited for a turn when the connection ended; why it ended is what Receiver.Lost is told.
var errEnded = errors.New("the connection has ended")

// write writes frame and a line end. ctx bounds the waiting for a turn only: half a frame would break the stream.
func (l *lineWriter) write(ctx context.Context, frame []byte) error {
	select {
	case <-l.turn:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		return errEnded
	}
	err := l.pieces(frame)
	if err == nil {
		l.turn <- struct{}{}
		return nil
	}
	// The turn is never given back: nothing can be written after half a frame.
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the server does not read its input (waited %v)", writeStall)
	}
	l.stall(err)
	return err
}

// pieces writes a frame and its line end, a piece at a time, so that the deadline is one of each piece and not of the frame: a large one takes
// as long as it takes while somebody reads. The line end goes with the last piece, which is copied for that.
func (l *lineWriter) pieces(frame []byte) error {
	deadline, timed := l.w.(interface{ SetWriteDeadline(time.Time) error })
	for {
		n := min(len(frame), writePiece)
		piece := frame[:n]
		frame = frame[n:]
		if len(frame) == 0 {
			piece = append(append(make([]byte, 0, n+1), piece...), '\n')
		}
		if timed {
			// Files that cannot have a deadline say so; they are written to without one.
			_ = deadline.SetWriteDeadline(time.Now().Add(writeStall))
		}
		if _, err := l.w.Write(piece); err != nil {
			return err
		}
		if len(frame) == 0 {
			return nil
		}
	}
}
