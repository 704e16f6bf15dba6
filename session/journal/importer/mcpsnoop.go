package importer

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
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
	c.snoopHead(e, m, str)
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

// snoopHead writes the HTTP head of an event, as far as mcpsnoop keeps it.
func (c *converter) snoopHead(e journal.Entry, m map[string][]byte, str func(string) string) {
	h := http.Header{}
	for member, name := range map[string]string{
		"mcp_method": "Mcp-Method", "mcp_name": "Mcp-Name", "mcp_protocol_version": "Mcp-Protocol-Version", "auth_challenge": "Www-Authenticate",
	} {
		if v := str(member); v != "" {
			h.Set(name, v)
		}
	}
	_ = jsonrpc.Elements(m["mcp_param_headers"], func(one []byte) bool {
		h.Add(jsonrpc.GetString(one, "name"), jsonrpc.GetString(one, "value"))
		return true
	})
	status, _ := strconv.Atoi(string(m["status"]))
	if str("transport") != "http" || len(h) == 0 && status == 0 {
		return
	}
	if env, err := jsonrpc.Scan(m["raw"]); err == nil {
		e.Method, e.ID = env.Method, string(env.ID)
	}
	first := "POST / HTTP/1.1"
	e.Kind, e.Note = journal.HTTP, "POST"
	if e.Dir == journal.In {
		e.Note = strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
		first = "HTTP/1.1 " + e.Note
	}
	c.put(e, mask.Head(first, h))
}
