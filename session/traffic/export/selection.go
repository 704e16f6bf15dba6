package export

import (
	"bufio"
	"context"
	"io"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// Source is a journal that is written to a file, as far as it is kept.
type Source struct {
	Journal *journal.Journal
	Keep    *Selection               // nil keeps everything
	Offset  time.Duration            // is added to its times
	Server  func(name string) string // what its servers are called; nil for as they are
	Change  Change                   // what is written of an entry; nil for all of it

	next   uint64 // entry that comes next, 0 for none
	time   time.Time
	last   uint64
	number []uint32 // what its entries are called in the file
}

// Change is what is written of an entry and its body, which it does not modify.
type Change func(e journal.Entry, body []byte) (journal.Entry, []byte)

// Label gives the servers of the sources names of their own, where several sources have one of the same name: NAME@LABEL.
func Label(sources []*Source, labels []string) {
	seen := map[string]int{} // by server: the only source that has it, or -1
	for i, s := range sources {
		s.Journal.Each(0, func(e *journal.Entry) bool {
			if first, ok := seen[e.Server]; !ok {
				seen[e.Server] = i
			} else if first != i {
				seen[e.Server] = -1
			}
			return true
		})
	}
	for i, s := range sources {
		s.Server = func(name string) string {
			if seen[name] >= 0 || name == "" {
				return name
			}
			return name + "@" + labels[i]
		}
	}
}

// WriteSelection writes the entries of the sources to w as journal lines, by time, and says how many. Entries of one source stay in their
// order. They are numbered anew, and what refers to another entry does so in the new numbers.
func WriteSelection(ctx context.Context, w io.Writer, sources ...*Source) (n int, err error) {
	// What an entry refers to may come after it.
	for _, s := range sources {
		s.last = s.Journal.First() + uint64(s.Journal.Len()) - 1
		s.number = make([]uint32, s.Journal.Len())
	}
	if err := merge(ctx, sources, func(s *Source, e journal.Entry) error {
		n++
		s.number[e.Seq-s.Journal.First()] = uint32(n)
		return nil
	}); err != nil {
		return 0, err
	}
	out, n := bufio.NewWriterSize(w, 256<<10), 0
	var line []byte
	err = merge(ctx, sources, func(s *Source, e journal.Entry) error {
		body, err := s.Journal.Body(e.Seq)
		if err != nil && e.Size > 0 {
			e.Note += "; " + err.Error()
		}
		n++
		e.Seq, e.Peer = uint64(n), s.fileSeq(e.Peer)
		if e.Time = e.Time.Add(s.Offset); s.Server != nil {
			e.Server = s.Server(e.Server)
		}
		if s.Change != nil {
			e, body = s.Change(e, body)
		}
		e.Size = len(body)
		line = journal.AppendLine(line[:0], e, body)
		if _, err := out.Write(line); err != nil {
			return err
		}
		if cap(line) > 4<<20 {
			line = nil // one very large frame
		}
		return nil
	})
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return n, err
}

// fileSeq is the number that an entry of the journal has in the file, 0 if it is not there.
func (s *Source) fileSeq(seq uint64) uint64 {
	if first := s.Journal.First(); seq >= first && seq-first < uint64(len(s.number)) {
		return uint64(s.number[seq-first])
	}
	return 0
}

// merge gives the kept entries of all sources in the order of time.
func merge(ctx context.Context, sources []*Source, f func(*Source, journal.Entry) error) error {
	for _, s := range sources {
		s.next = s.Journal.First() - 1
		s.advance()
	}
	for n := 0; ; n++ {
		var first *Source
		for _, s := range sources {
			if s.next != 0 && (first == nil || s.time.Before(first.time)) {
				first = s
			}
		}
		if first == nil {
			return nil
		}
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e, ok := first.Journal.Get(first.next)
		if ok {
			if err := f(first, e); err != nil {
				return err
			}
		}
		first.advance()
	}
}

// advance goes to the next entry that is kept.
func (s *Source) advance() {
	for seq := s.next + 1; seq <= s.last; seq++ {
		if !s.Keep.has(seq) {
			continue
		}
		if e, ok := s.Journal.Get(seq); ok {
			s.next, s.time = seq, e.Time.Add(s.Offset)
			return
		}
	}
	s.next = 0
}
