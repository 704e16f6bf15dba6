package files

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Entry is one thing in a folder.
type Entry struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"` // file, dir, link or other
	Size     int64     `json:"size"` // bytes; 0 for all but files
	Modified time.Time `json:"modified"`
}

// Listing is a folder's entries in the order of their names' bytes.
type Listing struct {
	Path    string  `json:"path"`
	Entries []Entry `json:"entries"`
	Total   int     `json:"total"` // entries of the folder, or as many as were looked at
	// Next says that there are more: list again with after set to it.
	Next string `json:"next_after,omitempty"`
	// Incomplete says that the folder has more entries than were looked at, so that some names are missing.
	Incomplete bool `json:"incomplete,omitempty"`
}

// List returns the entries of a folder whose names come after a name, at most MaxEntries.
func (f *Files) List(p, after string) (Listing, error) {
	name, err := f.local(p)
	if err != nil {
		return Listing{}, err
	}
	if info, err := f.root.Stat(name); err != nil {
		return Listing{}, reason(err)
	} else if !info.IsDir() {
		return Listing{}, errors.New("not a folder; use read_file")
	}
	dir, err := f.root.OpenFile(name, nonblock, 0)
	if err != nil {
		return Listing{}, reason(err)
	}
	defer func() { _ = dir.Close() }()
	out := Listing{Path: p, Entries: []Entry{}}
	names, err := dir.Readdirnames(maxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return Listing{}, reason(err)
	}
	if len(names) > maxNames {
		names, out.Incomplete = names[:maxNames], true
	}
	out.Total = len(names)
	slices.Sort(names)
	from, _ := slices.BinarySearch(names, after)
	if from < len(names) && names[from] == after && after != "" {
		from++
	}
	for _, n := range names[from:] {
		if len(out.Entries) == MaxEntries {
			out.Next = out.Entries[MaxEntries-1].Name
			break
		}
		info, err := f.root.Lstat(filepath.Join(name, n))
		if err != nil {
			continue // gone meanwhile
		}
		out.Entries = append(out.Entries, entry(n, info))
	}
	return out, nil
}

func entry(name string, info fs.FileInfo) Entry {
	e := Entry{Name: strings.ToValidUTF8(name, "\ufffd"), Type: "other", Modified: info.ModTime().UTC()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Type, e.Size = "file", info.Size()
	case mode.IsDir():
		e.Type = "dir"
	case mode&fs.ModeSymlink != 0:
		e.Type = "link"
	}
	return e
}
