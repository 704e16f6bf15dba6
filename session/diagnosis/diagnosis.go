// Package diagnosis finds out why a child process did not become a server.
package diagnosis

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/failure"
)

// lazy compiles a pattern when it is first used: a server that starts needs none of them.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	frameJS    = lazy(`^at .*:\d+(:\d+)?\)?( \{)?$`) // of a stack trace, which says less than what stands above it
	npxFolder  = lazy(`[/\\]_npx[/\\][0-9a-f]{8,64}`)
	noModule   = lazy(`MODULE_NOT_FOUND|Cannot find (module|package) `)
	demands    = lazy(`(?i)\b(required|requires|missing|please set|unset|undefined|(not|must be|to be) (set|defined|provided|configured|found)|must provide|please (provide|define|export)|keyerror)\b`)
	variable   = lazy(`\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\b`)
	anyName    = lazy(`\b[A-Z][A-Z0-9]{2,63}\b`)
	inEnv      = lazy(`(?i)\benv(ironment)?\b|environ\b|keyerror`)
	errorCodes = lazy(`^(ERR|ERROR|E[A-Z]{3,})_|_(NOT_FOUND|ERROR|FAILED)$`)
)

// StackFrame reports whether a line is one of a stack trace of JavaScript.
func StackFrame(line string) bool { return frameJS().MatchString(line) }

// Of finds what the last lines of a child's stderr name as the reason why it ended; the zero Cause if they name nothing.
func Of(lines []string) Cause {
	missing := false
	for _, l := range lines {
		missing = missing || noModule().MatchString(l)
	}
	for _, l := range lines {
		if dir := npxCache(l); missing && dir != "" {
			return Cause{"npx's cache is incomplete", "remove npx's incomplete cache and start again", failure.RemoveCache, dir}
		}
	}
	for _, l := range lines {
		if name := wantedVariable(l); name != "" {
			return Cause{"the variable " + name + " is missing", "set " + name + " and start again", failure.SetVariable, name}
		}
	}
	return named(lines)
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

// wantedVariable is the environment variable that a line says is missing.
func wantedVariable(line string) string {
	if !demands().MatchString(line) {
		return ""
	}
	names := variable()
	if inEnv().MatchString(line) {
		if name := first(variable(), line); name != "" {
			return name
		}
		names = anyName()
	}
	return first(names, line)
}

func first(names *regexp.Regexp, line string) string {
	for _, name := range names.FindAllString(line, 8) {
		if len(name) <= 64 && !errorCodes().MatchString(name) && !strings.HasPrefix(name, "NODE_MODULE") && !strings.HasPrefix(name, "GLIBC") {
			return name
		}
	}
	return ""
}
