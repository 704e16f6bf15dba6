package mcpb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
)

// index is the file beside an unpacked bundle that says what is in it.
const index = "mcphud-files.json"

// unpackedFile is what the index says of a file.
type unpackedFile struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Dir is where a bundle is below a folder for unpacked bundles, by its content.
func (b *Bundle) Dir(cache string) string { return filepath.Join(cache, b.SHA256, "bundle") }

// Unpack writes the bundle below cache, which only its owner can read, and returns the folder with its files. If it is there already, it
// is compared with what was unpacked: a file that was changed since is an error. Programs may have added files of their own.
func (b *Bundle) Unpack(cache string) (dir string, err error) {
	home, dir := filepath.Join(cache, b.SHA256), b.Dir(cache)
	if _, err := os.Lstat(home); err == nil {
		return dir, b.verify(home)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, ".unpack-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }() // of which nothing is left if it was renamed
	if err := b.write(work); err != nil {
		return "", err
	}
	if again, err := b.digest(); err != nil || again != b.SHA256 {
		return "", errors.Join(err, fmt.Errorf("%s was changed while it was unpacked; open it again", b.Path))
	}
	if err := os.Rename(work, home); err != nil {
		if _, there := os.Lstat(home); there == nil {
			return dir, b.verify(home) // somebody else was quicker
		}
		return "", err
	}
	return dir, nil
}

func (b *Bundle) write(work string) error {
	to := filepath.Join(work, "bundle")
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(to) // whatever a name is, it leads nowhere else
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	files := map[string]unpackedFile{}
	for _, e := range b.Entries {
		name, folder := strings.CutSuffix(e.Name, "/")
		name = filepath.FromSlash(name)
		parent := name
		if !folder {
			parent = filepath.Dir(name)
		}
		if err := root.MkdirAll(parent, 0o700); err != nil {
			return err
		}
	}
	for _, f := range b.files {
		mode := fs.FileMode(0o600)
		if f.Mode()&0o111 != 0 || b.Manifest.Server.Type == "binary" && f.Name == strings.TrimPrefix(b.Manifest.Server.Entry, "./") {
			mode = 0o700 // also where it was packed on a system that knows no such bit
		}
		out, err := root.OpenFile(filepath.FromSlash(f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		h := sha256.New()
		err = unpack(f, io.MultiWriter(out, h))
		if err = errors.Join(err, out.Close()); err != nil {
			return err
		}
		files[f.Name] = unpackedFile{int64(f.UncompressedSize64), hex.EncodeToString(h.Sum(nil))}
	}
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, index), list, 0o600)
}

// verify compares an unpacked bundle with what it was when it was unpacked.
func (b *Bundle) verify(home string) error {
	changed := func(what string) error {
		return fmt.Errorf("the unpacked bundle was changed: %s; remove %s and open the bundle again", what, home)
	}
	if info, err := os.Lstat(home); err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return changed("its folder is open to others, or no folder")
	}
	list, err := files.Read(filepath.Join(home, index), 64<<20)
	if err != nil {
		return changed("its list of files cannot be read")
	}
	var listed map[string]unpackedFile
	if err := json.Unmarshal(list, &listed); err != nil || len(listed) != len(b.files) {
		return changed("its list of files is another one")
	}
	root, err := os.OpenRoot(filepath.Join(home, "bundle"))
	if err != nil {
		return changed("it is gone")
	}
	defer func() { _ = root.Close() }()
	for _, f := range b.files {
		want, ok := listed[f.Name]
		if !ok || want.Size != int64(f.UncompressedSize64) {
			return changed("its list of files is another one")
		}
		got, err := digestIn(root, filepath.FromSlash(f.Name), want.Size)
		if err != nil || got != want.SHA256 {
			return changed(text.Clip(f.Name, 200) + " is not what it was")
		}
	}
	return nil
}

// digestIn is the digest of a regular file.
func digestIn(root *os.Root, name string, size int64) (string, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() != size {
		return "", fs.ErrInvalid
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
