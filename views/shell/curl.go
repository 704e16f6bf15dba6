package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// headDistance is how many entries lie at most between a frame and the head of
// the HTTP request that carried it: other calls may get in between.
const headDistance = 4096

// curlAlone are the headers that curl makes itself.
var curlAlone = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "User-Agent"}

// Curl makes the curl command that sends once more what an entry of the journal is or answers; nil where that did not
// go over HTTP. Secrets of headers are variables of the shell, such as $TOKEN for that of Authorization.
func Curl(m *session.Manager, seq uint64) func() (string, error) {
	j := m.Journal()
	e, ok := j.Get(seq)
	if ok && e.Dir == journal.In {
		e, ok = j.Get(e.Peer)
	}
	if !ok || e.Dir != journal.Out {
		return nil
	}
	s, ok := m.Server(e.Server)
	if !ok || s.Config().URL == "" {
		return nil
	}
	srv := s.Config().Masked()
	return func() (string, error) {
		head, frame := e, e
		if e.Kind == journal.HTTP {
			frame, _ = alongside(j, e, -1, func(o journal.Entry) bool { return o.Kind != journal.HTTP })
		} else if head, ok = alongside(j, e, 1, func(o journal.Entry) bool { return o.Kind == journal.HTTP }); !ok {
			return "", fmt.Errorf("the HTTP request of %s is not in the journal; send it again, then copy", e.Method)
		}
		text, err := j.Body(head.Seq)
		if err != nil {
			return "", fmt.Errorf("the head of the HTTP request is gone: %w; send it again, then copy", err)
		}
		var body []byte
		if frame.Seq != 0 && frame.Method != "" {
			if body, err = j.Body(frame.Seq); err != nil {
				return "", fmt.Errorf("the raw frame is gone: %w; send it again, then copy", err)
			}
		}
		return curlCommand(srv, text, body), nil
	}
}

// alongside finds the nearest entry after (step 1) or before (step -1) e that belongs to the same message out.
func alongside(j *journal.Journal, e journal.Entry, step int, is func(journal.Entry) bool) (journal.Entry, bool) {
	seq := e.Seq
	for range headDistance {
		seq += uint64(step)
		o, ok := j.Get(seq)
		if !ok {
			break
		}
		if o.Dir == journal.Out && o.Server == e.Server && o.Conn == e.Conn && o.Method == e.Method && o.ID == e.ID && is(o) {
			return o, true
		}
	}
	return journal.Entry{}, false
}

// withVariable is a header as a word of a command line: a secret, which the journal does not have, is a variable.
func withVariable(name, line string) string {
	shown, ok := strings.CutSuffix(line, mask.Hidden)
	if !ok {
		return safe.Quote(line)
	}
	variable := "TOKEN"
	if name != "Authorization" {
		variable = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return unicode.ToUpper(r)
			}
			return '_'
		}, name)
	}
	if variable[0] <= '9' {
		variable = "_" + variable
	}
	return safe.Quote(shown) + `"$` + variable + `"`
}

// curlCommand is the command for a journalled head ("POST URL HTTP/1.1" and
// "Name: value" lines) and the body that went with it, for a POSIX shell.
func curlCommand(srv config.Server, head, body []byte) string {
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	method, url, _ := strings.Cut(string(first), " ")
	url, _, _ = strings.Cut(url, " ")
	var b strings.Builder
	b.WriteString("curl -N") // what comes as a stream is shown as it comes
	if method != "GET" && (method != "POST" || body == nil) {
		b.WriteString(" -X " + safe.Quote(method))
	}
	if _, socket, err := config.Endpoint(srv.URL); err == nil && socket != "" {
		b.WriteString(" --unix-socket " + safe.Quote(socket))
	}
	if srv.Proxy == config.NoProxy {
		srv.Proxy = ""
		b.WriteString(" --noproxy '*'")
	}
	for _, word := range network(srv, [5]string{"--proxy", "--cacert", "--cert", "--key", "--insecure"}) {
		b.WriteString(" " + word)
	}
	b.WriteString(" " + safe.Quote(url))
	for line := range strings.Lines(string(rest)) {
		line = strings.TrimRight(line, "\n")
		if name, _, ok := strings.Cut(line, ": "); ok && !slices.Contains(curlAlone, name) {
			b.WriteString(" \\\n  -H " + withVariable(name, line))
		}
	}
	if body != nil {
		b.WriteString(" \\\n  --data-raw " + safe.Quote(string(body)))
	}
	return b.String()
}
