// Package diagnosis finds out why a child process did not become a server.
package diagnosis

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/failure"
)

// lazyPattern compiles a pattern when it is first used: a server that starts needs none of them.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	frameJS    = lazyPattern(`^at .*:\d+(:\d+)?\)?( \{)?$`) // of a stack trace, which says less than what stands above it
	npxFolder  = lazyPattern(`[/\\]_npx[/\\][0-9a-f]{8,64}`)
	noModule   = lazyPattern(`MODULE_NOT_FOUND|Cannot find (module|package) `)
	demands    = lazyPattern(`(?i)\b(required|requires|missing|please set|unset|undefined|(not|must be|to be) (set|defined|provided|configured|found)|must provide|please (provide|define|export)|keyerror|no [\w ]{1,40} (was |were )?(provided|given|found|set|configured)|no (api[ _-]?|access )?(key|token)|not authenticated)\b`)
	without    = lazyPattern(`(?i)\bkeyless\b|\boptional\b`) // it goes on without it
	credential = lazyPattern(`(?i)\b(tokens?|keys?|apikey|secrets?|passwords?|credentials?|auth\w*|env|environment)\b`)
	secretName = lazyPattern(`TOKEN|KEY|SECRET|PASS|AUTH|CRED|PAT$|URL|HOST|ENDPOINT|USER|EMAIL|_ID$`)
	variable   = lazyPattern(`\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\b`)
	anyName    = lazyPattern(`\b[A-Z][A-Z0-9]{2,63}\b`)
	inEnv      = lazyPattern(`(?i)\benv(ironment)?\b|environ\b|keyerror`)
	painted    = lazyPattern("\x1b\\[[0-9;:?]*[A-Za-z]")
	errorCodes = lazyPattern(`^(ERR|ERROR|E[A-Z]{3,})_|_(NOT_FOUND|ERROR|FAILED)$`)
)

// StackFrame reports whether a line is one of a stack trace of JavaScript.
func StackFrame(line string) bool { return frameJS().MatchString(line) }

// Plain is a line without what paints it or moves a cursor.
func Plain(line string) string { return painted().ReplaceAllString(line, "") }

// Of finds what the last lines of a child's stderr name as the reason why it ended; the zero Cause if they name nothing. set says which variables
// the child had, with a value: none of them is missing, but where the child asks for nothing else, another value is the remedy. nil is for who
// does not know.
func Of(lines []string, set func(variable string) bool) Cause {
	if set == nil {
		set = func(string) bool { return false }
	}
	missing := false
	for _, l := range lines {
		missing = missing || noModule().MatchString(l)
	}
	for i, l := range lines {
		if dir := npxCache(l); missing && dir != "" {
			return Cause{"npx's cache is incomplete", "remove npx's incomplete cache and start again", failure.RemoveCache, dir, []int{i}}
		}
	}
	silent := sayNothing(lines)
	var other Cause                                // what the child asks for though it is set
	for _, warnings := range []bool{false, true} { // what is an error says more
		for i, l := range lines {
			if silent[i] || mild().MatchString(l) != warnings {
				continue
			}
			if name, at := wantedVariable(lines[i:], set); name != "" {
				c := Cause{"the variable " + name + " is missing", "set " + name + " and start again", failure.SetVariable, name, []int{i}}
				if at > 0 {
					c.at = append(c.at, i+at)
				}
				return c
			}
			if name, _ := wantedVariable(lines[i:], nil); name != "" && other.Object == "" {
				other = Cause{Next: "set " + name + " to another value and start again", Remedy: failure.SetVariable, Object: name}
			}
		}
	}
	if c := findCause(lines); c.What != "" {
		return c
	}
	return other
}

// npxCache is the folder of npx's cache that a line names, if it is there: whoever wrote the line must not choose what a user
// removes.
func npxCache(line string) string {
	at := npxFolder().FindStringIndex(line)
	if at == nil {
		return ""
	}
	for i := range at[0] + 1 {
		dir := line[i:at[1]]
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			continue
		}
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

// wantedVariable is the environment variable that the first line says is missing and that is not set, and the line that names it: that line itself,
// or one of the two after it where it says that a token or a key is missing ("No access token was provided.\nPass --token, or set X_TOKEN").
func wantedVariable(lines []string, set func(string) bool) (name string, at int) {
	line := lines[0]
	if !demands().MatchString(line) || without().MatchString(line) {
		return "", 0
	}
	names := variable()
	if inEnv().MatchString(line) {
		if name := first(variable(), line, nil); name != "" {
			return first(variable(), line, set), 0
		}
		names = anyName()
	}
	if name := first(names, line, nil); name != "" {
		return first(names, line, set), 0
	}
	if !credential().MatchString(line) || mild().MatchString(line) {
		return "", 0
	}
	for i, l := range lines[1:min(len(lines), 3)] {
		for _, name := range variable().FindAllString(l, 8) {
			if secretName().MatchString(name) && first(variable(), name, set) != "" {
				return name, i + 1
			}
		}
	}
	return "", 0
}

// first is the first name in a line that can be a variable's and is not set; set may be nil.
func first(names *regexp.Regexp, line string, set func(string) bool) string {
	for _, name := range names.FindAllString(line, 8) {
		if len(name) <= 64 && (set == nil || !set(name)) && !errorCodes().MatchString(name) && !strings.HasPrefix(name, "NODE_MODULE") && !strings.HasPrefix(name, "GLIBC") {
			return name
		}
	}
	return ""
}
