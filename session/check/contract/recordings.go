package contract

import (
	"context"
	"slices"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// Recordings are files with recorded calls, folders of them, or a history. Each is read once for all who want them. The zero value has
// none.
type Recordings struct {
	Files   []string
	waiting []*Records // who wants them, since the last Read
}

// Want registers w: the next Read gives it all calls too.
func (r *Recordings) Want(w *Records) { r.waiting = append(r.waiting, w) }

// Read reads all files for everybody who waits, where w still does: else somebody read them for it. step is told how far it is. The first error
// ends it, and is that of everybody who waited.
func (r *Recordings) Read(ctx context.Context, w *Records, step func(done, total int, file string)) error {
	if !slices.Contains(r.waiting, w) {
		return w.err
	}
	all := r.waiting
	r.waiting = nil
	read := Records{
		Call: func(c Recorded) {
			for _, w := range all {
				w.Call(c)
			}
		},
		Journal: func(j *journal.Journal) {
			for _, w := range all {
				if w.Journal != nil {
					w.Journal(j)
				}
			}
		},
	}
	var err error
	for i, file := range r.Files {
		step(i, len(r.Files), file)
		if err = read.Read(ctx, file); err != nil {
			break
		}
	}
	for _, w := range all {
		w.Files, w.Broken, w.err = w.Files+read.Files, w.Broken+read.Broken, err
	}
	return err
}
