package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/process"
)

// settled is how long a program may run before it is taken for the browser itself, which lasts.
const settled = 3 * time.Second

// Open opens a page in the user's browser: a program of BROWSER, a list as xdg-open has it, or that of the system. The URL is an
// argument of its own, http or https, and no shell reads it. A browser that was started is the user's: it outlives this program, and a
// ctrl-c here does not reach it.
func Open(ctx context.Context, page string) error {
	if err := checkPage(page); err != nil {
		return err
	}
	var first error
	for _, line := range programs(page) {
		err := start(ctx, line)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Unavailable says why no browser can be opened here, "" where one can be.
func Unavailable() string {
	for _, name := range []string{"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"} {
		if os.Getenv(name) != "" {
			return "this is a session over SSH"
		}
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return ""
	}
	if os.Getenv("BROWSER")+os.Getenv("DISPLAY")+os.Getenv("WAYLAND_DISPLAY") == "" {
		return "there is no display"
	}
	return ""
}

// checkPage refuses what no browser is for.
func checkPage(page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return &failure.Error{Kind: failure.OAuth, Stage: "opening a page", Message: fmt.Sprintf("%.200q is not opened: only http and https are", mask.URL(page)), Next: "open it yourself if you trust it"}
	}
	return nil
}

// programs are the command lines to try.
func programs(page string) (all [][]string) {
	for _, one := range filepath.SplitList(os.Getenv("BROWSER")) {
		line := strings.Fields(one)
		if len(line) == 0 {
			continue
		}
		placed := false
		for i, word := range line[1:] {
			if strings.Contains(word, "%s") {
				line[i+1], placed = strings.ReplaceAll(word, "%s", page), true
			}
		}
		if !placed {
			line = append(line, page)
		}
		all = append(all, line)
	}
	switch {
	case all != nil:
		return all
	case runtime.GOOS == "darwin":
		return [][]string{{"open", page}}
	case runtime.GOOS == "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler", page}}
	}
	return [][]string{{"xdg-open", page}}
}

// start runs one program, until it has either ended or settled.
func start(ctx context.Context, line []string) error {
	cmd := exec.Command(line[0], line[1:]...)
	process.Group(cmd)
	failed := func(err error) error {
		if errors.Is(err, exec.ErrNotFound) {
			err = process.ErrNotFound
		}
		return &failure.Error{Kind: failure.SpawnFailed, Stage: "opening a page", Message: fmt.Sprintf("%s: %v", line[0], err), Next: "open the URL yourself", Err: err}
	}
	if err := cmd.Start(); err != nil {
		return failed(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the browser
	select {
	case err := <-ended:
		if err != nil {
			return failed(err)
		}
	case <-time.After(settled):
	case <-ctx.Done():
	}
	return nil
}
