package tui

import (
	"bufio"
	"context"
	"io"

	"github.com/muesli/cancelreader"
)

// readLines reads lines in a goroutine; the channel closes at the end of the input. Lines beyond 1 MiB end the input. Once ctx has
// ended, stop ends the goroutine too, unless in is neither a terminal nor a pipe nor a file and does not return from Read.
func readLines(ctx context.Context, in io.Reader) (lines <-chan string, stop func()) {
	r, err := cancelreader.NewReader(in)
	if err == nil {
		in = r
	}
	ch := make(chan string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(ch)
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			select {
			case ch <- sc.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return ch, func() {
		if r != nil && r.Cancel() {
			<-done
			_ = r.Close() // its own files; in stays open
		}
	}
}

// promptLine writes what linear mode prints, and between that a prompt on terminals: "tools> ".
type promptLine struct {
	w     io.Writer
	on    bool
	shown bool // nothing was typed or printed since
}

func (p *promptLine) Write(b []byte) (int, error) {
	if p.shown {
		p.shown = false
		if _, err := io.WriteString(p.w, "\n"); err != nil {
			return 0, err
		}
	}
	return p.w.Write(b)
}

// prompt asks for the next line.
func (p *promptLine) prompt(text string) {
	if p.on && !p.shown {
		_, err := io.WriteString(p.w, text+"> ")
		p.shown = err == nil // an error comes back with the next line that is printed
	}
}
