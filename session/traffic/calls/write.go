package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config/yamlfile"
)

// rewrite is the text of a call's file. old is what is there, nil for nothing.
func rewrite(c Call, old []byte) ([]byte, error) {
	values := c.values()
	if len(old) == 0 {
		return newFile(values), nil
	}
	r := reader{yamlfile.Reader{File: c.File}}
	all, err := r.members(old)
	if err != nil {
		return nil, fmt.Errorf("cannot write over the call: %w", err)
	}
	if slices.ContainsFunc(all, func(m yamlfile.Member) bool { return m.Key == "steps" }) {
		return nil, fmt.Errorf("cannot write over the call %s: it has several steps", c.File)
	}
	lines := bytes.SplitAfter(old, []byte("\n"))
	var out []byte
	done := map[string]bool{}
	next := 0 // the first line that is not copied yet
	for i, m := range all {
		begin, end := m.Pos.Line-1, len(lines)
		if i+1 < len(all) {
			end = all[i+1].Pos.Line - 1
		}
		if m.Pos.Column != 1 || end <= begin { // in braces
			return nil, fmt.Errorf("cannot write over the call %s: it is written in braces, or several keys are in one line", c.File)
		}
		for end > begin+1 && isBlankOrComment(lines[end-1]) { // blank lines and comments are about what follows
			end--
		}
		out = append(out, bytes.Join(lines[next:begin], nil)...)
		next = end
		block := bytes.Join(lines[begin:end], nil)
		value, ours := values[m.Key]
		done[m.Key] = true
		is, err := r.JSON(m.Value)
		if err != nil {
			return nil, fmt.Errorf("cannot write over the call: %w", err)
		}
		switch {
		case ours && bytes.Equal(is, value), !ours && !isOwnKey(m.Key):
			out = append(out, endLine(block)...)
		case ours:
			out = appendMember(out, m.Key, value, 0)
		}
	}
	rest := bytes.Join(lines[next:], nil)
	for _, key := range keys {
		if value, ours := values[key]; ours && !done[key] {
			out = appendMember(out, key, value, 0)
		}
	}
	return append(out, rest...), nil
}

// isOwnKey reports whether the program writes a key, so that it is removed from the file where the call has no value for it.
func isOwnKey(key string) bool {
	for _, k := range keys {
		if k == key && k != "note" && slices.Index(keys, k) < slices.Index(keys, "expect") { // the others are people's
			return true
		}
	}
	return false
}

// isBlankOrComment reports whether a line is blank or a comment.
func isBlankOrComment(line []byte) bool {
	t := bytes.TrimSpace(line)
	return len(t) == 0 || t[0] == '#' && line[0] == '#'
}

func endLine(block []byte) []byte {
	if len(block) > 0 && block[len(block)-1] != '\n' {
		return append(bytes.Clone(block), '\n')
	}
	return block
}

// values are the members of a call's file as JSON.
func (c Call) values() map[string][]byte {
	out := map[string][]byte{}
	text := func(key, s string) {
		if s != "" {
			out[key] = jsonrpc.Quote(s)
		}
	}
	list := func(key string, all []string) {
		if len(all) == 0 {
			return
		}
		if b, err := json.Marshal(all); err == nil { // strings always marshal
			out[key] = b
		}
	}
	object := func(key string, raw json.RawMessage) {
		if len(raw) > 0 && string(raw) != "{}" {
			out[key] = jsonrpc.OneLine(raw)
		}
	}
	switch {
	case !c.Server.Unnamed:
		text("server", c.Server.Name)
	case c.Server.Command != "":
		list("command", append([]string{c.Server.Command}, c.Server.Args...))
	default:
		text("url", c.Server.URL)
	}
	for key, method := range methods {
		if method == c.Method {
			text(key, c.Target)
		}
	}
	object("arguments", c.Arguments)
	object("meta", c.Meta)
	var secrets []string
	for _, p := range c.Secrets {
		secrets = append(secrets, strings.TrimPrefix(p, inArguments))
	}
	list("secrets", secrets)
	text("note", c.Note)
	if c.Timeout > 0 {
		text("timeout", formatTimeout(c.Timeout))
	}
	if c.Expect.IsError != nil {
		out["isError"] = strconv.AppendBool(nil, *c.Expect.IsError)
	}
	if c.Expect.MaxLatency > 0 {
		text("maxLatency", formatTimeout(c.Expect.MaxLatency))
	}
	if c.Expect.Snapshot != nil {
		out["snapshot"] = []byte("true")
		if ignored, err := json.Marshal(map[string][]string{"ignore": c.Expect.Snapshot.Ignored()}); err == nil && len(c.Expect.Snapshot.Ignored()) > 0 { // strings always marshal
			out["snapshot"] = ignored
		}
	}
	return out
}

