package compare

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Noise is where equal runs differ. Nil says that there were none.
type Noise struct {
	at map[string]bool // places, by key
}

// Learn makes out of two results of equal runs where such runs differ.
func Learn(first, second []byte) *Noise {
	n := &Noise{at: map[string]bool{}}
	for _, d := range Values(first, second, Options{NoGuess: true}).Differences {
		if d.Pointer == "" && d.Within == "" && d.Op == Changed {
			continue // all of it: the runs have nothing in common
		}
		n.at[d.key()] = true
	}
	return n
}

// Places is how many places are known.
func (n *Noise) Places() int {
	if n == nil {
		return 0
	}
	return len(n.at)
}

// key is the place of a difference and whether something is there or not, the same for all elements that come and go in one array.
func (d Difference) key() string {
	at, in := d.Pointer, ""
	if d.Within != "" {
		at, in = d.Within, d.Pointer
	}
	if d.element {
		at = at[:strings.LastIndexByte(at, '/')] + "/*"
	}
	if d.Op == Added || d.Op == Removed {
		at += "\x00?"
	}
	return in + "\x00" + at
}

// judge says whether a difference counts, and if not, why.
func (o *Options) judge(d Difference) (Class, string) {
	if why := o.protocolReason(d); why != "" {
		return Protocol, why
	}
	if o.Ignore != nil && o.Ignore(d.Pointer+d.Within) {
		return Varies, "ignored"
	}
	if o.Noise != nil && o.Noise.at[d.key()] && (d.Op != Changed || kind(d.Before) == kind(d.After)) {
		return Varies, "varies between equal runs"
	}
	if o.NoGuess || o.Noise != nil || d.Op != Changed { // equal runs say more than looks
		return Real, ""
	}
	if why := o.guess(d); why != "" {
		return Guess, why
	}
	return Real, ""
}

// protocolReason says why a difference follows from the protocol versions, "" if it does not: members that only one of the eras has.
func (o *Options) protocolReason(d Difference) string {
	if d.Within == "" && strings.HasPrefix(d.Pointer, "/_meta/io.modelcontextprotocol~1serverInfo") && (d.Op == Changed || strings.Count(d.Pointer, "/") > 2) {
		return "names the server"
	}
	if o.Versions[0] == "" || o.Versions[1] == "" || d.Within != "" || d.Op != Added && d.Op != Removed {
		return ""
	}
	a, b := modern(o.Versions[0]), modern(o.Versions[1])
	if a == b {
		return ""
	}
	switch d.Pointer {
	case "/resultType", "/ttlMs", "/cacheScope", "/_meta", "/_meta/io.modelcontextprotocol~1serverInfo":
	default:
		return ""
	}
	if a == (d.Op == Removed) { // it is on the modern side
		return "only the modern era has it"
	}
	return ""
}

func modern(version string) bool { return version[0] == '2' && version >= "2026-07-28" }

// kind is the type of a JSON value by its first byte, one for all numbers and both booleans.
func kind(v []byte) byte {
	switch {
	case len(v) == 0:
		return 0
	case number(v):
		return '0'
	case v[0] == 'f':
		return 't'
	}
	return v[0]
}

// guess is what a changed value looks like that is different in each run, "" if it looks like nothing of that kind.
func (o *Options) guess(d Difference) string {
	name := d.Pointer
	if d.Within != "" {
		name = d.Within
	}
	name = jsonrpc.UnescapeToken(name[strings.LastIndexByte(name, '/')+1:])
	if kind(d.Before) == '0' && kind(d.After) == '0' {
		return o.guessNumber(name, string(d.Before), string(d.After))
	}
	a, ok1 := jsonrpc.String(d.Before)
	b, ok2 := jsonrpc.String(d.After)
	if !ok1 || !ok2 {
		return ""
	}
	for _, look := range looks {
		if look.is(o, a, o.Before) && look.is(o, b, o.After) {
			return look.what
		}
	}
	if opaque(a) && opaque(b) && len(a) == len(b) && idName(name) {
		return "id of one request"
	}
	return o.guessText(a, b)
}

// looks are texts that are different in each run.
var looks = [...]struct {
	what string
	is   func(o *Options, s string, made time.Time) bool
}{
	{"time of the call", func(_ *Options, s string, made time.Time) bool { return isTime(s, made) }},
	{"UUID", func(_ *Options, s string, _ time.Time) bool { return isUUID(s) }},
	{"trace id", func(_ *Options, s string, _ time.Time) bool { return isTrace(s) }},
	{"duration", func(_ *Options, s string, _ time.Time) bool { return isDuration(s) }},
}

