package importer

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// kinds are the kinds of entries by their names in files.
var kinds = func() map[string]journal.Kind {
	m := map[string]journal.Kind{}
	for k := journal.Request; k <= journal.State; k++ {
		m[k.String()] = k
	}
	return m
}()

// parseLine reads a line of journal.AppendLine. An entry without a kind is a count of entries that are missing.
func parseLine(line []byte) (e journal.Entry, body []byte, err error) {
	missing := false
	var wrong error
	err = jsonrpc.Members(line, func(key string, value []byte) bool {
		s, _ := jsonrpc.String(value)
		switch key {
		case "time":
			e.Time, wrong = time.Parse(time.RFC3339Nano, s)
		case "server":
			e.Server = s
		case "conn":
			e.Conn, wrong = strconv.ParseUint(string(value), 10, 64)
		case "dir":
			e.Dir = journal.Dir(max(slices.Index([]string{"", "out", "in"}, s), 0))
		case "kind":
			e.Kind = kinds[s]
		case "method":
			e.Method = s
		case "id":
			e.ID = s
		case "tool":
			e.Tool = s
		case "took_ms":
			var ms float64
			ms, wrong = strconv.ParseFloat(string(value), 64)
			e.Took = time.Duration(ms * float64(time.Millisecond))
		case "status":
			e.Status = s
		case "note":
			e.Note = s
		case "missing":
			missing = true
		case "frame":
			body = bytes.Clone(value)
		case "text":
			body = []byte(s)
		case "base64":
			body, wrong = base64.StdEncoding.DecodeString(s)
		}
		return wrong == nil
	})
	switch err = cmp.Or(err, wrong); {
	case err != nil:
		return e, nil, err
	case e.Kind == 0 && !missing:
		return e, nil, fmt.Errorf("not an entry of a journal: no kind of %s", "request, response, error, notification, stderr, bad, http and state")
	}
	return e, body, nil
}
