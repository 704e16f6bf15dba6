package filter

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// bound is whether a comparison stands at p.i: < or > before a number, or alone, while it is typed.
func (p *parser) bound() bool {
	i := p.i + 1
	if i < len(p.s) && p.s[i] == '=' {
		i++
	}
	return i == len(p.s) || p.s[i] >= '0' && p.s[i] <= '9'
}

// sizes are the units of a size, in lower case.
var sizes = map[string]float64{"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}

// compare reads a bound of the time that a request took, or of the size of a body.
func (p *parser) compare() (condition, error) {
	const expected = "expected a time such as 100ms, or a size such as 10kb"
	less := p.s[p.i] == '<'
	p.i++
	equal := p.i < len(p.s) && p.s[p.i] == '='
	if equal {
		p.i++
	}
	from, to := p.i, p.end(p.i)
	word := strings.ToLower(p.s[from:to])
	p.i = to
	within := func(have, bound float64) bool {
		return equal && have == bound || less && have < bound || !less && have > bound
	}
	if d, err := time.ParseDuration(word); err == nil && strings.Trim(word, "0.") != "" {
		return func(_ *journal.Journal, e *journal.Entry) bool {
			return e.Took > 0 && within(float64(e.Took), float64(d))
		}, nil
	}
	digits := len(word) - len(strings.TrimLeft(word, "0123456789."))
	n, err := strconv.ParseFloat(word[:digits], 64)
	unit, known := sizes[word[digits:]]
	switch {
	case err != nil:
		return nil, p.errorf(from, "%s", expected)
	case !known:
		return nil, p.errorf(from+digits, "%s", expected)
	}
	return func(_ *journal.Journal, e *journal.Entry) bool { return within(float64(e.Size), n*unit) }, nil
}

// A moment is a time as somebody wrote it: the span of what it names, a day or a second, and whether it said which day.
type moment struct {
	from, to time.Time // to is not part of it
	dated    bool
}

// layouts of moments: with and without a day, and how long what each names is.
var layouts = []struct {
	layout string
	long   time.Duration
	dated  bool
}{
	{"15:04:05", time.Second, false},
	{"15:04", time.Minute, false},
	{"2006-01-02T15:04:05", time.Second, true},
	{"2006-01-02T15:04", time.Minute, true},
	{"2006-01-02", 24 * time.Hour, true},
	{time.RFC3339, time.Second, true},
}

func readMoment(s string) (m moment, ok bool) {
	for _, l := range layouts {
		t, err := time.ParseInLocation(l.layout, s, time.Local)
		if err != nil {
			continue
		}
		long := l.long
		if _, fraction, ok := strings.Cut(s, "."); ok {
			digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
			for range min(digits, 9) {
				long /= 10
			}
		}
		m = moment{from: t, to: t.Add(long), dated: l.dated}
		if long == 24*time.Hour {
			m.to = t.AddDate(0, 0, 1) // where clocks are changed, a day is not 24 hours
		}
		return m, true
	}
	return m, false
}

// clock is the time since midnight, as a clock shows it.
func clock(t time.Time) time.Duration {
	h, m, s := t.Clock()
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
}

// atOf reads a time or a range of times, either end of which may be open. Both ends are part of it, as long as what they
// name: 10:31 is the whole minute. A time without a day is that time of any day.
func atOf(p *parser) (condition, error) {
	const expected = "expected a time such as 10:31:05, 2026-11-22T10:31 or 10:31..10:35"
	start, end := p.i, p.end(p.i)
	p.i = end
	first, last, ranged := strings.Cut(p.s[start:end], "..")
	if first == "" && last == "" {
		return nil, p.errorf(start, expected)
	}
	var from, to moment
	var ok bool
	if first != "" {
		if from, ok = readMoment(first); !ok {
			return nil, p.errorf(start, expected)
		}
	}
	if last != "" {
		at := start + len(first) + len("..")
		if to, ok = readMoment(last); !ok {
			return nil, p.errorf(at, expected)
		}
		switch {
		case first == "" || from.dated == to.dated:
		case from.dated: // the same day
			y, m, d := from.from.Date()
			midnight := time.Date(y, m, d, 0, 0, 0, 0, time.Local)
			to = moment{midnight.Add(clock(to.from)), midnight.Add(clock(to.from) + to.to.Sub(to.from)), true}
		default:
			return nil, p.errorf(start, "expected a day before this time, as the other end has one")
		}
		if first != "" && to.dated && !to.to.After(from.from) {
			return nil, p.errorf(at, "expected a time after %s", first)
		}
	}
	if !ranged {
		to, last = from, first
	}
	if from.dated || to.dated {
		return timeRange(from, to, first == "", last == ""), nil
	}
	return clockRange(from, to, first == "", last == ""), nil
}

// timeRange matches entries in a range of dated moments.
func timeRange(from, to moment, openFrom, openTo bool) condition {
	a, b := from.from, to.to
	return func(_ *journal.Journal, e *journal.Entry) bool {
		return (openFrom || !e.Time.Before(a)) && (openTo || e.Time.Before(b))
	}
}

// clockRange matches entries in a range of times of day; one that ends before it begins goes past midnight.
func clockRange(from, to moment, openFrom, openTo bool) condition {
	a, b := clock(from.from), clock(to.from)+to.to.Sub(to.from)
	if openFrom {
		a = 0
	}
	if openTo {
		b = 24 * time.Hour
	}
	return func(_ *journal.Journal, e *journal.Entry) bool {
		t := clock(e.Time.Local())
		if a < b {
			return t >= a && t < b
		}
		return t >= a || t < b
	}
}
