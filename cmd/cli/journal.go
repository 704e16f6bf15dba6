package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/muesli/cancelreader"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/importer"
)

// OpenJournal opens a file of recorded traffic; - is standard input.
func (a *App) OpenJournal(ctx context.Context, name string) (*importer.File, error) {
	source, title := a.In, "standard input"
	if name != "-" {
		if fi, err := os.Stat(name); err != nil || fi.Mode()&fs.ModeNamedPipe == 0 {
			f, err := importer.Open(name)
			return f, FileError(err)
		}
		pipe, err := openPipe(ctx, name)
		if err != nil {
			return nil, err
		}
		source, title = pipe, name
	}
	var in io.ReadCloser = io.NopCloser(source)
	if fi, err := source.Stat(); err == nil && !fi.Mode().IsRegular() { // a read of it can wait
		r, err := cancelreader.NewReader(source)
		if err != nil {
			return nil, err
		}
		in = cancelling{r}
		defer context.AfterFunc(ctx, func() { r.Cancel() })()
	}
	f, err := importer.Read(in, title)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return f, FileError(err)
}

// openPipe opens a named pipe, which waits for somebody who writes to it.
func openPipe(ctx context.Context, name string) (*os.File, error) {
	var f *os.File
	opened := make(chan error, 1)
	go func() {
		var err error
		f, err = os.Open(name)
		opened <- err
	}()
	select {
	case err := <-opened:
		return f, FileError(err)
	case <-ctx.Done(): // the wait ends with the process
		return nil, ctx.Err()
	}
}

// cancelling is a reader whose Close ends a Read that waits.
type cancelling struct{ cancelreader.CancelReader }

func (c cancelling) Close() error {
	c.Cancel()
	return nil
}

// FileError explains an error about a file of recorded traffic.
func FileError(err error) error {
	if err == nil {
		return nil
	}
	next := "name a file of recorded traffic; mcphud help journal says which there are"
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		next = "name a file that can be read"
	}
	return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: next}
}

// Whole opens a file and waits until it is read. What of it cannot be read is said on stderr.
func (a *App) Whole(ctx context.Context, name string) (*importer.File, error) {
	f, err := a.OpenJournal(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := f.Wait(ctx); err != nil {
		a.Unread(f)
		if ctx.Err() != nil {
			_ = f.Close()
			return nil, ctx.Err()
		}
		if f.Len() == 0 {
			_ = f.Close()
			return nil, FileError(err)
		}
		a.Note("mcphud: " + err.Error())
		return f, nil
	}
	a.Unread(f)
	return f, nil
}

// Unread says on stderr what of a file could not be read.
func (a *App) Unread(f *importer.File) {
	for _, line := range Problems(f.Progress()) {
		a.Note("mcphud: " + f.Name + ": " + line)
	}
}

// Problems are what of a file could not be read, or was left out.
func Problems(p importer.Progress) (list []string) {
	if p.Bad > 0 {
		list = append(list, fmt.Sprintf("%s; the first: %v", text.Count(p.Bad, "part that cannot be read", "parts that cannot be read"), p.First))
	}
	if p.Partial > 0 {
		list = append(list, fmt.Sprintf("the last line is not complete (%s): it is being written, or was cut", text.Bytes(p.Partial)))
	}
	if p.Other > 0 {
		list = append(list, text.Count(p.Other, "HTTP request", "HTTP requests")+" not about MCP left out")
	}
	return list
}
