package importer

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Format is what a file holds.
type Format string

// The formats. "" is not known.
const (
	own       Format = "mcphud"
	snoop     Format = "mcpsnoop"
	inspector Format = "MCP Inspector"
	archive   Format = "HAR"
	packed    Format = "gzip"
)

// sniffed is how much of a file is looked at to tell what it is.
const sniffed = 64 << 10

// errForeign is about a file that is none of the formats.
var errForeign = errors.New("not recorded traffic: expected lines of a mcphud journal or a mcpsnoop session, an MCP Inspector export, or an HTTP archive (HAR), plain or compressed with gzip")

// sniff tells from its beginning what a file is, "" for something else.
func sniff(head []byte) Format {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return packed
	}
	first := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(first) > 0 && first[0] == '[' {
		return inspector
	}
	// The object may have many lines; of a file that was cut at its beginning, the first lines may be anything.
	for len(first) > 0 {
		if f := sniffObject(first); f != "" {
			return f
		}
		_, first, _ = bytes.Cut(first, []byte("\n"))
	}
	return ""
}

// sniffObject tells what an object belongs to by its first members.
func sniffObject(text []byte) Format {
	d := jsontext.NewDecoder(bytes.NewReader(text), lenientOptions()...)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	for range 12 {
		t, err := d.ReadToken()
		if err != nil || t.Kind() != '"' {
			return ""
		}
		switch t.String() {
		case "log":
			return archive
		case "kind", "missing":
			return own
		case "session_id", "server_label":
			return snoop
		}
		if err := d.SkipValue(); err != nil {
			return ""
		}
	}
	return ""
}

// lenientOptions accept what other programs wrote: a member may be there twice, and text not be UTF-8.
func lenientOptions() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
}
