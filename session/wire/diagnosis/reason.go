package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
)

// Lines is how many of the last lines of a child's stderr are worth keeping for Explain: help texts are long, and what is wrong
// stands above them.
const Lines = 200

// tail is how many lines are shown after the one that says why.
const tail = 3

// Otherwise is what to do where a child says why it ended, in words that nobody knows.
const Otherwise = "set right what it says, then start it again"

// Reason is what a child that did not become a server left behind on stderr.
type Reason struct {
	Cause
	Line  string   // that says why, as the child wrote it; "" if none does
	Shown []string // Line, what names the variable, then the last three; all where there are hardly more. "…" stands for what is left out
}

// Advice is what happened and what to do about it, in a line; "" where the child wrote nothing.
func (r Reason) Advice() string {
	if a := r.Cause.Advice(); a != "" || len(r.Shown) == 0 {
		return a
	}
	return Otherwise
}

// Why is the reason in a line, "" if there is none.
func (r Reason) Why() string { return cmp.Or(r.What, r.Line) }

// Explain finds in the lines of a child's stderr why it did not become a server. It may look at files. Whoever says why a server did not
// start has it from here. set is as for [Of].
func Explain(lines []string, set func(variable string) bool) Reason {
	lines = readable(lines[max(len(lines)-Lines, 0):])
	r := Reason{Cause: Of(lines, set)}
	silent := sayNothing(lines)
	why := slices.Clone(r.at)
	if len(why) == 0 || r.Remedy == failure.RemoveCache {
		why = nil
		for i, l := range lines {
			if silent[i] || !complains(l) {
				continue
			}
			begins := strings.ContainsAny(l[len(strings.TrimRight(l, " \t"))-1:], "[{:") // of what stands below
			if why == nil || !begins {
				why = []int{i}
			}
			if !begins {
				break
			}
		}
	}
	if deeper := cause(lines, silent); r.What == "" && deeper >= 0 && (len(why) == 0 || deeper > why[0]) {
		why = []int{deeper}
	}
	if len(why) > 0 {
		r.Line = strings.TrimSpace(text.Cut(lines[why[0]], 500))
	}
	var said []int
	for i := range lines {
		if !silent[i] || slices.Contains(why, i) {
			said = append(said, i)
		}
	}
	show := said
	if len(said) > tail+1 {
		show = append(why, said[len(said)-tail:]...)
		slices.Sort(show)
		show = slices.Compact(show)
	}
	for n, i := range show {
		if n > 0 && slices.Index(said, i) > slices.Index(said, show[n-1])+1 {
			r.Shown = append(r.Shown, "…")
		}
		r.Shown = append(r.Shown, lines[i])
	}
	return r
}

// cause is the last line that says what lay below a failure, as runtimes write it beneath the failure itself; -1 for none.
func cause(lines []string, silent []bool) int {
	found := -1
	for i, l := range lines {
		m := beneath().FindStringSubmatch(strings.TrimSpace(l))
		switch {
		case m == nil, i > 0 && mild().MatchString(lines[i-1]): // it is what lay below a warning
		case m[1] != "" && !mild().MatchString(m[1]):
			found = i
		default: // it stands in the next lines, numbered where there are several
			for j := i + 1; j < len(lines) && (j == i+1 || numbered().MatchString(strings.TrimSpace(lines[j]))); j++ {
				if !silent[j] {
					found = j
				}
			}
		}
	}
	return found
}

// readable are lines without what paints them, of which those go that then are blank.
func readable(lines []string) (out []string) {
	for _, l := range lines {
		if l = Plain(l); strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

var (
	bad = lazyPattern(`(?i)\b(errors?|fatal|panic|missing|required|requires|not found|cannot|can't|could not|couldn't|unable to|failed|failure|invalid|denied|refused|rejected|` +
		`no such|must (be|provide|set|have|specify)|not (set|defined|provided|configured|supported|exist)|no .{1,40} (was |were )?(provided|configured|given|found|set)|unauthorized|exception|` +
		`unsupported|unrecognized|please (set|provide|specify))\b|[a-z](Error|Exception)\b`)
	mild  = lazyPattern(`(?i)^\W*(\S+ )?(warn(ing)?|info|debug|trace|notice|hint)\b|\b(experimental)?warning:|\bdeprecat|"level":\s*("(info|debug|warn|trace)"|[1-4]0\b)|[\[ (](INFO|DEBUG|WARN|WARNING|TRACE)[\]): ]`)
	none  = lazyPattern(`(?i)\b(no|0|without( any)?) (errors?|failures?|warnings?)\b|\berrors?: 0\b|unhandled errors in a TaskGroup|complete log of this run`)
	frame = lazyPattern(`^(\| )*(File ".*", line \d+|node:[\w/]+:\d+$|Traceback \(most recent call last\)|Node\.js v\d|Require stack:|requireStack:|triggerUncaughtException|(code|errno|syscall|type|address|port|url): \S+$|- (/|[A-Z]:)\S+$|npm notice|` +
		`npm err(or|!)?( \w+)?$|npm err(or|!) at |.*complete log of this run|(During handling of|The above exception was)|[{}\[\](),;^~| +-]*$)|^/?\S+\.[cm]?[jt]s:\d+$|^file://\S+:\d+$`)
	beneath = lazyPattern(`^(?:\[cause\]|Caused by|caused by): ?(.*)$`)

	numbered = lazyPattern(`^\d+: \S`)

	python  = lazyPattern(`^(\| )*File ".*", line \d+`)
	raised  = lazyPattern(`^(\| )*[\w.]*(Error|Exception|Exit|Interrupt|Group)\b`)
	carets  = lazyPattern(`^[\^~]+$`)
	thrower = lazyPattern(`^(throw|raise) `)
)

// complains reports whether a line says that something is wrong.
func complains(line string) bool {
	line = text.Cut(strings.TrimSpace(line), 2000)
	return bad().MatchString(line) && !mild().MatchString(line) && !none().MatchString(line)
}

// sayNothing marks the frames of stack traces, the source code in them, and what decorates it.
func sayNothing(lines []string) []bool {
	silent := make([]bool, len(lines))
	for i, l := range lines {
		l = text.Cut(strings.TrimSpace(l), 2000)
		switch {
		case frame().MatchString(l), StackFrame(l), thrower().MatchString(l):
			silent[i] = true
		case i > 0 && python().MatchString(strings.TrimSpace(lines[i-1])) && !raised().MatchString(l):
			silent[i] = true
		case i+1 < len(lines) && carets().MatchString(strings.TrimSpace(lines[i+1])):
			silent[i] = true
		}
	}
	return silent
}
