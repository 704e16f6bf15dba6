package kb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	host     = "kb" // the authority of all URIs of the knowledge base
	template = "resource://" + host + "/{+path}{?line,part,offset}"
	maxURI   = 4 << 10

	// PageSize is how many bytes of a file one read returns at most; the contents' _meta.next is the URI of the next
	// page.
	PageSize = 64 << 10
)

// sourceURI is where the passage that starts at a line of a file can be read; line 0 is the whole file, part
// counts those that start on that line.
func sourceURI(path string, line, part int) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	uri := "resource://" + host + "/" + strings.Join(parts, "/")
	if line > 0 {
		uri += "?line=" + strconv.Itoa(line)
	}
	if part > 0 {
		uri += "&part=" + strconv.Itoa(part)
	}
	return uri
}

// Read returns what a Source stands for: a passage, or a page of a file. A URI that is not of this knowledge base is a
// *jsonrpc.RequestError of kind resource_not_found.
func (k *KB) Read(ctx context.Context, uri string) (mcp.TextResourceContents, error) {
	none := mcp.TextResourceContents{}
	missing := jsonrpc.Errorf(jsonrpc.KindResourceNotFound, "the knowledge base has no %.200q; search_knowledge_base names what it has", uri).With("uri", text.Cut(uri, 200))
	u, err := url.Parse(text.Cut(uri, maxURI+1))
	if err != nil || len(uri) > maxURI || u.Scheme != "resource" || u.Host != host || u.Fragment != "" {
		return none, missing
	}
	ix, err := k.open(ctx)
	if err != nil {
		return none, err
	}
	name := strings.TrimPrefix(u.Path, "/")
	var id, size int64
	err = ix.db.QueryRowContext(ctx, `SELECT id, size FROM kb_file WHERE path = ?`, name).Scan(&id, &size)
	if errors.Is(err, sql.ErrNoRows) {
		return none, missing
	}
	if err != nil {
		return none, fmt.Errorf("knowledge base: look up %q: %w", name, err)
	}
	out := mcp.TextResourceContents{URI: uri, MIMEType: mimeOf(name)}
	q := u.Query()
	if q.Has("line") {
		line, err := strconv.Atoi(q.Get("line"))
		if err != nil {
			return none, missing
		}
		part := 0
		if q.Has("part") {
			if part, err = strconv.Atoi(q.Get("part")); err != nil {
				return none, missing
			}
		}
		err = ix.db.QueryRowContext(ctx, `SELECT content FROM kb_chunk WHERE file = ? AND line = ? AND part = ?`, id, line, part).Scan(&out.Text)
		if errors.Is(err, sql.ErrNoRows) {
			return none, missing
		}
		if err != nil {
			return none, fmt.Errorf("knowledge base: read line %d of %q: %w", line, name, err)
		}
		return out, nil
	}
	var offset int64
	if q.Has("offset") {
		if offset, err = strconv.ParseInt(q.Get("offset"), 10, 64); err != nil || offset < 0 {
			return none, missing
		}
	}
	page := k.page
	if isPDF(name) { // which has no text of its own
		page = func(_ string, offset int64) (string, int64, error) { return ix.whole(ctx, id, offset) }
	}
	piece, total, err := page(name, offset)
	if err != nil {
		return none, missing.With("reason", "the file is not there any more, or has no such page")
	}
	out.Text = piece
	if next := offset + int64(len(piece)); offset > 0 || next < total {
		out.Meta = map[string]any{"offset": offset, "size": total}
		if next < total {
			out.Meta["next"] = sourceURI(name, 0, 0) + "?offset=" + strconv.FormatInt(next, 10)
		}
	}
	return out, nil
}

// whole is page for the passages of a file.
func (ix *index) whole(ctx context.Context, file, offset int64) (piece string, total int64, err error) {
	rows, err := ix.db.QueryContext(ctx, `SELECT content FROM kb_chunk WHERE file = ? ORDER BY line, part`, file)
	parts, err := store.Collect(rows, err, func(r *sql.Rows) (part string, err error) { return part, r.Scan(&part) })
	all := strings.Join(parts, "\n")
	if err != nil || offset > 0 && (offset >= int64(len(all)) || !utf8.RuneStart(all[offset])) {
		return "", 0, fmt.Errorf("no byte %d: %w", offset, cmp.Or(err, io.EOF))
	}
	return text.Cut(all[offset:], PageSize), int64(len(all)), nil
}

// page is up to PageSize bytes of a file from offset on, in whole characters, and the file's size.
func (k *KB) page(name string, offset int64) (piece string, total int64, err error) {
	files := fs.FS(corpus)
	if k.root != nil {
		files = k.root.FS()
	} else {
		name = path.Join("corpus", name)
	}
	info, err := fs.Stat(files, name)
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() || offset > 0 && offset >= info.Size() { // opening a pipe could block
		return "", 0, fmt.Errorf("%s has no byte %d", name, offset)
	}
	f, err := files.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	at, ok := f.(io.ReaderAt)
	if !ok {
		return "", 0, fmt.Errorf("%s cannot be read from its middle", name)
	}
	buf := make([]byte, min(PageSize+utf8.UTFMax, max(info.Size()-offset, 0)))
	n, err := at.ReadAt(buf, offset)
	buf = buf[:n]
	if err != nil && !errors.Is(err, io.EOF) {
		return "", 0, err
	}
	if len(buf) > 0 && !utf8.RuneStart(buf[0]) {
		return "", 0, fmt.Errorf("byte %d of %s is inside a character", offset, name)
	}
	return text.Cut(string(buf), PageSize), info.Size(), nil
}

// mimeOf is the type of a file by its name; all that is indexed is text.
func mimeOf(name string) string {
	switch {
	case isPDF(name):
		return "text/plain" // which was read of it
	case markdown(name):
		return "text/markdown"
	case path.Ext(name) == ".go":
		return "text/x-go"
	}
	if t, _, err := mime.ParseMediaType(mime.TypeByExtension(path.Ext(name))); err == nil {
		return t
	}
	return "text/plain"
}
