package journal

// Annotation is the Method of the State entries in which a person's mark and note on another entry are kept: Peer is that
// entry, Root its exchange, Status Marked or empty, Note the text. The newest one counts.
const Annotation = "annotation"

// Marked is the Status of an Annotation that marks its entry.
const Marked = "marked"

// Annotate records a person's mark and note on an entry, which "" and false take away. It returns the Seq of the
// annotation, 0 where there is no such entry, or none can be appended.
func (j *Journal) Annotate(seq uint64, marked bool, note string) uint64 {
	e, ok := j.Get(seq)
	if !ok {
		return 0
	}
	a := Entry{Server: e.Server, Kind: State, Method: Annotation, Peer: seq, Root: e.Root, Note: note}
	if a.Root == 0 {
		a.Root = seq
	}
	if marked {
		a.Status = Marked
	}
	return j.Append(a, nil)
}
