package importer

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// envelope takes a line of a mcpsnoop session: one observed event.
func (c *converter) envelope(line []byte) error {
	m := map[string][]byte{}
	if err := jsonrpc.Members(line, func(key string, value []byte) bool {
		m[key] = value
		return true
	}); err != nil {
		return err
	}
	str := func(key string) string {
		s, _ := jsonrpc.String(m[key])
		return s
	}
	e := journal.Entry{Server: str("server_label"), Conn: c.conn(str("session_id") + "\x00" + str("conn_id"))}
	if e.Server == "" {
		e.Server = str("session_id")
	}
	var err error
	if e.Time, err = time.Parse(time.RFC3339Nano, str("ts")); err != nil {
		return fmt.Errorf("expected a mcpsnoop event: ts: %w", err)
	}
	switch d := str("direction"); d {
	case "c2s":
		e.Dir = journal.Out
	case "s2c":
		e.Dir = journal.In
	case "stderr":
		e.Dir, e.Kind = journal.In, journal.Stderr
		c.put(e, []byte(str("text")))
		return nil
	case "meta":
		e.Kind, e.Note = journal.State, "started: "+commandOf(m["raw"])
		c.put(e, nil)
		return nil
	default:
		return fmt.Errorf("expected a mcpsnoop event: direction is %.20q, not c2s, s2c, stderr or meta", d)
	}
	e.Note = c.snoopHTTP(e, m, str)
	if string(m["truncated"]) == "true" {
		e.Note = "mcpsnoop kept the beginning of this frame only"
	}
	raw := m["raw"]
	if raw == nil {
		raw = []byte(str("text"))
	}
	if len(raw) > 0 {
		c.message(e, raw)
	}
	return nil
}

// commandOf is the command of a server, as mcpsnoop describes a session.
func commandOf(meta []byte) string {
	var words []string
	_ = jsonrpc.Elements(jsonrpc.Get(meta, "command"), func(value []byte) bool {
		s, _ := jsonrpc.String(value)
		words = append(words, s)
		return true
	})
	return strings.Join(mask.Args(words), " ")
}

// snoopHTTP takes what mcpsnoop keeps of HTTP: too little for a head, of which every other header would seem to be missing. A refusal
// is an entry of its own, and a header that says something else than the message a note on that.
func (c *converter) snoopHTTP(e journal.Entry, m map[string][]byte, str func(string) string) (note string) {
	env, _ := jsonrpc.Scan(m["raw"]) // what is not a message has no method
	if said := str("mcp_method"); said != "" && said != env.Method {
		note = "the header Mcp-Method says " + said
	}
	status, _ := strconv.Atoi(string(m["status"]))
	if status < http.StatusBadRequest {
		return note
	}
	h := http.Header{}
	if v := str("auth_challenge"); v != "" {
		h.Set("Www-Authenticate", v)
	}
	e.Kind, e.ID, e.Note = journal.HTTP, string(env.ID), statusLine(status, "")
	c.put(e, mask.Head("HTTP/1.1 "+e.Note, h))
	return note
}