// formatTimeout writes a time without its zeros: 1m, not 1m0s.
func formatTimeout(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// newFile writes the values in the order of keys, as a file that did not exist has them.
func newFile(values map[string][]byte) (out []byte) {
	for _, key := range keys {
		if v, ok := values[key]; ok {
			out = appendMember(out, key, v, 0)
		}
	}
	return out
}

// appendMember appends a member of a mapping that is indented by so many levels.
func appendMember(out []byte, key string, value []byte, level int) []byte {
	out = append(out, strings.Repeat("  ", level)...)
	out = append(append(out, scalar(key)...), ':')
	return appendValue(out, value, level+1)
}

// appendValue appends a value behind a key or a dash, and the end of its line.
func appendValue(out, value []byte, level int) []byte {
	value = bytes.TrimSpace(value)
	if len(value) < 3 || value[0] != '{' && value[0] != '[' {
		if s, ok := jsonrpc.String(value); ok {
			return appendText(append(out, ' '), s, level)
		}
		return append(append(append(out, ' '), value...), '\n')
	}
	if value[0] == '{' {
		out = append(out, '\n')
		_ = jsonrpc.Members(value, func(key string, v []byte) bool { // it is valid JSON
			out = appendMember(out, key, v, level)
			return true
		})
		return out
	}
	if fitsLine(value) {
		return append(append(append(out, ' '), flowSequence(value)...), '\n')
	}
	out = append(out, '\n')
	_ = jsonrpc.Elements(value, func(v []byte) bool {
		if len(v) > 2 && v[0] == '{' { // its first member stands behind the dash
			at := len(out) + 2*level
			out = appendValue(out, v, level+1)
			out = append(out[:at-2*level], out[at-2*level+1:]...) // the end of the dash's line
			out[at] = '-'
			return true
		}
		out = append(append(out, strings.Repeat("  ", level)...), '-')
		out = appendValue(out, v, level+1)
		return true
	})
	return out
}

// fitsLine reports whether a list is written in one line: if it has only scalars, and less than 80 bytes.
func fitsLine(list []byte) bool {
	ok := len(list) < 80
	_ = jsonrpc.Elements(list, func(v []byte) bool {
		ok = ok && v[0] != '{' && v[0] != '['
		return ok
	})
	return ok
}

// flowSequence writes a list of scalars as YAML has it in one line: [a, b].
func flowSequence(list []byte) string {
	var items []string
	_ = jsonrpc.Elements(list, func(v []byte) bool {
		if s, ok := jsonrpc.String(v); ok {
			v = []byte(scalar(s))
		}
		items = append(items, string(v))
		return true
	})
	return "[" + strings.Join(items, ", ") + "]"
}

// plain are texts that mean themselves in YAML, whatever its version.
var (
	plain    = lazyRegexp(`^[A-Za-z_/][A-Za-z0-9_/.@$%+-]*( [A-Za-z0-9_/.@$%+()-]+)*$`)
	duration = lazyRegexp(`^(\d+(h|m|s|ms))+$`)
	reserved = lazyRegexp(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

// scalar is a text in a line: as it is where that is one, else as JSON, which YAML understands.
func scalar(s string) string {
	if len(s) < 200 && (plain().MatchString(s) && !reserved().MatchString(s) || duration().MatchString(s)) {
		return s
	}
	return quoteYAML(s)
}

// quoteYAML quotes a text as JSON does, without the escapes of surrogate pairs, which YAML does not know.
func quoteYAML(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // to memory
	return strings.TrimSuffix(b.String(), "\n")
}

// appendText appends a text and the end of the line: one of several lines as a block, where that gives every byte back.
func appendText(out []byte, s string, level int) []byte {
	lines := strings.Split(s, "\n")
	block := len(lines) > 1 && lines[0] != "" && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\t")
	for _, l := range lines {
		block = block && strings.TrimRight(l, " \t\r") == l && strings.IndexFunc(l, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' || r == '\ufffd' }) < 0
	}
	head := "|-"
	if strings.HasSuffix(s, "\n") {
		head, lines = "|", lines[:len(lines)-1]
	}
	if !block || strings.HasSuffix(s, "\n\n") {
		return append(append(out, scalar(s)...), '\n')
	}
	out = append(append(out, head...), '\n')
	for _, l := range lines {
		if l != "" {
			out = append(append(out, strings.Repeat("  ", level)...), l...)
		}
		out = append(out, '\n')
	}
	return out
}

// lazyRegexp compiles an expression when it is first used: a short command should not wait for it.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
