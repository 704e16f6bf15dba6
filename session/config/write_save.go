package config

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// around is how many unchanged lines a diff has around a change; maxLine how long its lines are at most.
const (
	around  = 3
	maxLine = 400
)

// Diff is the change as a unified diff, secrets masked. "" where nothing changes.
func (c *Change) Diff() string {
	before, after := c.maskFile(c.Before), c.maskFile(c.After)
	skipped := 0
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(a) > around && len(b) > around && slices.Equal(a[:around+1], b[:around+1]) {
		a, b, skipped = a[1:], b[1:], skipped+1
	}
	for len(a) > around && len(b) > around && slices.Equal(a[len(a)-around-1:], b[len(b)-around-1:]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	hunks, _, _ := text.Diff(strings.Join(a, ""), strings.Join(b, ""))
	if hunks == "" {
		return ""
	}
	from := c.File
	if c.Before == nil {
		from = os.DevNull
	}
	out := "--- " + from + "\n+++ " + c.File + "\n"
	for line := range strings.Lines(hunks) {
		if m := hunkHead().FindStringSubmatch(line); m != nil {
			line = "@@ -" + shiftLine(m[1], skipped) + m[2] + " +" + shiftLine(m[3], skipped) + m[4] + " @@\n"
		}
		out += text.Clip(strings.TrimSuffix(line, "\n"), maxLine) + "\n"
	}
	return out
}

// hunkHead matches the head of a hunk, of which the lines are shifted by those that were skipped.
var hunkHead = lazyPattern(`^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@`)

// shiftLine is the number of a line, further down by so many.
func shiftLine(line string, by int) string {
	n, _ := strconv.Atoi(line) // digits
	return strconv.Itoa(n + by)
}

// pairInFile is a name and its value as JSON, YAML and TOML have them.
var pairInFile = lazyPattern(`(["']?)([A-Za-z_][\w.-]*)(["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',{}\[\]#][^\n,}\]#]*)`)

// MaskFile is a file with the entries of servers as it may be shown.
func MaskFile(b []byte, servers []Server) string {
	c := &Change{}
	for _, s := range servers {
		c.secrets = append(c.secrets, s.literalSecrets()...)
	}
	return c.maskFile(b)
}

// maskFile is a file as it may be shown.
func (c *Change) maskFile(b []byte) string {
	s := string(b)
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, mask.Hidden)
		if quoted := string(jsonString(secret)); quoted != `"`+secret+`"` {
			s = strings.ReplaceAll(s, quoted[1:len(quoted)-1], mask.Hidden)
		}
	}
	s = pairInFile().ReplaceAllStringFunc(s, func(m string) string {
		p := pairInFile().FindStringSubmatch(m)
		value := strings.Trim(p[4], `"'`)
		if !mask.Secret(p[2]) || p[2] == "bearer_token_env_var" || !secretText(p[2], value) || value == "true" || value == "false" {
			return m
		}
		return p[1] + p[2] + p[3] + strings.Replace(p[4], value, mask.Value(p[2], value), 1)
	})
	return mask.Text(s)
}

// lazyPattern compiles a pattern when it is used: most runs of the program change no file.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// anyVariable is a reference to a variable in any dialect.
var anyVariable = lazyPattern(`\$?\{+[^{}]*\}+`)

// secretText reports whether a value under that name has a secret that is written there, and not in a variable.
func secretText(name, value string) bool {
	value = strings.TrimSpace(anyVariable().ReplaceAllString(value, ""))
	for _, scheme := range []string{"bearer", "basic", "token"} {
		if strings.EqualFold(value, scheme) {
			return false
		}
	}
	return value != "" && mask.Value(name, value) != value
}

// literalSecrets are the secrets that an entry has in its text.
func (s Server) literalSecrets() (all []string) {
	add := func(name, value string) {
		if value != mask.Hidden && len(value) > 3 && secretText(name, value) {
			if scheme, rest, ok := strings.Cut(value, " "); ok && (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic")) {
				value = rest
			}
			all = append(all, value)
		}
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, k := range sortedKeys(m) {
			if mask.Secret(k) {
				add(k, m[k])
			}
		}
	}
	for i, a := range mask.Args(s.Args) {
		if a == mask.Hidden {
			add("token", s.Args[i])
		} else if name, value, ok := strings.Cut(s.Args[i], "="); ok && a != s.Args[i] && mask.Secret(name) {
			add(name, value)
		}
	}
	if s.OAuth != nil {
		for _, t := range s.OAuth.texts() {
			if t.is == textSecret {
				add("token", *t.value)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
