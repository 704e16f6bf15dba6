package registry

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
)

// Summary is what a list shows of the latest version of a server.
type Summary struct {
	Name        string    `json:"n"`
	Title       string    `json:"t,omitempty"`
	Description string    `json:"d,omitempty"`
	Version     string    `json:"v,omitempty"`
	Status      string    `json:"s,omitempty"` // "" is active
	Kinds       string    `json:"k,omitempty"` // "remote npm oci"
	Updated     time.Time `json:"u,omitzero"`

	at, size int64 // of the entry in the file
}

// Cache is the whole list of a registry, on disk.
type Cache struct {
	dir  string
	path string
	base string
}

// List is what a cache holds.
type List struct {
	Servers []Summary // by name
	Synced  time.Time // when the registry was asked last; zero for never
	Full    time.Time // when it was asked for everything
	file    string
}

// Bounds of a cache.
const (
	maxCache  = 512 << 20 // bytes
	cacheKind = "mcphud registry 1"
	// fullEvery is how often everything is asked for again, so that nothing that a registry forgets to report stays for ever.
	fullEvery = 7 * 24 * time.Hour
	// overlap makes up for clocks that differ.
	overlap = 10 * time.Minute
)

type cacheHead struct {
	Kind   string    `json:"kind"`
	Base   string    `json:"registry"`
	Synced time.Time `json:"synced"`
	Full   time.Time `json:"full"`
}

// OpenCache is the cache of one registry below a folder, which need not exist; "" keeps nothing.
func OpenCache(dir, base string) *Cache {
	c := &Cache{dir: dir, base: strings.TrimRight(base, "/")}
	if dir != "" {
		sum := sha256.Sum256([]byte(c.base))
		c.path = filepath.Join(dir, "registry-"+hex.EncodeToString(sum[:8])+".jsonl")
	}
	return c
}

// Load reads the list; an empty one if there is none, or if it cannot be used.
func (c *Cache) Load() (List, error) {
	l := List{file: c.path}
	if c.path == "" {
		return l, nil
	}
	f, err := os.Open(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxCache), 1<<20)
	line, err := r.ReadSlice('\n')
	var head cacheHead
	if err != nil || json.Unmarshal(line, &head) != nil || head.Kind != cacheKind || head.Base != c.base {
		return l, nil // of another version: it is made anew
	}
	at, place := int64(len(line)), map[string]int{}
	for {
		line, err := readLine(r)
		if len(line) > 0 && line[len(line)-1] == '\n' {
			brief, raw, ok := bytes.Cut(line, []byte{'\t'})
			var s Summary
			if ok && json.Unmarshal(brief, &s) == nil && ValidName(s.Name) {
				s.at, s.size = at+int64(len(brief))+1, int64(len(raw)-1)
				if i, twice := place[s.Name]; twice {
					l.Servers[i] = s // the later line counts
				} else {
					place[s.Name] = len(l.Servers)
					l.Servers = append(l.Servers, s)
				}
			}
		}
		at += int64(len(line))
		if err != nil || len(l.Servers) > maxEntries {
			break
		}
	}
	l.Synced, l.Full, l.Servers = head.Synced, head.Full, tidy(l.Servers)
	return l, nil
}

// readLine is one line with its end, cut where it is longer than an entry can be.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	out := slices.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) && len(out) <= 2*maxDocument {
		line, err = r.ReadSlice('\n')
		out = append(out, line...)
	}
	return out, err
}

// Entry is all that was said of a server when the list was made.
func (l *List) Entry(s Summary) (Entry, error) {
	f, err := os.Open(l.file)
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	raw := make([]byte, min(s.size, 2*maxDocument))
	if _, err := f.ReadAt(raw, s.at); err != nil {
		return Entry{}, err
	}
	e, err := ParseEntry(raw)
	if err == nil && e.Name != s.Name {
		err = fmt.Errorf("%s changed meanwhile", l.file)
	}
	return e, err
}

// Find is a server by its name.
func (l *List) Find(name string) (Summary, bool) {
	i, ok := slices.BinarySearchFunc(l.Servers, name, func(s Summary, n string) int { return strings.Compare(s.Name, n) })
	if !ok {
		return Summary{}, false
	}
	return l.Servers[i], true
}

