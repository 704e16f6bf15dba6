package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
)

// A named pipe that nobody writes to does not keep a command that is interrupted.
func TestInterruptedNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (&app{&cli.App{}}).OpenJournal(ctx, name); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w, err := os.OpenFile(name, os.O_WRONLY, 0) // ends the wait of the reader
	require.NoError(t, err)
	_ = w.Close()
}
