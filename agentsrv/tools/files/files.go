// Package files shows the files below one folder, and nothing else: the tools read_file and list_dir and the resource
// template file://{+path}. Paths are relative to that folder, or absolute and in it, and have slashes; the client is not
// told where it lies.
//
// The folder is an os.Root, so that neither "..", nor an absolute path, nor a symbolic link leads out of it, also not
// one that is put there while a path is being walked. Links that stay inside work. Only regular files are read: opening
// a FIFO or a device could block for ever or do something.
package files

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Limits.
const (
	MaxPath     = 4096    // bytes of a path
	MaxRead     = 1 << 20 // bytes that one read_file returns
	MaxResource = 8 << 20 // bytes of a file that is read as a resource, which has no pages
	MaxEntries  = 1000    // entries that one list_dir returns
	maxNames    = 100_000 // names of a folder that are looked at
	defaultRead = 64 << 10
)

// Files shows what is below one folder. It is safe for concurrent use.
type Files struct {
	root *os.Root
	at   []string // the folder's absolute path: as it was given, and without links
}

// Open opens the folder. Close releases it.
func Open(folder string) (*Files, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("files: open the root %s: %w; name an existing folder", folder, bare(err))
	}
	f := &Files{root: root}
	if abs, err := filepath.Abs(folder); err == nil {
		f.at = append(f.at, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
			f.at = append(f.at, real)
		}
	}
	return f, nil
}

// Close releases the folder; calls that still run fail.
func (f *Files) Close() error { return f.root.Close() }

// Refusals that have nothing to do with what is on disk.
var (
	errOutside = errors.New("the path leads out of the root; give one below it")
	errLong    = fmt.Errorf("the path is longer than %d bytes", MaxPath)
	errNUL     = errors.New("the path has a NUL byte")
	errKind    = errors.New("it is not a regular file")
	errLink    = errors.New("a link in the path leads out of the root")
	errMissing = errors.New("no such file or folder; list_dir shows what exists")
	errFolder  = errors.New("a folder; use list_dir")
)

// local checks a path and gives it the system's separators. An absolute path is good if it lies in the folder.
func (f *Files) local(p string) (string, error) {
	switch {
	case len(p) > MaxPath:
		return "", errLong
	case strings.IndexByte(p, 0) >= 0:
		return "", errNUL
	case p == "":
		return ".", nil
	}
	// os.Root would refuse these too; here the answer can say what to do.
	name := filepath.FromSlash(p)
	for _, at := range f.at {
		if rel, err := filepath.Rel(at, name); filepath.IsAbs(name) && err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	if path.IsAbs(p) || !filepath.IsLocal(name) {
		return "", errOutside
	}
	return filepath.FromSlash(path.Clean(p)), nil
}

// reason is what went wrong, without the path on disk that the error would tell.
func reason(err error) error {
	err = bare(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case err.Error() == "path escapes from parent": // os.Root's own error, which has no name
		return errLink
	}
	return err
}

func bare(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if s := (*os.SyscallError)(nil); errors.As(err, &s) {
		return s.Err
	}
	return err
}

// open opens a regular file.
func (f *Files) open(p string) (*os.File, fs.FileInfo, error) {
	name, err := f.local(p)
	if err != nil {
		return nil, nil, err
	}
	if info, err := f.root.Stat(name); err != nil {
		return nil, nil, reason(err)
	} else if err := regular(info); err != nil {
		return nil, nil, err
	}
	// It may have been replaced in between, so it is opened without waiting for it and looked at again.
	file, err := f.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, reason(err)
	}
	info, err := file.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, reason(err)
	}
	return file, info, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular():
		return errKind
	}
	return nil
}

// Part is a piece of a file.
type Part struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`   // bytes of the whole file
	Offset   int64  `json:"offset"` // where the piece begins
	Bytes    int    `json:"bytes"`  // bytes of the piece
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
	// Next is the offset to go on from, 0 at the end.
	Next int64 `json:"next_offset,omitempty"`
}

// Encodings of a Part.
const (
	UTF8   = "utf-8"
	Base64 = "base64"
)

// Read returns at most limit bytes of a file, from offset. Text is cut between characters; other bytes are base64.
func (f *Files) Read(p string, offset, limit int64) (Part, error) {
	file, info, err := f.open(p)
	if err != nil {
		return Part{}, err
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.NewSectionReader(file, offset, min(limit, MaxResource)+1))
	if err != nil {
		return Part{}, reason(err)
	}
	more := int64(len(raw)) > limit
	if more {
		raw = raw[:limit]
	}
	part := Part{Path: p, Size: info.Size(), Offset: offset}
	if t := whole(raw, more); t != nil {
		raw = t
		part.Encoding, part.Content = UTF8, string(t)
	} else {
		part.Encoding, part.Content = Base64, base64.StdEncoding.EncodeToString(raw)
	}
	part.Bytes = len(raw)
	if more {
		part.Next = offset + int64(len(raw))
	}
	return part, nil
}

// whole is b without a character that was cut off at its end, nil if b is not text: bytes that are not UTF-8, or a NUL.
func whole(b []byte, cut bool) []byte {
	if cut {
		for n := 1; n < utf8.UTFMax && n < len(b); n++ {
			if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					b = b[:len(b)-n]
				}
				break
			}
		}
	}
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return nil
	}
	if b == nil {
		return []byte{}
	}
	return b
}