// Sync brings the list up to date: everything where nothing is known or it is long ago, else what changed since. progress is told
// how many entries came so far; nil is nobody. bad is how many could not be read.
func (c *Cache) Sync(ctx context.Context, from *Client, old List, progress func(n int)) (l List, bad int, err error) {
	if c.path == "" {
		return old, 0, errors.New("there is no folder to keep a list of servers in: set XDG_CACHE_HOME")
	}
	began := time.Now()
	q := Query{Version: "latest"}
	full := old.Synced.IsZero() || time.Since(old.Full) > fullEvery
	if !full {
		q.UpdatedSince, q.Deleted = old.Synced.Add(-overlap), true
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return old, 0, err
	}
	f, err := os.CreateTemp(c.dir, ".registry-*")
	if err != nil {
		return old, 0, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // it has another name once it is whole
	}()
	w := &listWriter{w: bufio.NewWriterSize(f, 1<<20), seen: map[string]int{}, fresh: map[string]time.Time{}}
	head := cacheHead{cacheKind, c.base, began.UTC(), old.Full}
	if full {
		head.Full = began.UTC()
	}
	b, err := json.Marshal(head)
	if err != nil {
		return old, 0, err
	}
	w.line(b)
	bad, err = from.List(ctx, q, func(page []Entry) bool {
		for _, e := range page {
			w.entry(e)
		}
		if progress != nil {
			progress(len(w.seen))
		}
		return w.err == nil && w.at < maxCache
	})
	if err != nil {
		return old, bad, err
	}
	if !full {
		w.rest(c.path, old)
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if w.err == nil {
		w.err = f.Close()
	}
	if w.err == nil {
		w.err = files.Rename(f.Name(), c.path)
	}
	if w.err != nil {
		return old, bad, fmt.Errorf("cannot keep the list of servers in %s: %w", c.dir, w.err)
	}
	return w.list(c.path, head), bad, nil
}

// listWriter writes a cache, the latest version of each server once.
type listWriter struct {
	w     *bufio.Writer
	at    int64
	err   error
	all   []Summary
	seen  map[string]int       // place in all
	fresh map[string]time.Time // of what was taken: an older version does not replace it
}

func (w *listWriter) line(parts ...[]byte) {
	for _, p := range append(parts, []byte{'\n'}) {
		if w.err == nil {
			_, w.err = w.w.Write(p)
			w.at += int64(len(p))
		}
	}
}

func (w *listWriter) entry(e Entry) {
	i, twice := w.seen[e.Name]
	if twice && !e.Latest && !e.Published.After(w.fresh[e.Name]) {
		return
	}
	var raw bytes.Buffer
	if json.Compact(&raw, e.Raw) != nil {
		return
	}
	s := SummaryOf(e)
	brief, err := json.Marshal(s)
	if err != nil {
		return
	}
	s.at, s.size = w.at+int64(len(brief))+1, int64(raw.Len())
	w.line(brief, []byte{'\t'}, raw.Bytes())
	w.fresh[e.Name] = e.Published
	if twice {
		w.all[i] = s // the line before stays in the file until that is written again; the later one counts
		return
	}
	w.seen[e.Name] = len(w.all)
	w.all = append(w.all, s)
}

// rest copies what did not change.
func (w *listWriter) rest(path string, old List) {
	f, err := os.Open(path)
	if err != nil {
		w.err = err
		return
	}
	defer f.Close()
	for _, s := range old.Servers {
		if _, ok := w.seen[s.Name]; ok {
			continue
		}
		raw := make([]byte, min(s.size, 2*maxDocument))
		if _, err := f.ReadAt(raw, s.at); err != nil {
			continue
		}
		brief, err := json.Marshal(s)
		if err != nil {
			continue
		}
		s.at, s.size = w.at+int64(len(brief))+1, int64(len(raw))
		w.line(brief, []byte{'\t'}, raw)
		w.seen[s.Name] = len(w.all)
		w.all = append(w.all, s)
	}
}

func (w *listWriter) list(path string, head cacheHead) List {
	return List{Synced: head.Synced, Full: head.Full, file: path, Servers: tidy(w.all)}
}

// tidy sorts by name, and leaves out what is deleted.
func tidy(all []Summary) []Summary {
	all = slices.DeleteFunc(all, func(s Summary) bool { return s.Status == "deleted" })
	slices.SortFunc(all, func(a, b Summary) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// SummaryOf is what a list shows of an entry.
func SummaryOf(e Entry) Summary {
	s := Summary{
		Name: e.Name, Title: text.Clip(e.Title, 200), Description: text.Clip(strings.Join(strings.Fields(e.Description), " "), 400), Version: text.Clip(e.Document.Version, 60),
		Status: e.Status, Updated: e.Updated,
	}
	if s.Status == "active" {
		s.Status = ""
	}
	var kinds []string
	if len(e.Remotes) > 0 {
		kinds = append(kinds, remoteKind)
	}
	for _, p := range e.Packages {
		if k := text.Clip(p.Type, 20); !slices.Contains(kinds, k) && len(kinds) < 8 {
			kinds = append(kinds, k)
		}
	}
	s.Kinds = strings.Join(kinds, " ")
	return s
}

// Search is the servers whose name, title or description has every word, those first whose name has all of them.
func (l *List) Search(what string) (out []Summary) {
	words := strings.Fields(strings.ToLower(what))
	var about []Summary
	for _, s := range l.Servers {
		name := strings.ToLower(s.Name + " " + s.Title)
		all := name + " " + strings.ToLower(s.Description)
		in := func(text string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
		}
		switch {
		case in(name):
			out = append(out, s)
		case in(all):
			about = append(about, s)
		}
	}
	return append(out, about...)
}

// About is what a search looks at besides the name.
func (s *Summary) About() string { return s.Title + " " + s.Description + " " + s.Kinds }
