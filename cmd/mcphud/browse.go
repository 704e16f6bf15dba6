package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/mcphud/mcphud/session/failure"
)

// browsers are the programs that open a page in the user's browser, by operating system. The URL is an argument of its own: no shell
// reads it.
var browsers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// browse opens a page. A browser that was started is the user's: it outlives this program, and nobody waits for its end.
func browse(ctx context.Context, url string) error {
	line, ok := browsers[runtime.GOOS]
	if !ok {
		line = []string{"xdg-open"}
	}
	cmd := exec.Command(line[0], append(line[1:len(line):len(line)], url)...)
	if err := cmd.Start(); err != nil {
		return noBrowser(line[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return noBrowser(line[0], err)
		}
	case <-time.After(3 * time.Second): // it is the browser itself
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func noBrowser(program string, err error) error {
	return &failure.Error{Kind: failure.SpawnFailed, Stage: "opening a page", Message: fmt.Sprintf("%s: %v", program, err), Next: "copy the URL and open it yourself", Err: err}
}
