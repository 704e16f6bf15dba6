package inspector

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Answer is what a call gave.
type Answer struct {
	Result json.RawMessage // an object
	Apps   []App           // of the tool that was called, or of every listed tool where apps were asked for
	File   *File           // that the result was written to, nil for none
}

// File is a result that was written to a file.
type File struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Bytes  int    `json:"bytes"`
}

func (f *File) String() string {
	return fmt.Sprintf("Wrote %d bytes (%s) to %s", f.Bytes, f.Format, f.Path)
}

// Lines are what goes to stdout, without their line ends.
func (r *Request) Lines(a Answer) (lines [][]byte) {
	switch {
	case r.AppInfo:
		for _, app := range a.Apps {
			line := marshal(app)
			if r.JSON() && r.Method != "tools/list" {
				line = Pairs{{"appInfo", line}}.JSON()
			}
			lines = append(lines, line)
		}
		return lines
	case !r.JSON() && a.File != nil:
		return nil
	case !r.JSON():
		return [][]byte{indented(a.Result)}
	}
	out := Pairs{{"result", a.Result}}
	if a.File != nil {
		out = Pairs{{"output", marshal(a.File)}}
	}
	if len(a.Apps) > 0 && a.Apps[0].Has {
		out.Set("appInfo", marshal(a.Apps[0]))
	}
	return [][]byte{oneLine(out.JSON())}
}

func indented(raw []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return raw
	}
	return b.Bytes()
}

func oneLine(raw []byte) []byte {
	var b bytes.Buffer
	if !bytes.ContainsAny(raw, "\r\n") || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Notes is what goes to stderr beside that.
func (r *Request) Notes(a Answer) string {
	if a.File != nil && !r.JSON() && !r.Quiet {
		return a.File.String() + "\n"
	}
	return ""
}

// Verdict is the error that a call's answer amounts to, nil for none.
func (r *Request) Verdict(a Answer) error {
	if r.AppInfo {
		if r.Method == "tools/call" && !a.Apps[0].Has {
			return &Error{Exit: ExitNoApp, Code: "no_app", Message: "Tool '" + r.ToolName + "' has no MCP App UI resource (_meta.ui.resourceUri)."}
		}
		return nil
	}
	if string(jsonrpc.Get(a.Result, "isError")) == "true" {
		return &Error{Exit: ExitTool, Code: "tool_is_error", Message: "Tool '" + r.ToolName + "' returned isError:true."}
	}
	return nil
}

// Save writes a result to the file of --output.
func (r *Request) Save(result json.RawMessage) (*File, error) {
	f := &File{Path: r.Output, Format: "json"}
	data := append(indented(result), '\n')
	if r.OutputFormat == "raw" {
		f.Format = "raw"
		var err error
		if data, err = r.raw(result); err != nil {
			return nil, err
		}
	}
	f.Bytes = len(data)
	if err := os.WriteFile(f.Path, data, 0o600); err != nil {
		return nil, &Error{Exit: ExitUsage, Code: "output_write_failed", Message: "Could not write --output file " + f.Path + ": " + err.Error()}
	}
	return f, nil
}

// raw is the text of a result's content, or the bytes of its only block that is none.
func (r *Request) raw(result json.RawMessage) ([]byte, error) {
	list := "content"
	if r.Method == "resources/read" {
		list = "contents"
	}
	var texts, blobs []string
	_ = jsonrpc.Elements(jsonrpc.Get(result, list), func(block []byte) bool {
		for range 8 { // resources in resources
			inner := jsonrpc.Get(block, "resource")
			if !isObject(inner) {
				break
			}
			block = inner
		}
		if text, ok := jsonrpc.String(jsonrpc.Get(block, "text")); ok {
			texts = append(texts, text)
			return true
		}
		for _, member := range []string{"data", "blob"} {
			if blob, ok := jsonrpc.String(jsonrpc.Get(block, member)); ok {
				blobs = append(blobs, blob)
				break
			}
		}
		return true
	})
	not := func(why, so string) error {
		return &Error{Exit: ExitUsage, Code: "output_not_raw", Message: "The " + r.Method + " result" + why + ", so it has no " + so + "; use --output-format json."}
	}
	switch {
	case len(texts) > 0:
		return []byte(strings.Join(texts, "\n")), nil
	case len(blobs) == 0:
		return nil, &Error{Exit: ExitUsage, Code: "output_not_raw", Message: "The " + r.Method + " result has no text or binary content to write as raw; use --output-format json."}
	case len(blobs) > 1:
		return nil, not(fmt.Sprintf(" has %d binary blocks and no text", len(blobs)), "single raw form")
	}
	data, err := base64.StdEncoding.DecodeString(blobs[0])
	if err != nil {
		return nil, not("'s binary content is not valid base64", "raw form")
	}
	return data, nil
}

// App is the page that a tool is shown with (MCP Apps).
type App struct {
	Has           bool            `json:"hasApp"`
	Tool          string          `json:"toolName"`
	URI           string          `json:"resourceUri,omitempty"`
	Visibility    json.RawMessage `json:"visibility,omitempty"`
	CSP           json.RawMessage `json:"csp,omitempty"`
	Permissions   json.RawMessage `json:"permissions,omitempty"`
	Domain        json.RawMessage `json:"domain,omitempty"`
	PrefersBorder json.RawMessage `json:"prefersBorder,omitempty"`
	MIME          json.RawMessage `json:"resourceMimeType,omitempty"`
	Problem       string          `json:"resourceError,omitempty"` // why its page could not be read
}

// AppOf is what a tool says of its app. read gets the page, where there is one.
func AppOf(tool json.RawMessage, read func(uri string) (json.RawMessage, error)) App {
	a := App{Tool: jsonrpc.GetString(tool, "name")}
	declared := jsonrpc.Get(tool, "_meta", "ui", "resourceUri")
	if declared == nil {
		declared = jsonrpc.Get(tool, "_meta", "ui/resourceUri")
	}
	if declared == nil {
		return a
	}
	a.URI = str(declared)
	if !strings.HasPrefix(a.URI, "ui://") {
		a.Problem, a.URI = "Invalid UI resource URI: "+string(declared), ""
		return a
	}
	a.Has, a.Visibility = true, jsonrpc.Get(tool, "_meta", "ui", "visibility")
	result, err := read(a.URI)
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	var pages []json.RawMessage
	_ = jsonrpc.Elements(jsonrpc.Get(result, "contents"), func(c []byte) bool {
		pages = append(pages, c)
		return true
	})
	page := json.RawMessage(nil)
	for _, same := range []func(uri string) bool{
		func(uri string) bool { return uri == a.URI },
		func(uri string) bool {
			return strings.TrimSuffix(strings.ToLower(uri), "/") == strings.TrimSuffix(strings.ToLower(a.URI), "/")
		},
		func(string) bool { return len(pages) == 1 },
	} {
		for _, p := range pages {
			if page == nil && same(jsonrpc.GetString(p, "uri")) {
				page = p
			}
		}
	}
	ui := jsonrpc.Get(page, "_meta", "ui")
	if !isObject(ui) {
		ui = jsonrpc.Get(result, "_meta", "ui")
	}
	a.CSP, a.Permissions, a.Domain, a.PrefersBorder = jsonrpc.Get(ui, "csp"), jsonrpc.Get(ui, "permissions"), jsonrpc.Get(ui, "domain"), jsonrpc.Get(ui, "prefersBorder")
	a.MIME = jsonrpc.Get(page, "mimeType")
	return a
}
