package files

import (
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

const readInput = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file, relative to the root or absolute, with slashes", "minLength": 1, "maxLength": 4096},
    "offset": {"type": "integer", "description": "The first byte to read", "default": 0, "minimum": 0},
    "limit": {"type": "integer", "description": "How many bytes to read at most", "default": 65536, "minimum": 1, "maximum": 1048576}
  },
  "required": ["path"]
}`

const readOutput = `{
  "type": "object",
  "properties": {
    "path": {"type": "string"},
    "size": {"type": "integer", "description": "Bytes of the whole file"},
    "offset": {"type": "integer"},
    "bytes": {"type": "integer", "description": "Bytes of this piece"},
    "encoding": {"type": "string", "enum": ["utf-8", "base64"]},
    "content": {"type": "string"},
    "next_offset": {"type": "integer", "description": "Where to go on; missing at the end"}
  },
  "required": ["path", "size", "offset", "bytes", "encoding", "content"]
}`

const listInput = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The folder, relative to the root or absolute, with slashes", "default": ".", "maxLength": 4096},
    "after": {"type": "string", "description": "Only names after this one: next_after of the page before"}
  }
}`

const listOutput = `{
  "type": "object",
  "properties": {
    "path": {"type": "string"},
    "entries": {"type": "array", "items": {"type": "object", "properties": {
      "name": {"type": "string"}, "type": {"type": "string", "enum": ["file", "dir", "link", "other"]},
      "size": {"type": "integer"}, "modified": {"type": "string", "format": "date-time"}}, "required": ["name", "type", "size", "modified"]}},
    "total": {"type": "integer"},
    "next_after": {"type": "string", "description": "There are more: list again with this as after"},
    "incomplete": {"type": "boolean", "description": "The folder is too large for all names to be looked at"}
  },
  "required": ["path", "entries", "total"]
}`

// Tools are read_file and list_dir.
func (f *Files) Tools() []server.ServerTool {
	return []server.ServerTool{
		kit.Tool("read_file", "Read a file", "Read a file below the agent's root folder, in pieces of at most "+text.Bytes(MaxRead)+". Text comes as it is, everything else as base64.",
			kit.ReadOnly, kit.ArgsOver(piece{Limit: defaultRead}, f.readFile), readInput, readOutput),
		kit.Tool("list_dir", "List a folder", "List a folder below the agent's root folder, sorted by name, 1000 entries at a time.",
			kit.ReadOnly, kit.ArgsOver(listArgs{Path: "."}, f.listDir), listInput, listOutput),
	}
}

// piece is what read_file reads, and listArgs what list_dir lists.
type (
	piece struct {
		Path          string
		Offset, Limit int64
	}
	listArgs struct{ Path, After string }
)

func (f *Files) readFile(_ context.Context, _ mcp.CallToolRequest, in piece) (*mcp.CallToolResult, error) {
	part, err := f.Read(in.Path, in.Offset, in.Limit)
	if err != nil {
		return mcp.NewToolResultErrorf("read_file: %s: %v", quotePath(in.Path), err), nil
	}
	return kit.JSON(part)
}

func (f *Files) listDir(_ context.Context, _ mcp.CallToolRequest, in listArgs) (*mcp.CallToolResult, error) {
	l, err := f.List(in.Path, in.After)
	if err != nil {
		return mcp.NewToolResultErrorf("list_dir: %s: %v", quotePath(in.Path), err), nil
	}
	return kit.JSON(l)
}

// quotePath quotes a path for an error, cut where it is long.
func quotePath(p string) string {
	if len(p) > 200 {
		return fmt.Sprintf("%q… (%d bytes)", text.Cut(strings.ToValidUTF8(p, ""), 200), len(p))
	}
	return fmt.Sprintf("%q", p)
}

// Templates is file://{+path}: the root's files, as if the root were the top of a file system.
func (f *Files) Templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate("file://{+path}", "file",
			mcp.WithTemplateDescription("A file below the agent's root folder; file:///a/b is a/b in it, or the file of that absolute path if it is in it")),
		Handler: f.readResource,
	}}
}

func (f *Files) readResource(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri := r.Params.URI
	missing := func(why error) error {
		return jsonrpc.Errorf(jsonrpc.KindResourceNotFound, "Resource not found: %s: %w", quotePath(uri), why).With("uri", strings.ToValidUTF8(text.Cut(uri, MaxPath), ""))
	}
	p, err := pathOf(uri)
	if err != nil {
		return nil, missing(err)
	}
	part, err := f.Read(p, 0, MaxResource)
	if err != nil {
		// The path on disk may be meant, of a file in the root.
		onDisk, other := f.Read("/"+p, 0, MaxResource)
		if other != nil {
			return nil, missing(err)
		}
		part = onDisk
	}
	if part.Next > 0 {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "%s has %d bytes, more than the %d of a resource; read it in pieces with read_file", quotePath(uri), part.Size, MaxResource).With("uri", uri)
	}
	if part.Encoding == UTF8 {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: kind(p, []byte(part.Content)), Text: part.Content}}, nil
	}
	raw, err := base64.StdEncoding.DecodeString(part.Content)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: uri, MIMEType: kind(p, raw), Blob: part.Content}}, nil
}

// pathOf is the path of a file URI, relative to the root.
func pathOf(uri string) (string, error) {
	if len(uri) > 3*MaxPath+len("file:///") {
		return "", errLong
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme != "file" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("not a file URI such as file:///folder/name")
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("host %q: only local files, file:///…, can be read", u.Host)
	}
	return strings.TrimPrefix(u.Path, "/"), nil
}

// kind is the media type of a file, by its name if that says it.
func kind(p string, content []byte) string {
	if t := mime.TypeByExtension(path.Ext(p)); t != "" {
		return t
	}
	return http.DetectContentType(content)
}
