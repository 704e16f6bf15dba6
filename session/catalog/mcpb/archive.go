package mcpb

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
)

// Bounds of a bundle. Large ones have a few thousand files, and are a few hundred megabytes.
const (
	maxFile      = 1 << 30
	maxEntries   = 65_000
	maxDirectory = 32 << 20 // bytes of the list of entries
	maxUnpacked  = 2 << 30
	maxRatio     = 100      // of bytes unpacked to bytes packed,
	freeBytes    = 64 << 20 // beyond these
	maxName      = 1000     // bytes
	maxDepth     = 40
)

// Extensions are how the names of bundles end.
func Extensions() []string { return []string{".mcpb", ".dxt"} }

// IsBundle reports whether a file is a bundle, by its name.
func IsBundle(path string) bool {
	return slices.ContainsFunc(Extensions(), func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) })
}

// Bundle is a file that was checked. Close it.
type Bundle struct {
	Path      string
	Size      int64
	SHA256    string // of the whole file, in hexadecimal
	Signature int    // bytes of a signature block at its end, 0 for none; nobody verifies it
	Manifest  Manifest
	Entries   []Entry
	Unpacked  int64 // bytes, as declared

	file  *os.File
	files []*zip.File // of Entries that are files
}

// Entry is a file or a folder of a bundle.
type Entry struct {
	Name string `json:"name"` // with slashes; that of a folder ends in one
	Size int64  `json:"size"`
	Exec bool   `json:"executable,omitempty"`
}

// Open checks a bundle and reads its manifest. The error says what is wrong with it.
func Open(path string) (_ *Bundle, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a named pipe would block for ever
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Path: path, file: f}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if b.Size = info.Size(); !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	if b.Size > maxFile {
		return nil, fmt.Errorf("has more than %s", text.Bytes(maxFile))
	}
	if b.SHA256, err = b.digest(); err != nil {
		return nil, err
	}
	if b.Signature, err = signature(f, b.Size); err != nil {
		return nil, err
	}
	size := b.Size - int64(b.Signature)
	if err := directory(f, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("is not a zip file: %w", err)
	}
	if err := b.check(z, size); err != nil {
		return nil, err
	}
	manifest, err := b.read("manifest.json", maxManifest)
	if err != nil {
		return nil, err
	}
	if b.Manifest, err = parse(manifest); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	return b, nil
}

// Close closes the file.
func (b *Bundle) Close() error { return b.file.Close() }