// near is how far a clock may be from the time of the call to be taken for it.
const near = 10 * time.Minute

var layouts = [...]struct {
	layout string
	zone   bool // it says how far it is from UTC
}{
	{time.RFC3339Nano, true}, {time.RFC1123, true}, {time.RFC1123Z, true}, {time.DateTime, false}, {"2006-01-02T15:04:05", false}, {time.ANSIC, false},
}

func isTime(s string, made time.Time) bool {
	if len(s) < 19 || len(s) > 40 || made.IsZero() {
		return false
	}
	for _, l := range layouts {
		t, err := time.Parse(l.layout, s)
		if err != nil {
			continue
		}
		if l.zone {
			return made.Sub(t).Abs() < near
		}
		return made.Sub(t).Abs() < near+14*time.Hour // whichever zone it means
	}
	return false
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && isHex(strings.ReplaceAll(s, "-", ""))
}

func isTrace(s string) bool {
	if len(s) == 55 && strings.HasPrefix(s, "00-") {
		return isHex(strings.ReplaceAll(s, "-", ""))
	}
	return (len(s) == 32 || len(s) == 16) && isHex(s)
}

func isDuration(s string) bool {
	if len(s) < 2 || len(s) > 24 || s[0] < '0' || s[0] > '9' {
		return false
	}
	_, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	return err == nil
}

// opaque is a text without words: letters and digits, some of them digits.
func opaque(s string) bool {
	digits := false
	for i := range len(s) {
		c := s[i]
		digit := c >= '0' && c <= '9'
		digits = digits || digit
		if !digit && c != '-' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return digits && len(s) >= 6
}

// words are those of a member's name, in lower case.
func words(name string) (out []string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	for i, r := range name {
		up := r >= 'A' && r <= 'Z'
		if up && i > 0 && (name[i-1] < 'A' || name[i-1] > 'Z') || r == '_' || r == '-' || r == '.' || r == '/' || r == ' ' {
			flush()
		}
		if r != '_' && r != '-' && r != '.' && r != '/' && r != ' ' {
			b.WriteRune(r)
		}
	}
	flush()
	return out
}

func hasWord(name string, any ...string) bool {
	for _, w := range words(name) {
		for _, a := range any {
			if w == a {
				return true
			}
		}
	}
	return false
}

func idName(name string) bool {
	return hasWord(name, "request", "trace", "span", "session", "correlation", "nonce", "cursor", "etag", "token", "run", "task", "requestid", "traceid", "sessionid")
}

// guessNumber takes clocks by their value, and durations by their name.
func (o *Options) guessNumber(name, before, after string) string {
	if isEpoch(before, o.Before) && isEpoch(after, o.After) {
		return "time of the call"
	}
	if hasWord(name, "ms", "us", "ns", "millis", "duration", "elapsed", "took", "latency", "uptime") {
		return "duration, by its name"
	}
	return ""
}

// isEpoch is whether a number is a time near the call, in seconds, milliseconds, microseconds or nanoseconds.
func isEpoch(s string, made time.Time) bool {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || made.IsZero() {
		return false
	}
	now := float64(made.UnixNano())
	for _, unit := range [...]float64{1, 1e3, 1e6, 1e9} {
		if d := v*unit - now; d < float64(near) && d > -float64(near) {
			return true
		}
	}
	return false
}

// guessText is for longer texts of which only such parts differ.
func (o *Options) guessText(a, b string) string {
	const most = 1 << 20
	if len(a)+len(b) > most {
		return ""
	}
	x, y := strings.FieldsFunc(a, isSeparator), strings.FieldsFunc(b, isSeparator)
	if len(x) != len(y) || len(x) < 2 {
		return ""
	}
	some := false
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		ok := false
		for _, look := range looks {
			ok = ok || look.is(o, x[i], o.Before) && look.is(o, y[i], o.After)
		}
		ok = ok || isEpoch(x[i], o.Before) && isEpoch(y[i], o.After) || isClock(x[i]) && isClock(y[i])
		if !ok {
			return ""
		}
		some = true
	}
	if !some {
		return ""
	}
	return "times, durations or ids in the text"
}

// isSeparator reports whether a rune stands between words.
func isSeparator(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`()[]{}<>,;=|", r) }

// isClock is a time of day, 12:34:56 with or without a fraction.
func isClock(s string) bool {
	s, _, _ = strings.Cut(s, ".")
	_, err := time.Parse(time.TimeOnly, s)
	return err == nil
}
