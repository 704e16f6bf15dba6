package tap

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// Options describes a Producer.
type Options struct {
	Name string   // shown with its entries; default: Kind
	Kind string   // Router, Wrapped or Agent; default: Router
	Argv []string // the command line to show, unmasked; default: that of this process
	Dir  string   // for the socket; default: the first usable one of socket.Dirs
}

// Producer serves entries to up to 32 readers. Append never blocks: a reader that is too slow loses entries, and is told how
// many. All methods are safe for concurrent use, and do nothing on a nil Producer, which stands for no tap. It must be closed.
type Producer struct {
	hello Hello
	path  string
	ln    *net.UnixListener
	conns atomic.Uint32 // numbers for connections

	watched atomic.Int32              // readers
	end     atomic.Pointer[time.Time] // once closed: the deadline of all writes
	mu      sync.Mutex
	ring    ring
	readers map[*reader]struct{}
	closed  bool
	wg      sync.WaitGroup
}

// Open creates the socket and serves it. Errors name the folders that were tried.
func Open(o Options) (*Producer, error) {
	if o.Kind == "" {
		o.Kind = Router
	}
	if o.Name == "" {
		o.Name = o.Kind
	}
	if o.Argv == nil {
		o.Argv = os.Args
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("cannot open the tap: %w", err)
	}
	p := &Producer{
		hello: Hello{
			Version: Version, Name: clip(mask.Text(o.Name)), Kind: o.Kind, PID: os.Getpid(), Argv: publicArgv(o.Argv),
			Started: time.Now(), Instance: hex.EncodeToString(id),
		},
		ring: ring{first: 1, next: 1}, readers: map[*reader]struct{}{},
	}
	dirs := []string{o.Dir}
	if o.Dir == "" {
		dirs = unixsocket.Dirs()
	}
	name := fmt.Sprintf("%s%d-%s%s", socketPrefix, p.hello.PID, hex.EncodeToString(id[:3]), socketSuffix)
	var err error
	if p.ln, p.path, err = unixsocket.Listen(dirs, name); err != nil {
		return nil, fmt.Errorf("cannot open the tap: %w", err)
	}
	p.wg.Go(p.accept)
	return p, nil
}

// publicArgv is a command line with secrets masked, and bounded.
func publicArgv(argv []string) []string {
	out := mask.Args(argv)
	if len(out) > 64 {
		out = append(out[:64:64], "…")
	}
	for i := range out {
		out[i] = clip(out[i])
	}
	return out
}

func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, 512), "\uFFFD") }

// Names of sockets are PREFIX PID - RANDOM SUFFIX.
const (
	socketPrefix = "tap-"
	socketSuffix = ".sock"
)

// isSocket reports whether a file of that name in a folder of sockets is a producer's.
func isSocket(name string) bool {
	return strings.HasPrefix(name, socketPrefix) && strings.HasSuffix(name, socketSuffix)
}

// Path is the path of the socket, "" for a nil Producer.
func (p *Producer) Path() string {
	if p == nil {
		return ""
	}
	return p.path
}

// Watched reports whether there is a reader, for callers to whom an entry costs something.
func (p *Producer) Watched() bool { return p != nil && p.watched.Load() > 0 }

// Append adds an entry; a zero Time is now. With a zero Kind, body is a frame that is classified when it is sent. Up to
// MaxBody bytes of the body are copied.
func (p *Producer) Append(e journal.Entry, body []byte) {
	if p != nil {
		p.push(record{entry: e, time: e.Time}, body)
	}
}

// AppendPart is Append for the beginning of a body of size bytes.
func (p *Producer) AppendPart(e journal.Entry, body []byte, size int) {
	if p != nil {
		p.push(record{entry: e, time: e.Time, size: size}, body)
	}
}

// maxField is how many bytes are kept of names in an entry, such as an agent, an id or a method, which peers make up.
const maxField = 1 << 10

func (p *Producer) push(rec record, body []byte) {
	for _, s := range []*string{&rec.entry.Server, &rec.entry.ID, &rec.entry.Method, &rec.entry.Note, &rec.answer} {
		*s = text.Clip(*s, maxField)
	}
	if rec.time.IsZero() {
		rec.time = time.Now()
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	live := len(p.readers) > 0
	p.ring.push(rec, body, live)
	if live {
		for r := range p.readers {
			r.notify()
		}
	}
	p.mu.Unlock()
}

// Close closes the socket and, after they had up to two seconds for the rest, its readers.
func (p *Producer) Close() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	end := time.Now().Add(closeTimeout)
	p.end.Store(&end)
	for r := range p.readers {
		_ = r.c.SetWriteDeadline(time.Now().Add(lastWriteTimeout))
		r.notify()
	}
	p.mu.Unlock()
	_ = os.Remove(p.path) // before it is closed, so that nobody finds a dead socket
	err := p.ln.Close()
	p.wg.Wait()
	return err
}

// Time limits of a closed producer for one write to a reader, and for all of them.
const (
	lastWriteTimeout = 200 * time.Millisecond
	closeTimeout     = 2 * time.Second
)
