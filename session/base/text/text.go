// Package text writes what people read: texts cut to a bound, sizes and durations, differences and near misses. There is one of each,
// so that a size or a cut text looks the same in messages, logs, the terminal and the router's pages.
//
// Lengths are bytes, and a cut never splits a character of UTF-8. Nothing here makes a text safe for a terminal: that is for whoever
// draws it.
package text

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Cut is the first n bytes of s, or up to three fewer where the n-th is inside a character. A negative n counts as 0.
// The result shares memory with s: keep a strings.Clone of it where s is large.
func Cut(s string, n int) string {
	n = max(n, 0)
	if len(s) <= n {
		return s
	}
	// A character has at most four bytes, so its first one is at most three before n.
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n] // not UTF-8
}

// Clip is [Cut] with "…" at the end of what was cut; n does not count it, so that the result has up to n+3 bytes. What was cut shares
// no memory with s. Bytes that are not UTF-8 stay as they are.
func Clip(s string, n int) string {
	if len(s) <= max(n, 0) {
		return s
	}
	return Cut(s, n) + "…"
}

// FirstLine is the first line of s that is not blank, without the space around it; "" where all are blank. Lines end with \n, \r or
// both.
func FirstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = strings.TrimRight(s[:i], " \t")
	}
	return s
}

// Headline is how s begins to say something: its first line with a letter or digit in it, and the next such line where that one ends in a colon.
func Headline(s string) string {
	head := ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		// A rule of dashes, a fence of Markdown, an empty line: nothing is said yet.
		if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) || strings.HasPrefix(line, "```") {
			continue
		}
		if head = strings.TrimSpace(head + " " + line); !strings.HasSuffix(strings.TrimRight(head, "*_` "), ":") || head != line {
			break
		}
	}
	return head
}

// Bytes is a size in decimal units: "999 B", "1.2 kB", "67.1 MB", "3.0 GB". GB is the largest unit; a negative size is written as
// bytes.
func Bytes[N int | int64](n N) string {
	if n < 1000 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	f, unit := float64(n)/1e3, " kB"
	for _, next := range []string{" MB", " GB"} {
		if f >= 999.95 { // would print as 1000.0
			f, unit = f/1e3, next
		}
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + unit
}

// Duration is d as [time.Duration] prints it, rounded to three significant digits: "1.23s", "45.7ms", "1m23.4s", "2h3m20s". There is
// one such formatter, so that the same time reads the same everywhere.
func Duration(d time.Duration) string {
	// The power of ten that leaves three digits.
	unit := time.Duration(1)
	for rest := d.Abs(); rest >= 1000; rest /= 10 {
		unit *= 10
	}
	return d.Round(unit).String()
}
