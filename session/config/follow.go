package config

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
)

// Equal reports whether two entries say the same, wherever they stand: what runs or is contacted (Fingerprint), and everything else that a session goes
// by. Variables are compared by name, as the file has them.
func (s Server) Equal(o Server) bool {
	return s.Fingerprint() == o.Fingerprint() && s.comparableText() == o.comparableText()
}

// comparableText is what an entry says beside its Fingerprint.
func (s Server) comparableText() string {
	s.Source, s.Also = Source{}, nil
	problem := ""
	if s.Problem != nil {
		problem = "has one" // its text has lines in it
	}
	b, err := json.Marshal(struct {
		Server
		Inputs  int
		Problem string
	}{s, len(s.Inputs), problem})
	if err != nil { // strings and numbers only: cannot happen
		return ""
	}
	return string(b)
}

// How long until a change is noticed that the system does not report, and until a file counts as written.
const (
	followPoll   = 2 * time.Second
	followSettle = 150 * time.Millisecond
)

// Follow reads the files of o again whenever one of them changes, appears or goes away, until ctx ends. read is what was read before.
// A file that cannot be read any more keeps the servers that it had. take is called by one goroutine, with what was read before as well. Follow
// returns only when ctx ends; it gives a file time to be written to its end before it reads it.
func Follow(ctx context.Context, o Options, read Set, take func(before, now Set)) {
	seen := map[string]files.Stamp{}
	for _, f := range read.Looked {
		seen[f.Path] = f.stamp
	}
	w := files.NewWatcher(followPoll, followSettle)
	defer w.Close()
	for {
		changed := false
		paths := map[string]bool{}
		for _, c := range o.candidates() {
			paths[c.path] = true
			stamp := files.StampOf(c.path)
			if was, known := seen[c.path]; !known && stamp.Target() != "" || known && !was.Equal(stamp) {
				changed = true
			}
			seen[c.path] = stamp
			if stamp.Target() != "" {
				w.Folder(filepath.Dir(c.path))
			}
		}
		for path := range seen {
			if !paths[path] { // a pattern found it
				delete(seen, path)
				changed = true
			}
		}
		if changed {
			now, _ := Load(o) // what is wrong is in it
			now.keep(read)
			take(read, now)
			read = now
		}
		select {
		case <-ctx.Done():
			return
		case <-w.Changed():
		}
	}
}

// keep adds what files had that cannot be read now.
func (s *Set) keep(before Set) {
	for _, f := range s.Files {
		if f.Err == nil || f.Absent {
			continue
		}
		for _, v := range before.Servers {
			if _, taken := s.Server(v.Name); v.Source.File == f.Path && !taken {
				s.Servers = append(s.Servers, v)
			}
		}
	}
}

// News are the warnings that were not there before, of files that changed.
func (s Set) News(before Set) []Warning {
	var out []Warning
	for _, w := range s.Warnings {
		if !slices.Contains(before.Warnings, w) {
			out = append(out, w)
		}
	}
	return out
}
