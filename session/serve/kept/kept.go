// Package kept finds the sessions that processes of this user keep for many commands, and asks those processes about them.
//
// A kept session is a Unix socket in a folder that only this user can open ([unixsocket.Dirs]). /mcp there is the server; what this
// package asks is beside it: /status, /close, and /waiting, the calls that wait for an answer.
package kept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// Paths of the socket.
const (
	PathMCP     = "/mcp"
	PathStatus  = "/status"
	PathClose   = "/close"
	PathWaiting = "/waiting"
)

// Status is what a kept session says of itself.
type Status struct {
	Name     string    `json:"name"`
	Server   string    `json:"server"`          // the command or URL, with secrets masked
	Title    string    `json:"title,omitempty"` // as the server calls itself
	State    string    `json:"state"`           // of the connection with the server
	Error    string    `json:"error,omitempty"` // why it is not connected
	Opening  bool      `json:"opening"`         // its server has not answered yet
	Ended    bool      `json:"ended"`           // its server's process did, and the session can only be closed
	PID      int       `json:"pid"`             // of the process that keeps it
	Child    int       `json:"serverPid,omitempty"`
	Opened   time.Time `json:"opened"`
	Used     time.Time `json:"used"` // when the last request ended
	Limit    int64     `json:"idleLimitMs"`
	Terminal int       `json:"terminal,omitempty"` // the process whose end is its end; 0 for none
	Calls    int64     `json:"calls"`
	Running  int       `json:"running"` // requests under way
	Waiting  []Waiting `json:"waiting"`
	Socket   string    `json:"socket"`
	Tap      string    `json:"tap,omitempty"` // the socket that shows what is said with the server
}

// Waiting is a call that waits for somebody to answer what its server asked.
type Waiting struct {
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Target string          `json:"target,omitempty"` // the tool, prompt or resource
	Asked  json.RawMessage `json:"asked"`            // a list, as in the error of the call
	Since  time.Time       `json:"since"`
	Until  time.Time       `json:"until"` // when it is given up
	// Params and Result are the request and the result that asks for input. A list has none of them.
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

const (
	prefix = "kept."
	suffix = ".sock"
)

// Socket is the file name of a session's socket. A dash would make it one of those that a process id is read from.
func Socket(name string) string { return prefix + strings.ReplaceAll(name, "-", "+") + suffix }

// nameOf is the name of the session that a socket is of, "" for another file.
func nameOf(file string) string {
	rest, is := strings.CutPrefix(file, prefix)
	name, ends := strings.CutSuffix(rest, suffix)
	name = strings.ReplaceAll(name, "+", "-")
	if !is || !ends || !config.ValidName(name) {
		return ""
	}
	return name
}

// ErrNone is wrapped by the error for a session that is not there.
var ErrNone = errors.New("no session of that name is open")

// ErrEnded is wrapped by the error for a session whose server's process is gone: another one would know nothing of what this one was told.
var ErrEnded = errors.New("the server's process ended, and what it knew with it")

// ErrOpening is wrapped by the error for a session that takes no calls yet.
var ErrOpening = errors.New("its server is not connected yet")

// Find is the path of a session's socket. The folder must be this user's own.
func Find(name string) (path string, err error) {
	if !config.ValidName(name) {
		return "", fmt.Errorf("%q: %w", name, ErrNone)
	}
	for _, dir := range unixsocket.Dirs() {
		path := filepath.Join(dir, Socket(name))
		if fi, err := os.Lstat(path); err != nil || fi.Mode()&fs.ModeSocket == 0 {
			continue
		}
		if err := unixsocket.Private(dir); err != nil {
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("%s: %w", name, ErrNone)
}

// Names are those of the sessions that there are, sorted, also of those that no longer answer.
func Names() (all []string) {
	for _, dir := range unixsocket.Dirs() {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) == 0 || unixsocket.Private(dir) != nil {
			continue
		}
		for _, f := range files {
			if name := nameOf(f.Name()); name != "" && f.Type()&fs.ModeSocket != 0 && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// List asks all sessions, at once, for their status. Those that no longer answer are left out.
func List(ctx context.Context) []Status {
	names := Names()
	found := make([]*Status, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			if st, err := StatusOf(ctx, name); err == nil {
				found[i] = &st
			}
		})
	}
	wg.Wait()
	all := []Status{}
	for _, st := range found {
		if st != nil {
			all = append(all, *st)
		}
	}
	return all
}

// Server is how a command talks to a kept session, whose process is there.
func Server(ctx context.Context, name string) (config.Server, error) {
	st, err := StatusOf(ctx, name)
	switch {
	case err != nil:
		return config.Server{}, err
	case st.Opening:
		return config.Server{}, fmt.Errorf("session %s: %w", name, ErrOpening)
	case st.Ended:
		return config.Server{}, fmt.Errorf("session %s: %w: %s", name, ErrEnded, st.Error)
	}
	return config.Server{Name: name, Transport: config.HTTP, URL: "http+unix://" + url.PathEscape(st.Socket) + PathMCP, Protocol: mcp.LATEST_PROTOCOL_VERSION}, nil
}
