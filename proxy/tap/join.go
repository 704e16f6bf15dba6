package tap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// Joiner reads all producers of this user.
type Joiner struct {
	dirs    []string
	only    func(trace string) bool // which entries are taken; nil for all
	socket  string                  // of the one producer that is read; "" for all
	ctx     context.Context
	stop    context.CancelFunc
	merge   *merger
	scanned chan struct{}
	wg      sync.WaitGroup

	mu       sync.Mutex
	known    map[string]*joined // by the path of the socket
	labels   map[string]bool    // in use
	nextID   uint64
	reported map[string]bool // unusable folders
}

// joined is a producer whose socket exists.
type joined struct {
	id    uint64
	hello Hello
	label label
	busy  bool   // a goroutine reads it
	up    bool   // its hello was received on the current connection
	last  uint64 // number of the newest record received
	tries int    // consecutive connections without an entry
	retry time.Time
	open  map[request]string // methods of requests without an answer, by what an answer names
}

// Join finds the producers in dirs (default: socket.Dirs) and appends their entries to j, ordered by time. It notices new
// producers and reconnects to lost ones until ctx ends or Close is called. j gets a State entry when a producer joins and
// when it ends.
func Join(ctx context.Context, j *journal.Journal, dirs ...string) *Joiner {
	return JoinTraces(ctx, j, nil, dirs...)
}

// JoinOne is Join for the producer of one socket.
func JoinOne(ctx context.Context, j *journal.Journal, socket string) *Joiner {
	return join(ctx, j, nil, socket, []string{filepath.Dir(socket)})
}

// JoinTraces is Join for the entries of some traces only, beside what j has otherwise: who comes and goes is not noted.
func JoinTraces(ctx context.Context, j *journal.Journal, only func(trace string) bool, dirs ...string) *Joiner {
	if len(dirs) == 0 {
		dirs = unixsocket.Dirs()
	}
	return join(ctx, j, only, "", dirs)
}

func join(ctx context.Context, j *journal.Journal, only func(trace string) bool, socket string, dirs []string) *Joiner {
	ctx, stop := context.WithCancel(ctx)
	t := &Joiner{
		dirs: dirs, only: only, socket: socket, ctx: ctx, stop: stop, merge: newMerger(j), scanned: make(chan struct{}),
		known: map[string]*joined{}, labels: map[string]bool{}, reported: map[string]bool{},
	}
	t.wg.Go(t.follow)
	return t
}

// Scanned is closed when all folders were scanned once.
func (t *Joiner) Scanned() <-chan struct{} { return t.scanned }

// Found is the number of sockets, including those whose producer has not sent its hello.
func (t *Joiner) Found() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.known)
}

// Producers returns those that are being read.
func (t *Joiner) Producers() (out []Hello) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.known {
		if p.busy && p.hello.Version != 0 {
			out = append(out, p.hello)
		}
	}
	return out
}

// Close stops reading, and returns when nothing is appended any more.
func (t *Joiner) Close() {
	t.stop()
	t.wg.Wait()
	t.merge.close()
}

// scanInterval is how often folders are scanned where the system does not report changes.
const scanInterval = time.Second

// follow scans the folders whenever something changes there.
func (t *Joiner) follow() {
	changes := files.NewWatcher(scanInterval, 0)
	defer changes.Close()
	for first := true; ; first = false {
		for _, dir := range t.dirs {
			// The first folder is created, so that the first producer there is noticed at once.
			if err := unixsocket.Private(dir); err != nil && (!errors.Is(err, os.ErrNotExist) || dir != t.dirs[0] || unixsocket.Ensure(dir) != nil) {
				changes.Forget(dir)
				t.report(dir, err)
				continue
			}
			changes.Folder(dir)
			t.scan(dir)
		}
		if first {
			close(t.scanned)
		}
		select {
		case <-t.ctx.Done():
			return
		case <-changes.Changed():
		}
	}
}

// report notes once that a folder cannot be used.
func (t *Joiner) report(dir string, err error) {
	if errors.Is(err, os.ErrNotExist) || t.reported[dir] {
		return
	}
	t.reported[dir] = true
	t.note(journal.Entry{Server: "tap", Note: err.Error() + "; its producers are not shown"})
}

func (t *Joiner) note(e journal.Entry) {
	if t.only != nil {
		return
	}
	e.Kind, e.Time = journal.State, time.Now()
	t.merge.add(item{entry: e})
}

