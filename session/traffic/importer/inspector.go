package importer

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// inspectorEntry is one element of any export of the MCP Inspector: of messages, of HTTP requests, of what a server wrote to stderr,
// and of log messages.
type inspectorEntry struct {
	Timestamp  string         `json:"timestamp"`
	ReceivedAt string         `json:"receivedAt"`
	Direction  string         `json:"direction"`
	Origin     string         `json:"origin"`
	Message    jsontext.Value `json:"message"`
	Response   jsontext.Value `json:"response"`
	Params     jsontext.Value `json:"params"`
	Duration   float64        `json:"duration"` // milliseconds
	Rejected   string         `json:"clientError"`

	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Sent    map[string]string `json:"requestHeaders"`
	Body    string            `json:"requestBody"`
	Status  int               `json:"responseStatus"`
	Words   string            `json:"responseStatusText"`
	Got     map[string]string `json:"responseHeaders"`
	Answer  string            `json:"responseBody"`
	Failure string            `json:"error"`
}

// exported is how the Inspector names its exports, with the server in it.
var exported = regexp.MustCompile(`^inspector-(?:protocol|protocol-pinned|protocol-unpinned|network|logs|console)-(.+)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d`)

var errInspector = errors.New("expected an element of an MCP Inspector export: a message, a request, a log message or a line of stderr")

// readInspector reads an export of the MCP Inspector, a JSON array.
func (c *converter) readInspector() error {
	server := ""
	if m := exported.FindStringSubmatch(filepath.Base(c.name)); m != nil {
		server = m[1]
	}
	return c.values().each(func(element []byte) error {
		var in inspectorEntry
		if err := json.Unmarshal(element, &in, json.JoinOptions(lenientOptions()...)); err != nil {
			return fmt.Errorf("%w: %w", errInspector, err)
		}
		return c.writeInspectorEntry(server, &in)
	})
}

// writeInspectorEntry writes the entries of one element of an Inspector export.
func (c *converter) writeInspectorEntry(server string, in *inspectorEntry) error {
	at, err := time.Parse(time.RFC3339Nano, in.Timestamp+in.ReceivedAt) // an element has one of them
	if err != nil {
		return fmt.Errorf("%w: timestamp: %w", errInspector, err)
	}
	e := journal.Entry{Server: server, Conn: 1, Time: at}
	if e.Server == "" {
		e.Server = "server"
	}
	switch {
	case in.URL != "":
		x := &exchange{
			server: server, method: in.Method, url: in.URL, start: at, total: milliseconds(in.Duration), sent: headersOf(in.Sent), body: []byte(in.Body),
			status: statusLine(in.Status, in.Words), got: headersOf(in.Got), answer: []byte(in.Answer), failed: in.Failure,
		}
		if x.wait = x.total; server == "" {
			x.server = hostOf(in.URL)
		}
		c.writeExchange(x) // whatever it is: the Inspector fetches nothing else
	case in.Direction != "" && in.Message.Kind() == '{':
		e.Dir = journal.Out
		if in.Origin == "server" || in.Origin == "" && in.Direction != "request" {
			e.Dir = journal.In
		}
		c.queue.flush(c, at)
		c.queue.add(c, queued{e: e, body: in.Message.Clone()})
		if in.Response.Kind() == '{' {
			e.Dir, e.Time = journal.In+journal.Out-e.Dir, at.Add(milliseconds(in.Duration))
			c.queue.add(c, queued{e: e, body: in.Response.Clone()})
		}
		if in.Rejected != "" {
			e.Kind, e.Note, e.Dir = journal.State, "the Inspector refused this answer: "+in.Rejected, journal.None
			c.queue.add(c, queued{e: e})
		}
	case in.Params.Kind() == '{':
		c.queue.flush(c, at)
		e.Dir = journal.In
		c.queue.add(c, queued{e: e, body: jsonrpc.NewNotification("notifications/message", in.Params)})
	case in.Message.Kind() == '"':
		c.queue.flush(c, at)
		line, _ := jsonrpc.String(in.Message)
		e.Dir, e.Kind = journal.In, journal.Stderr
		c.queue.add(c, queued{e: e, body: []byte(line)})
	default:
		return errInspector
	}
	return nil
}

func headersOf(m map[string]string) http.Header {
	h := http.Header{}
	for name, value := range m {
		h.Set(name, value)
	}
	return h
}
