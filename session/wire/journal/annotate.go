package journal

import "time"

// Methods of the State entries in which a person's mark and note on another entry are kept: Peer is that entry, Took the time
// since it, Note the text. The newest one counts.
const (
	annotation = "annotation"
	marked     = "annotation/marked"
)

// Annotation reports whether the entry is a person's annotation of the entry Peer, and whether it marks that.
func (e *Entry) Annotation() (mark, ok bool) {
	if e.Kind != State {
		return false, false
	}
	return e.Method == marked, e.Method == marked || e.Method == annotation
}

// Annotate records a person's mark and note on an entry, which false and "" take away. It returns the Seq of the
// annotation, 0 where there is no such entry, or nothing can be appended.
func (j *Journal) Annotate(seq uint64, mark bool, note string) uint64 {
	e, ok := j.Get(seq)
	if !ok {
		return 0
	}
	a := Entry{Time: time.Now(), Server: e.Server, Kind: State, Method: annotation, Peer: seq, Note: note}
	a.Took = a.Time.Sub(e.Time)
	if mark {
		a.Method = marked
	}
	return j.Append(a, nil)
}

// Note is what a person says of an entry. The zero Note is that of an entry without any.
type Note struct {
	Marked bool
	Text   string // clipped as all strings of entries
}

// maxNotes is how many entries can have a note: they are kept as long as the journal, also of entries that were dropped.
const maxNotes = 10_000

// Note returns the newest annotation of an entry.
func (j *Journal) Note(seq uint64) Note {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.notes[seq]
}

// Noted reports whether any entry has a mark or a note.
func (j *Journal) Noted() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.notes) > 0
}

// annotate takes in an annotation, with the lock held.
func (j *Journal) annotate(e *Entry) {
	mark, ok := e.Annotation()
	n := Note{mark, e.Note}
	_, known := j.notes[e.Peer]
	switch {
	case !ok || e.Peer == 0:
	case n == Note{}:
		delete(j.notes, e.Peer)
	case known || len(j.notes) < maxNotes:
		if j.notes == nil {
			j.notes = map[uint64]Note{}
		}
		j.notes[e.Peer] = n
	}
}

// maxAway is how many entries before its place an annotated entry of a file is looked for: lines may have been added.
const maxAway = 20_000

// findAnnotated is the entry that an annotation of the file is about, 0 if it is not there. Called with the journal's lock held.
//
// Peer is a number of the journal that wrote the line; here entries have others. As a distance it still leads to the entry where no line was
// taken out in between. What is found must be of the same server and time, which the annotation has in Took.
func (l *loader) findAnnotated(e *Entry) uint64 {
	if e.Peer == 0 || e.Peer >= e.Seq {
		return 0
	}
	last := l.j.store.last()
	at := e.Time.Add(-e.Took).UnixNano()
	is := func(seq uint64) bool {
		b, i := l.j.store.at(seq)
		if b == nil {
			return false
		}
		d := time.Duration(b.recs[i].wall - at)
		return d.Abs() <= time.Microsecond && b.strs[b.recs[i].strs[strServer]] == e.Server // a file has microseconds
	}
	if seq := last + 1 - (e.Seq - e.Peer); seq <= last && is(seq) {
		return seq
	}
	for seq := last; seq > 0 && seq+maxAway > last; seq-- {
		if is(seq) {
			return seq
		}
	}
	return 0
}
