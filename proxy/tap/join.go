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

	"github.com/mcphud/mcphud/proxy/socket"
	"github.com/mcphud/mcphud/session/backoff"
	"github.com/mcphud/mcphud/session/filewatch"
	"github.com/mcphud/mcphud/session/journal"
)

// Joiner follows all producers of this user.
type Joiner struct {
	dirs   []string
	ctx    context.Context
	stop   context.CancelFunc
	merge  *merger
	looked chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	known  map[string]*joined // by the path of the socket
	labels map[string]bool    // in use
	nextID uint64
	told   map[string]bool // folders that cannot be used
}

// joined is a producer whose socket is there.
type joined struct {
	id    uint64
	hello Hello
	label label
	busy  bool   // somebody reads it
	up    bool   // it said who it is on the connection that is read now
	last  uint64 // newest record that was taken
	tries int    // connections in a row that brought nothing
	retry time.Time
}

// Join finds the producers in dirs (none: socket.Dirs) and appends to j what they carry, in the order of time. It follows new
// ones, and comes back to those whose connection broke, until ctx ends or Close is called. j gets a State entry when one
// comes and when one goes.
func Join(ctx context.Context, j *journal.Journal, dirs ...string) *Joiner {
	if len(dirs) == 0 {
		dirs = socket.Dirs()
	}
	ctx, stop := context.WithCancel(ctx)
	t := &Joiner{
		dirs: dirs, ctx: ctx, stop: stop, merge: newMerger(j), looked: make(chan struct{}),
		known: map[string]*joined{}, labels: map[string]bool{}, told: map[string]bool{},
	}
	t.wg.Go(t.follow)
	return t
}

// Looked is closed when all folders were looked through once.
func (t *Joiner) Looked() <-chan struct{} { return t.looked }

// Found is how many sockets there are, also of producers that have not said who they are.
func (t *Joiner) Found() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.known)
}

// Producers are the ones that are being read.
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

// Close ends it, and returns when nothing is appended any more.
func (t *Joiner) Close() {
	t.stop()
	t.wg.Wait()
	t.merge.close()
}

// lookEvery is how often folders are looked through where nothing tells of changes.
const lookEvery = time.Second

// follow looks through the folders whenever something changes there.
func (t *Joiner) follow() {
	changes := filewatch.New(lookEvery, 0)
	defer changes.Close()
	for first := true; ; first = false {
		for _, dir := range t.dirs {
			// The best folder is made, so that a producer that comes there is noticed at once.
			if err := socket.Private(dir); err != nil && (!errors.Is(err, os.ErrNotExist) || dir != t.dirs[0] || socket.Ensure(dir) != nil) {
				changes.Forget(dir)
				t.complain(dir, err)
				continue
			}
			changes.Folder(dir)
			t.look(dir)
		}
		if first {
			close(t.looked)
		}
		select {
		case <-t.ctx.Done():
			return
		case <-changes.Changed():
		}
	}
}

// complain says once that a folder cannot be used.
func (t *Joiner) complain(dir string, err error) {
	if errors.Is(err, os.ErrNotExist) || t.told[dir] {
		return
	}
	t.told[dir] = true
	t.say(journal.Entry{Server: "tap", Note: err.Error() + "; what is in it is not shown"})
}

func (t *Joiner) say(e journal.Entry) {
	e.Kind, e.Time = journal.State, time.Now()
	t.merge.add(item{entry: e})
}

// look begins to read the producers of a folder that are not read yet, and forgets those that are gone.
func (t *Joiner) look(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // it was there a moment ago; next time it is or it is not
	}
	there := map[string]bool{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if f.Type()&os.ModeSocket == 0 || !isSocket(f.Name()) {
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
			t.wg.Go(func() { t.attend(path, p) })
		}
	}
	for path, p := range t.known {
		if filepath.Dir(path) == dir && !there[path] && !p.busy {
			delete(t.known, path)
			delete(t.labels, p.label.String())
		}
	}
}

// attend reads one producer until its connection ends.
func (t *Joiner) attend(path string, p *joined) {
	n, err := t.readFrom(path, p)
	if p.up && t.ctx.Err() == nil {
		why := "ended"
		if _, gone := os.Lstat(path); gone == nil && err != nil && !errors.Is(err, io.EOF) {
			why = "lost: " + err.Error()
		}
		t.say(journal.Entry{Server: p.label.String(), Note: why})
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
	p.retry = time.Now().Add(backoff.Wait(p.tries, 100*time.Millisecond, 10*time.Second))
}

// errVersion is a producer of another version.
var errVersion = errors.New("it speaks another version of the stream; use the same mcphud for both")

// readFrom reads one connection and returns how many entries came.
func (t *Joiner) readFrom(path string, p *joined) (n int, err error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		if socket.Stale(err) {
			_ = os.Remove(path)
		}
		return 0, err
	}
	defer context.AfterFunc(t.ctx, func() { _ = c.Close() })()
	defer func() { _ = c.Close() }()
	if err := socket.CheckPeer(c); err != nil {
		return 0, err
	}
	r := bufio.NewReaderSize(c, 64<<10)
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	if err := t.greet(r, p); err != nil {
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
			if h.Seq < p.last || h.Seq == p.last && n == 0 { // it was here before the connection broke
				continue
			}
			p.last = h.Seq
			n++
			t.merge.add(p.item(h, body))
		case msgDropped:
			var d dropped
			if json.Unmarshal(text, &d) == nil {
				t.say(journal.Entry{Server: p.label.String(), Note: fmt.Sprintf("%d entries were dropped: they came faster than they were read", d.Dropped)})
			}
		}
	}
}

// helloTime is how long a producer may take to say who it is.
const helloTime = 5 * time.Second

// greet takes the hello.
func (t *Joiner) greet(r *bufio.Reader, p *joined) error {
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
		p.label = t.free(h)
		p.hello = h
	}
	t.mu.Unlock()
	if h.Version != Version {
		if !again {
			t.say(journal.Entry{Server: p.label.String(), Note: fmt.Sprintf("process %d: %v", h.PID, errVersion)})
		}
		return errVersion
	}
	word := "joined"
	if again {
		word = "joined again"
	}
	t.say(journal.Entry{Server: p.label.String(), Note: fmt.Sprintf("%s: %s, process %d: %s", word, h.Kind, h.PID, strings.Join(h.Argv, " "))})
	return nil
}

// free is a label that no other producer has. Called with the lock held.
func (t *Joiner) free(h Hello) label {
	l := label{name: clip(h.Name), router: h.Kind == Router, n: 1}
	for t.labels[l.String()] {
		l.n++
	}
	t.labels[l.String()] = true
	return l
}
