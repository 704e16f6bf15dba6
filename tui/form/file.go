package form

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// FileField returns the focused field if a file can be put into it, and whether that wants its bytes rather than its path.
func (f *Form) FileField() (pointer string, bytes, ok bool) {
	r := f.row()
	if f.raw != nil || r == nil || !r.textual() || r.field.Shape() != schema.ShapeString {
		return "", false, false
	}
	for _, c := range r.field.Constraints {
		bytes = bytes || c.Keyword == "contentEncoding" && strings.Contains(c.Text, "base64")
	}
	return r.ptr, bytes || r.field.Format == "byte" || r.field.Format == "base64", true
}

// SetFile puts a file into a field: its bytes in base64 where they are given, else its path, as a URL where the field wants one.
func (f *Form) SetFile(pointer, path string, bytes []byte) error {
	if !f.Focus(pointer) {
		return nil // the field is gone
	}
	text := path
	switch {
	case bytes != nil:
		text = base64.StdEncoding.EncodeToString(bytes)
	case strings.HasPrefix(f.row().field.Format, "uri"):
		text = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	}
	return f.SetText(pointer, text)
}

// WantsFolder reports whether the focused field takes the path of a folder rather than of a file.
func (f *Form) WantsFolder() bool {
	_, _, ok := f.FileField()
	return ok && strings.Contains(f.row().field.Format, "directory")
}

// likelyFile reports whether a file is what the focused field most likely wants.
func (f *Form) likelyFile() bool {
	_, bytes, ok := f.FileField()
	if !ok || bytes {
		return ok
	}
	name := strings.ToLower(f.row().name)
	return strings.Contains(f.row().field.Format, "path") || strings.HasSuffix(name, "path") || strings.HasSuffix(name, "file") || strings.HasSuffix(name, "filename")
}
