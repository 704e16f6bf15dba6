package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/process"
)

const (
	helperTimeout = 10 * time.Second // for the program to end
	maxHelper     = 64 << 10         // bytes of what it prints
	helperGrace   = 2 * time.Second  // for the rest of its output
)

// A helper has the headers that a program prints, as an object of strings in JSON. The program runs once for each connection, and
// again when the server refuses what it printed. No shell is involved.
//
// However many requests want headers, one of them runs the program, and the others get what it printed, or its error: rounds tells those
// who waited that it failed meanwhile.
type helper struct {
	server  config.Server
	timeout time.Duration
	running chan struct{} // held by who runs the program, of capacity 1

	mu     sync.Mutex        // guards what follows
	have   map[string]string // by canonical name; nil for unknown. Replaced as a whole
	fresh  bool              // the server has not yet taken them
	rounds int               // how often it failed
	failed error             // the last time
}

func newHelper(server config.Server, timeout time.Duration) *helper {
	if len(server.HeadersHelper) == 0 {
		return nil
	}
	return &helper{server: server, timeout: cmp.Or(timeout, helperTimeout), running: make(chan struct{}, 1)}
}

// Connecting says that a connection is made: what was good for the one before is found out again.
func (a *Authorizer) Connecting() {
	if h := a.helper; h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.have = nil
	}
}

func (h *helper) current() (have map[string]string, fresh bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.have, h.fresh
}

// set puts the headers into a request, in the place of those of the configuration.
func (h *helper) set(req *http.Request) error {
	have, _ := h.current()
	if have == nil {
		var err error
		if have, err = h.renew(req.Context(), nil); err != nil {
			return err
		}
	}
	for name, value := range have {
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return nil
}

// authorizes reports whether the Authorization header is the program's business.
func (h *helper) authorizes() bool {
	have, _ := h.current()
	_, is := have["Authorization"]
	return is
}

// handleResponse hears how the server took a request; again says that the program has printed other headers since.
func (h *helper) handleResponse(req *http.Request, resp *http.Response) (again bool, err error) {
	have, fresh := h.current()
	if resp.StatusCode != http.StatusUnauthorized {
		if resp.StatusCode < 400 {
			h.mu.Lock()
			h.fresh = false
			h.mu.Unlock()
		}
		return false, nil
	}
	for name, value := range have {
		if name != "Host" && req.Header.Get(name) != value {
			return true, nil // somebody was faster
		}
	}
	if !fresh {
		renewed, err := h.renew(req.Context(), have)
		if err != nil || !maps.Equal(renewed, have) {
			return err == nil, err
		}
	}
	if h.authorizes() {
		return false, h.failure(resp.StatusCode, errors.New("the server refuses the Authorization that it printed"))
	}
	return false, nil
}

// renew runs the program, unless somebody else has since old was current.
func (h *helper) renew(ctx context.Context, old map[string]string) (map[string]string, error) {
	before, _ := h.failures()
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if have, _ := h.current(); have != nil && !maps.Equal(have, old) {
		return have, nil
	}
	if rounds, failed := h.failures(); rounds != before {
		return nil, failed // that of who was waited for
	}
	printed, err := h.run(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err = h.failure(0, err)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.failed = err
		h.rounds++
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.have, h.fresh = printed, true
	return printed, nil
}

func (h *helper) failures() (rounds int, last error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rounds, h.failed
}

// failure is the error of a request for which there are no headers.
func (h *helper) failure(status int, err error) error {
	e := &failure.Error{
		Kind: failure.OAuth, Status: status, URL: mask.URL(h.server.URL), Stage: "authorizing", Err: err,
		Message: "the headers helper " + text.Clip(h.server.Masked().HeadersHelper[0], 100) + ": " + text.FirstLine(err.Error()),
		Next:    "run it by itself and see what it prints",
	}
	if ended := (*errHelper)(nil); errors.As(err, &ended) {
		e.Detail = ended.stderr
	}
	return e
}

// errHelper is a program that ended with an error.
type errHelper struct{ how, stderr string }

func (e *errHelper) Error() string { return e.how }

// run runs the program. Nothing of it is left afterwards.
func (h *helper) run(ctx context.Context) (map[string]string, error) {
	argv := h.server.HeadersHelper
	env := process.Environment(map[string]string{ // as Claude Code calls them
		"CLAUDE_CODE_MCP_SERVER_NAME": h.server.Name, "CLAUDE_CODE_MCP_SERVER_URL": h.server.URL,
	})
	dir := ""
	if f := h.server.Source.File; f != "" {
		dir = filepath.Dir(f)
	}
	path, err := process.Lookup(argv[0], env, dir)
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errs, theirErr, err := os.Pipe()
	if err != nil {
		_, _ = out.Close(), theirOut.Close()
		return nil, err
	}
	p, err := process.Start(process.Spec{Path: path, Name: argv[0], Args: argv[1:], Env: env, Dir: dir, Std: [3]*os.File{nil, theirOut, theirErr}})
	_, _ = theirOut.Close(), theirErr.Close()
	if err != nil {
		_, _ = out.Close(), errs.Close()
		return nil, process.Reason(err)
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	stdout, stderr := collect(out, cancel), collect(errs, func() {})
	select {
	case <-p.Exited():
	case <-ctx.Done():
	}
	tooLate := errors.Is(ctx.Err(), context.DeadlineExceeded)
	p.Signal(process.Kill) // with what it forked
	how := p.Reap()
	said, complaint := stdout(), stderr()
	switch {
	case len(said) > maxHelper:
		return nil, fmt.Errorf("it printed more than %s", text.Bytes(maxHelper))
	case tooLate:
		return nil, &errHelper{"it did not end within " + text.Duration(h.timeout), clipOutput(complaint)}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.ExitCode() != 0:
		return nil, &errHelper{"it " + how, clipOutput(complaint)}
	}
	return headersOf(said)
}

// collect reads at most one byte more than a helper may print; full is called when there is that much. The function that it
// returns waits for the end, or a while.
func collect(from *os.File, full func()) (wait func() []byte) {
	var b []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		b, _ = io.ReadAll(io.LimitReader(from, maxHelper+1)) // an end by error is an end
		if len(b) > maxHelper {
			full()
		}
	}()
	return func() []byte {
		select {
		case <-done:
		case <-time.After(helperGrace): // something that left the group has the other end
		}
		_ = from.Close()
		<-done
		return b
	}
}

// clipOutput is what a program wrote to stderr, for people.
func clipOutput(b []byte) string { return text.Clip(mask.Text(strings.TrimSpace(string(b))), 2000) }

// headersOf reads what a helper printed. No error quotes it.
func headersOf(b []byte) (map[string]string, error) {
	var printed map[string]string
	if err := json.Unmarshal(b, &printed); err != nil || printed == nil {
		return nil, errors.New("it did not print a JSON object of strings")
	}
	have := make(map[string]string, len(printed))
	for name, value := range printed {
		if !config.HeaderFits(name, value) {
			return nil, errors.New("it printed a header whose name or value HTTP does not allow")
		}
		have[http.CanonicalHeaderKey(name)] = value
	}
	return have, nil
}