func (b *Bundle) digest() (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(b.file, 0, b.Size)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// The block that signs a bundle: begin, the length of the signature (32 bits, little endian), the signature, end.
const (
	signatureBegin = "MCPB_SIG_V1"
	signatureEnd   = "MCPB_SIG_END"
	maxSignature   = 1 << 20
)

// signature is how many bytes at the end of a file sign it.
func signature(f io.ReaderAt, size int64) (int, error) {
	tail := make([]byte, min(size, maxSignature))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if !bytes.HasSuffix(tail, []byte(signatureEnd)) {
		return 0, nil
	}
	at := bytes.LastIndex(tail, []byte(signatureBegin))
	if at < 0 || len(tail)-at < len(signatureBegin)+4+len(signatureEnd) {
		return 0, errors.New("has the end of a signature without its beginning")
	}
	length := int64(binary.LittleEndian.Uint32(tail[at+len(signatureBegin):]))
	if length != int64(len(tail)-at-len(signatureBegin)-4-len(signatureEnd)) {
		return 0, errors.New("has a signature of another length than it says")
	}
	return len(tail) - at, nil
}

// directory looks at the list of entries of a zip file before it is read: it would become many times its size in memory. What needs
// more than 32 bits for it is none of ours.
func directory(f io.ReaderAt, size int64) error {
	const fixed = 22
	tail := make([]byte, min(size, fixed+1<<16))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for i := len(tail) - fixed; i >= 0; i-- {
		end := tail[i:]
		if !bytes.HasPrefix(end, []byte("PK\x05\x06")) || int(binary.LittleEndian.Uint16(end[20:]))+fixed > len(end) {
			continue
		}
		if n, size := binary.LittleEndian.Uint16(end[10:]), binary.LittleEndian.Uint32(end[12:]); n > maxEntries || size > maxDirectory {
			return fmt.Errorf("has more than %d entries, or a list of them that is larger than %s", maxEntries, text.Bytes(maxDirectory))
		}
		return nil
	}
	return errors.New("is not a zip file")
}

// check refuses what must not be unpacked, and lists the rest.
func (b *Bundle) check(z *zip.Reader, size int64) error {
	if len(z.File) > maxEntries {
		return fmt.Errorf("has %d entries; %d are the limit", len(z.File), maxEntries)
	}
	type span struct {
		from, to int64
		name     string
	}
	var spans []span
	seen := map[string]string{}    // folded name -> name
	folders := map[string]string{} // folded -> an entry that needs it to be a folder
	for _, f := range z.File {
		name, folder := strings.CutSuffix(f.Name, "/")
		if why := badName(name); why != "" {
			return fmt.Errorf("the entry %q %s", text.Clip(f.Name, 200), why)
		}
		switch mode := f.Mode(); {
		case mode&fs.ModeSymlink != 0:
			return fmt.Errorf("the entry %q is a link", text.Clip(f.Name, 200))
		case mode.Type() != 0 && !(folder && mode.IsDir()):
			return fmt.Errorf("the entry %q is neither a file nor a folder", text.Clip(f.Name, 200))
		case f.Flags&1 != 0:
			return fmt.Errorf("the entry %q is encrypted", text.Clip(f.Name, 200))
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return fmt.Errorf("the entry %q is packed by a method that is not known", text.Clip(f.Name, 200))
		case f.UncompressedSize64 > maxUnpacked:
			return errUnpacked()
		}
		key := fold(name)
		if other, twice := seen[key]; twice {
			return fmt.Errorf("the entries %q and %q have the same name, at least on some systems", text.Clip(other, 200), text.Clip(f.Name, 200))
		}
		seen[key] = f.Name
		for i := range key {
			if key[i] == '/' {
				folders[key[:i]] = f.Name
			}
		}
		if folder {
			b.Entries = append(b.Entries, Entry{Name: f.Name})
			continue
		}
		if b.Unpacked += int64(f.UncompressedSize64); b.Unpacked > maxUnpacked {
			return errUnpacked()
		}
		from, err := f.DataOffset()
		if err != nil {
			return fmt.Errorf("the entry %q cannot be read: %w", text.Clip(f.Name, 200), err)
		}
		if f.CompressedSize64 > uint64(size) {
			return fmt.Errorf("the entry %q is cut off", text.Clip(f.Name, 200))
		}
		spans = append(spans, span{from, from + int64(f.CompressedSize64), f.Name})
		b.Entries = append(b.Entries, Entry{Name: f.Name, Size: int64(f.UncompressedSize64), Exec: f.Mode()&0o111 != 0})
		b.files = append(b.files, f)
	}
	for _, key := range slices.Sorted(maps.Keys(folders)) {
		inside := folders[key]
		if name, file := seen[key]; file && !strings.HasSuffix(name, "/") {
			return fmt.Errorf("the entry %q is inside of %q, which is a file", text.Clip(inside, 200), text.Clip(name, 200))
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return fmt.Errorf("the entries %q and %q share their bytes", text.Clip(spans[i-1].name, 200), text.Clip(spans[i].name, 200))
		}
	}
	if b.Unpacked > freeBytes && b.Unpacked/maxRatio > size {
		return fmt.Errorf("%s would become %s: nothing real is packed so well", text.Bytes(size), text.Bytes(b.Unpacked))
	}
	return nil
}

func errUnpacked() error { return fmt.Errorf("would become more than %s", text.Bytes(maxUnpacked)) }

// fold is what a file system that knows no case makes of a name.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// badName is why a name must not be one in a bundle, "" if it may.
func badName(name string) string {
	switch {
	case name == "":
		return "has no name"
	case len(name) > maxName:
		return fmt.Sprintf("has a name of more than %d bytes", maxName)
	case !utf8.ValidString(name):
		return "has a name that is not UTF-8"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return "has characters in its name that cannot be seen"
	case strings.ContainsAny(name, `\:`):
		return "has a name with a backslash or a colon"
	case strings.HasPrefix(name, "/"):
		return "has an absolute path"
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return "is too deep"
	}
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || strings.HasSuffix(p, ".") || strings.HasSuffix(p, " ") {
			return "has a path that leads elsewhere, at least on some systems"
		}
		if base, _, _ := strings.Cut(strings.ToUpper(p), "."); slices.Contains(devices, base) {
			return "has the name of a device"
		}
	}
	return ""
}

// devices are names that Windows keeps for itself, whatever follows them after a dot.
var devices = []string{
	"CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9",
	"LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
}

// find is the entry of a file.
func (b *Bundle) find(name string) *zip.File {
	for _, f := range b.files {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// read reads a file of the bundle.
func (b *Bundle) read(name string, limit int64) ([]byte, error) {
	f := b.find(name)
	if f == nil {
		return nil, fmt.Errorf("has no %s at its top", name)
	}
	if f.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("%s has more than %s", name, text.Bytes(limit))
	}
	var out bytes.Buffer
	err := unpack(f, &out)
	return out.Bytes(), err
}

// unpack writes what is in an entry: as much as it says, and with the checksum that it says.
func unpack(f *zip.File, to io.Writer) error {
	r, err := f.Open()
	if err == nil {
		var n int64
		if n, err = io.Copy(to, io.LimitReader(r, int64(f.UncompressedSize64)+1)); n > int64(f.UncompressedSize64) {
			err = errors.New("it is longer than it says")
		}
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return fmt.Errorf("the entry %q cannot be unpacked: %w", text.Clip(f.Name, 200), err)
	}
	return nil
}
