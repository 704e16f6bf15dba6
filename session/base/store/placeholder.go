package store

import (
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"
)

// numberPlaceholders is a query with PostgreSQL's $1 for the ?, ?1 and @name of SQLite, but in what is quoted or a comment, and the arguments in
// that order: those that have names may be more than the query asks for. A bare ? is one more than the highest before it. A name that no
// argument has stays, since PostgreSQL has operators that begin like one.
func numberPlaceholders(query string, args []driver.NamedValue) (string, []driver.NamedValue) {
	if !strings.ContainsAny(query, "?@") {
		return query, args
	}
	n := numbering{args: args}
	for _, a := range args {
		n.named = n.named || a.Name != ""
	}
	var out strings.Builder
	for i := 0; i < len(query); {
		if n := opaqueLen(query, i); n > 0 {
			out.WriteString(query[i : i+n])
			i += n
			continue
		}
		length, number := n.placeholder(query[i:])
		if length == 0 {
			out.WriteByte(query[i])
			i++
			continue
		}
		out.WriteByte('$')
		out.WriteString(strconv.Itoa(number))
		i += length
	}
	if n.named {
		return out.String(), n.used
	}
	return out.String(), args
}

// numbering are the placeholders of one query.
type numbering struct {
	args    []driver.NamedValue
	named   bool // an argument has a name
	used    []driver.NamedValue
	highest int // number of a bare ? so far
}

// placeholder is how long the one that s begins with is, 0 if there is none, and its number.
func (n *numbering) placeholder(s string) (length, number int) {
	switch s[0] {
	case '?':
		length = span(s, func(c byte) bool { return c >= '0' && c <= '9' })
		if number = n.highest + 1; length > 1 {
			number, _ = strconv.Atoi(s[1:length]) // digits
		}
		n.highest = max(n.highest, number)
		return length, n.use(func(a driver.NamedValue) bool { return a.Ordinal == number }, number)
	case '@':
		length = span(s, word)
		if number = n.use(func(a driver.NamedValue) bool { return length > 1 && a.Name == s[1:length] }, 0); number > 0 {
			return length, number
		}
	}
	return 0, 0
}

// span is the length of what s begins with: any byte, and those that are like it.
func span(s string, like func(byte) bool) int {
	n := 1
	for n < len(s) && like(s[n]) {
		n++
	}
	return n
}

// use is the number of an argument, or otherwise where there is none or none has a name.
func (n *numbering) use(is func(driver.NamedValue) bool, otherwise int) int {
	if !n.named {
		return otherwise
	}
	if i := slices.IndexFunc(n.used, is); i >= 0 {
		return i + 1
	}
	i := slices.IndexFunc(n.args, is)
	if i < 0 {
		return otherwise
	}
	n.used = append(n.used, n.args[i])
	return len(n.used)
}

// opaqueLen is how many bytes of s at i are a string, a quoted name or a comment, 0 if none begins there. One that does not end takes all.
func opaqueLen(s string, i int) int {
	rest := s[i:]
	switch {
	case rest[0] == '\'':
		escapes := i > 0 && (s[i-1] == 'E' || s[i-1] == 'e') && (i == 1 || !word(s[i-2]))
		return quoteLen(rest, '\'', escapes)
	case rest[0] == '"':
		return quoteLen(rest, '"', false)
	case strings.HasPrefix(rest, "--"):
		return end(rest, 0, "\n")
	case strings.HasPrefix(rest, "/*"):
		return commentLen(rest)
	case rest[0] == '$' && (i == 0 || !word(s[i-1])):
		tag := 1
		for tag < len(rest) && word(rest[tag]) {
			tag++
		}
		if tag == len(rest) || rest[tag] != '$' || rest[1] >= '0' && rest[1] <= '9' {
			return 0
		}
		return end(rest, tag+1, rest[:tag+1])
	}
	return 0
}

// quoteLen is the length of a quotation that s begins with. A doubled quote looks like the end of one and the beginning of the next.
func quoteLen(s string, quote byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

// commentLen is the length of the one that s begins with; PostgreSQL nests them.
func commentLen(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// end is the length of s up to and with the first mark at or after from.
func end(s string, from int, mark string) int {
	if i := strings.Index(s[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(s)
}

func word(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
