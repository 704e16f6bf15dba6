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

	"github.com/mcphud/mcphud/proxy/socket"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/mask"
	"github.com/mcphud/mcphud/session/text"
)

// Options says who a Producer is.
type Options struct {
	Name string   // shown beside its entries; "" is the kind
	Kind string   // Router or Wrapped; "" is Router
	Argv []string // the command line to show, secrets are masked; nil is this process's own
	Dir  string   // where the socket goes; "" is the first of socket.Dirs that can be used
}

// Producer hands over what it carries to any number of readers. Whoever appends never waits for one of them: a reader that
// is too slow loses entries, and is told how many. All methods are safe for concurrent use, and do nothing on a nil
// Producer, which is what traffic goes through when there is no tap.
type Producer struct {
	hello Hello
	path  string
	ln    *net.UnixListener
	conns atomic.Uint32 // numbers for connections

	watched atomic.Int32              // readers
	end     atomic.Pointer[time.Time] // once closed: when readers must have everything
	mu      sync.Mutex
	ring    ring
	readers map[*reader]struct{}
	closed  bool
	wg      sync.WaitGroup
}

// Open makes the socket and begins to serve it. Errors say which folders were tried.
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
			Version: Version, Name: clip(mask.Text(o.Name)), Kind: o.Kind, PID: os.Getpid(), Argv: shown(o.Argv),
			Started: time.Now(), Instance: hex.EncodeToString(id),
		},
		ring: ring{first: 1, next: 1}, readers: map[*reader]struct{}{},
	}
	dirs := []string{o.Dir}
	if o.Dir == "" {
		dirs = socket.Dirs()
	}
	name := fmt.Sprintf("%s%d-%s%s", socketPrefix, p.hello.PID, hex.EncodeToString(id[:3]), socketSuffix)
	var err error
	if p.ln, p.path, err = socket.Listen(dirs, name); err != nil {
		return nil, fmt.Errorf("cannot open the tap: %w", err)
	}
	p.wg.Go(p.accept)
	return p, nil
}

// shown is a command line as it may leave the process: masked and bounded.
func shown(argv []string) []string {
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

// What sockets are called. The number is the producer's process, so that people can tell them apart.
const (
	socketPrefix = "tap-"
	socketSuffix = ".sock"
)

// isSocket is whether a file of that name in a folder of sockets is a producer's.
func isSocket(name string) bool {
	return strings.HasPrefix(name, socketPrefix) && strings.HasSuffix(name, socketSuffix)
}

// Path is the socket's, "" for a nil Producer.
func (p *Producer) Path() string {
	if p == nil {
		return ""
	}
	return p.path
}

// Watched is whether anybody reads, for callers who would have to prepare something.
func (p *Producer) Watched() bool { return p != nil && p.watched.Load() > 0 }

// Append hands over one entry, as journal.Journal.Append does; Time may be zero. A Kind of zero says that body is a frame:
// what it is is then found out where it is read. The body is copied, up to MaxBody bytes of it, and not kept.
func (p *Producer) Append(e journal.Entry, body []byte) {
	if p != nil {
		p.push(record{entry: e, time: e.Time}, body)
	}
}

// AppendPart is Append for a body that was longer, size bytes, of which the caller kept the beginning.
func (p *Producer) AppendPart(e journal.Entry, body []byte, size int) {
	if p != nil {
		p.push(record{entry: e, time: e.Time, size: size}, body)
	}
}

// maxWord is how much is kept of what names something in an entry: an agent, an id, a method. Nobody shows more, and callers and
// servers make them up.
const maxWord = 1 << 10

func (p *Producer) push(rec record, body []byte) {
	for _, s := range []*string{&rec.entry.Server, &rec.entry.ID, &rec.entry.Method, &rec.entry.Note, &rec.answer} {
		*s = text.Clip(*s, maxWord)
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
			r.nudge()
		}
	}
	p.mu.Unlock()
}

// Close ends the socket and its readers, after what they have not read yet was offered to them for a moment.
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
	end := time.Now().Add(lastTime)
	p.end.Store(&end)
	for r := range p.readers {
		_ = r.c.SetWriteDeadline(time.Now().Add(lastWords))
		r.nudge()
	}
	p.mu.Unlock()
	_ = os.Remove(p.path) // before it is closed, or it would be found and not answer
	err := p.ln.Close()
	p.wg.Wait()
	return err
}

// When the producer ends, a reader may take this long for each piece that it has not read, and for all of them.
const (
	lastWords = 200 * time.Millisecond
	lastTime  = 2 * time.Second
)
