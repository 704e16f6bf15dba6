package audit

import (
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxName bounds names in a line, in bytes: callers make them up.
const maxName = 200

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// Middleware records each call when it ends. It must be the outermost.
func (l *Log) Middleware(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		// Also when the forwarder ends a connection by a panic.
		defer func() {
			b := buffers.Get().(*[]byte)
			*b = Append((*b)[:0], c, time.Now())
			l.add(*b)
			buffers.Put(b)
		}()
		next(c)
	}
}

// Append appends the line of a finished call: a JSON object and a line feed. Untrusted text in it is escaped, so that it can
// neither begin a line nor control a terminal.
//
//	{"time":…,"principal":…,"agent":…,"http":"POST","method":"tools/call","tool"|"prompt"|"uri":…,"decision":"allowed"|"denied",
//	"why":KIND,"fault":KIND,"status":200,"duration_ms":1.234,"upstream_ms":…,"in":BYTES,"out":BYTES,"session":HASH,"trace":ID}
//
// why is there if the router itself responded, or the response ended early, and fault if the route injected one. Members that
// do not apply are left out.
func Append(b []byte, c *flow.Call, now time.Time) []byte {
	b = append(b, `{"time":"`...)
	b = now.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00")
	b = append(b, '"')
	b = appendText(b, "principal", c.Principal)
	b = appendText(b, "agent", c.Agent)
	b = appendText(b, "http", c.R.Method)
	b = appendText(b, "method", c.Env.Method)
	if key, name := subject(c); name != "" {
		b = appendText(b, key, name)
	}
	decision := "allowed"
	if c.Denied() {
		decision = "denied"
	}
	b = appendText(b, "decision", decision)
	if c.Failure != nil {
		b = appendText(b, "why", string(c.Failure.Kind))
	}
	b = appendText(b, "fault", c.Fault)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(c.Status), 10)
	b = milliseconds(b, "duration_ms", now.Sub(c.Began))
	if c.Upstream > 0 {
		b = milliseconds(b, "upstream_ms", c.Upstream)
	}
	b = append(b, `,"in":`...)
	b = strconv.AppendInt(b, int64(len(c.Body)), 10)
	b = append(b, `,"out":`...)
	b = strconv.AppendInt(b, c.Sent, 10)
	b = appendText(b, "session", c.Session)
	b = appendText(b, "trace", c.Trace)
	return append(b, '}', '\n')
}

// subject is what a call is about.
func subject(c *flow.Call) (key, name string) {
	switch name = c.Name(); {
	case name == "":
		return "", ""
	case c.Params.Name == nil:
		return "uri", mask.URL(name)
	case strings.HasPrefix(c.Env.Method, "prompts/"):
		return "prompt", clean(name)
	}
	return "tool", clean(name)
}

func milliseconds(b []byte, name string, d time.Duration) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendFloat(b, float64(d/time.Microsecond)/1000, 'f', 3, 64)
}

// clean hides what looks like a secret in a name. Names have no need of what secrets look like, so that only long ones are
// looked at.
func clean(name string) string {
	if len(name) < 16 {
		return name
	}
	return mask.Text(clip(name))
}

func clip(s string) string { return text.Clip(s, maxName) }

// appendText appends ,"name":"value" unless the value is empty. What is not printable ASCII is escaped, so that a line is one line to
// every reader, and nothing more than text to a terminal.
func appendText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	value = clip(value)
	for i := 0; i < len(value); {
		c := value[i]
		if c >= ' ' && c <= '~' {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(value[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			r -= 0x10000
			b = hex4(hex4(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
		default:
			b = hex4(b, r)
		}
	}
	return append(b, '"')
}

func hex4(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
