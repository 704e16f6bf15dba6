package kept

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

const (
	askTime   = 5 * time.Second
	closeTime = time.Minute // servers are given time to leave
	maxAnswer = 128 << 20

	maxRefusal = 4 << 10
)

// StatusOf asks a session for its status.
func StatusOf(ctx context.Context, name string) (st Status, err error) {
	return st, ask(ctx, name, http.MethodGet, PathStatus, nil, &st)
}

// Close ends a session. When it returns its server's process is gone.
func Close(ctx context.Context, name string) error {
	return ask(ctx, name, http.MethodPost, PathClose, nil, nil)
}

// Keep gives a call to its session, to wait there for an answer; with an ID it replaces what waited under it.
func Keep(ctx context.Context, name string, call Waiting) (Waiting, error) {
	text, err := json.Marshal(call)
	if err != nil {
		return Waiting{}, err
	}
	var kept Waiting
	return kept, ask(ctx, name, http.MethodPost, PathWaiting, text, &kept)
}

// Take is a call that waits, with its request, for the one who answers it: nobody else gets it until release is called, or the call is kept again
// or forgotten. The error wraps ErrNotWaiting or ErrTaken.
func Take(ctx context.Context, id string) (name string, call Waiting, release func(), err error) {
	name = SessionOf(id)
	if name == "" {
		return "", call, nil, ErrNotWaiting
	}
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(askTime, cancel)
	res, err := request(ctx, name, http.MethodGet, PathWaiting+"/"+url.PathEscape(id), nil)
	if err != nil {
		cancel()
		return name, call, nil, err
	}
	release = func() { cancel(); _ = res.Body.Close() } // the connection says that it is answered
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&call); err != nil || !late.Stop() {
		release()
		return name, call, nil, fmt.Errorf("session %s: what it says is not understood: %w", name, cmp.Or(err, context.DeadlineExceeded))
	}
	return name, call, release, nil
}

// Forget takes a call away that was answered.
func Forget(ctx context.Context, id string) error {
	return ask(ctx, SessionOf(id), http.MethodDelete, PathWaiting+"/"+url.PathEscape(id), nil, nil)
}

// ID names a call of a session.
func ID(name string, n int64) string { return fmt.Sprintf("%s-%d", name, n) }

// SessionOf is the name of the session that a call waits in, "" for what is not an id.
func SessionOf(id string) string {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return ""
	}
	return id[:i]
}

// dial connects to a socket of this user's.
func dial(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if u, ok := c.(*net.UnixConn); ok {
		if err := unixsocket.CheckPeer(u); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// ask makes one request of the process that keeps a session, and reads its answer.
func ask(ctx context.Context, name, method, page string, body []byte, answer any) error {
	limit := askTime
	if page == PathClose {
		limit = closeTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := request(ctx, name, method, page, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("session %s: %w", name, err)
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("session %s: what it says is not understood: %w", name, err)
	}
	return nil
}

// request sends one request, and gives the answer if it is what was asked for.
func request(ctx context.Context, name, method, page string, body []byte) (*http.Response, error) {
	path, err := Find(name)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, path) }}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+page, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := (&http.Client{Transport: t}).Do(req)
	switch {
	case err != nil && unixsocket.Stale(err):
		return nil, fmt.Errorf("%s: %w: its process is gone", name, ErrNone)
	case err != nil:
		return nil, fmt.Errorf("session %s: %w", name, err)
	case res.StatusCode < 300:
		return res, nil
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound && strings.HasPrefix(page, PathWaiting):
		return nil, ErrNotWaiting
	case res.StatusCode == http.StatusConflict:
		return nil, ErrTaken
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // what of it came
	return nil, fmt.Errorf("session %s: %s", name, strings.TrimSpace(string(text)))
}

// ErrNotWaiting is the error for a call that does not wait, or not any more.
var ErrNotWaiting = errors.New("no such call waits for an answer: it was answered, given up or never asked")

// ErrTaken is the error for a call that somebody else answers at this moment.
var ErrTaken = errors.New("somebody else answers this call at this moment")
