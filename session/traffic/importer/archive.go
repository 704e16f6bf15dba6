package importer

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// archive reads an HTTP archive: of a browser, a proxy, or one of ours.
func (c *converter) archive() error {
	v := c.values()
	for _, name := range []string{"log", "entries"} {
		if err := v.member(name); err != nil {
			return err
		}
	}
	return v.each(func(element []byte) error {
		var e HAREntry
		if err := json.Unmarshal(element, &e, json.JoinOptions(lenientOptions()...), json.MatchCaseInsensitiveNames(false)); err != nil {
			return fmt.Errorf("expected a HAR entry: %w", err)
		}
		x, err := fromHAR(&e)
		if err != nil {
			return err
		}
		if !x.isMCP() {
			c.mu.Lock()
			c.other++
			c.mu.Unlock()
			return nil
		}
		c.writeExchange(x)
		return nil
	})
}

// member reads the beginning of an object up to the value of a member.
func (v *values) member(name string) error {
	if err := v.token('{', "an object"); err != nil {
		return err
	}
	for {
		t, err := v.d.ReadToken()
		if err != nil {
			return v.at(err)
		}
		if t.Kind() == '}' {
			return v.at(fmt.Errorf("expected a HAR file: there is no member %q", name))
		}
		if t.String() == name {
			return nil
		}
		if err := v.d.SkipValue(); err != nil {
			return v.at(err)
		}
	}
}

// fromHAR reads an entry of an archive.
func fromHAR(e *HAREntry) (*exchange, error) {
	start, err := time.Parse(time.RFC3339Nano, e.Started)
	if err != nil {
		return nil, fmt.Errorf("expected a HAR entry: startedDateTime: %w", err)
	}
	x := &exchange{
		server: e.Server, method: e.Request.Method, url: e.Request.URL, start: start, total: milliseconds(e.Time),
		sent: headers(e.Request.Headers), got: headers(e.Response.Headers), status: statusLine(e.Response.Status, e.Response.StatusText),
		failed: e.Response.Error, frames: e.Frames, ended: e.Ended, made: e.Made, again: e.Again, reverse: e.From == "server",
		entry: journal.Entry{Conn: e.Conn, Hop: e.Hop},
	}
	x.wait = min(milliseconds(e.Timings.Send)+milliseconds(e.Timings.Wait), x.total)
	if x.server == "" {
		x.server = hostOf(x.url)
	}
	if e.Request.PostData != nil {
		x.body = []byte(e.Request.PostData.Text)
	}
	x.answer = []byte(e.Response.Content.Text)
	if e.Response.Content.Encoding == "base64" {
		if x.answer, err = base64.StdEncoding.DecodeString(e.Response.Content.Text); err != nil {
			return nil, fmt.Errorf("expected a HAR entry: content: %w", err)
		}
	}
	if x.got.Get("Content-Type") == "" && e.Response.Content.MimeType != "" {
		x.got.Set("Content-Type", e.Response.Content.MimeType)
	}
	return x, nil
}

func headers(list []HARPair) http.Header {
	h := http.Header{}
	for _, p := range list {
		if len(p.Name) > 0 && p.Name[0] != ':' { // HTTP/2's own
			h.Add(p.Name, p.Value)
		}
	}
	return h
}