// scan starts reading new producers of a folder, and removes those that are gone.
func (t *Joiner) scan(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // removed since; the next scan will tell
	}
	there := map[string]bool{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range entries {
		path := filepath.Join(dir, f.Name())
		if f.Type()&os.ModeSocket == 0 || !isSocket(f.Name()) || t.socket != "" && path != t.socket {
			continue
		}
		there[path] = true
		p := t.known[path]
		if p == nil {
			t.nextID++
			p = &joined{id: t.nextID}
			t.known[path] = p
		}
		if !p.busy && !time.Now().Before(p.retry) {
			p.busy = true
			t.wg.Go(func() { t.readProducer(path, p) })
		}
	}
	for path, p := range t.known {
		if filepath.Dir(path) == dir && !there[path] && !p.busy {
			delete(t.known, path)
			delete(t.labels, p.label.String())
		}
	}
}

// readProducer reads a producer until its connection ends.
func (t *Joiner) readProducer(path string, p *joined) {
	n, err := t.readFrom(path, p)
	if p.up && t.ctx.Err() == nil {
		why := "ended"
		if _, gone := os.Lstat(path); gone == nil && err != nil && !errors.Is(err, io.EOF) {
			why = "lost: " + err.Error()
		} else {
			t.abandon(p)
		}
		t.note(journal.Entry{Server: p.label.String(), Note: why})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p.busy, p.up = false, false
	if n > 0 {
		p.tries = 0
		p.retry = time.Time{}
		return
	}
	p.tries++
	p.retry = time.Now().Add(failure.Backoff(p.tries, 100*time.Millisecond, 10*time.Second))
}

// errVersion is a producer with another version of the stream.
var errVersion = errors.New("incompatible version of the tap stream; use the same mcphud for both")

// readFrom reads one connection and returns how many entries came.
func (t *Joiner) readFrom(path string, p *joined) (n int, err error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		if unixsocket.Stale(err) {
			_ = os.Remove(path)
		}
		return 0, err
	}
	defer context.AfterFunc(t.ctx, func() { _ = c.Close() })()
	defer func() { _ = c.Close() }()
	if err := unixsocket.CheckPeer(c); err != nil {
		return 0, err
	}
	r := bufio.NewReaderSize(c, 64<<10)
	_ = c.SetReadDeadline(time.Now().Add(helloTimeout))
	if err := t.readHello(r, p); err != nil {
		return 0, err
	}
	p.up = true
	_ = c.SetReadDeadline(time.Time{})
	for {
		kind, text, body, err := read(r)
		if err != nil {
			return n, err
		}
		switch kind {
		case msgEntry:
			var h head
			if err := json.Unmarshal(text, &h); err != nil {
				return n, fmt.Errorf("%w: %w", errStream, err)
			}
			if h.Seq < p.last || h.Seq == p.last && n == 0 { // received before the connection was lost
				continue
			}
			p.last = h.Seq
			n++
			if t.only == nil || t.only(h.Trace) {
				i := p.item(h, body)
				p.follow(&i.entry)
				t.merge.add(i)
			}
		case msgDropped:
			var d dropped
			if json.Unmarshal(text, &d) == nil {
				t.note(journal.Entry{Server: p.label.String(), Note: fmt.Sprintf("%d entries dropped: reader too slow", d.Dropped)})
			}
		}
	}
}

// helloTimeout is how long a producer may take to send its hello.
const helloTimeout = 5 * time.Second

// readHello reads the hello and gives the producer a label.
func (t *Joiner) readHello(r *bufio.Reader, p *joined) error {
	kind, text, _, err := read(r)
	if err != nil {
		return err
	}
	var h Hello
	if kind != msgHello || json.Unmarshal(text, &h) != nil || h.Version == 0 {
		return errStream
	}
	t.mu.Lock()
	again := p.hello.Instance == h.Instance && h.Instance != ""
	if !again {
		delete(t.labels, p.label.String())
		p.last = 0
		p.label = t.freeLabel(h)
		p.hello = h
	}
	t.mu.Unlock()
	if h.Version != Version {
		if !again {
			t.note(journal.Entry{Server: p.label.String(), Note: fmt.Sprintf("process %d: %v", h.PID, errVersion)})
		}
		return errVersion
	}
	word := "joined"
	if again {
		word = "rejoined"
	}
	t.note(journal.Entry{Server: p.label.String(), Note: fmt.Sprintf("%s: %s, process %d: %s", word, h.Kind, h.PID, strings.Join(h.Argv, " "))})
	return nil
}

// freeLabel returns a label that no other producer has. The caller holds t.mu.
func (t *Joiner) freeLabel(h Hello) label {
	l := label{name: clip(h.Name), hop: Wrapped, n: 1}
	if h.Kind == Router || h.Kind == Agent {
		l.hop = h.Kind
	}
	for t.labels[l.String()] {
		l.n++
	}
	t.labels[l.String()] = true
	return l
}
