package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// ErrNotFound is the error of Lookup for a program that does not exist.
var ErrNotFound = errors.New("command not found")

// Environment returns the inherited environment extended by add.
func Environment(add map[string]string) []string { return extend(os.Environ(), add) }

// basic are variables that most programs need and that hold no secrets. Names that end in "_" are prefixes.
var basic = []string{
	"HOME", "LANG", "LANGUAGE", "LC_", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_",
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES",
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// Filtered returns the basic variables of the inherited environment, extended by add, for a third-party program: it does not get
// tokens that happen to be exported.
func Filtered(add map[string]string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		for _, b := range basic {
			if name == b || strings.HasSuffix(b, "_") && strings.HasPrefix(name, b) {
				env = append(env, kv)
				break
			}
		}
	}
	return extend(env, add)
}

// Sets says of an environment which variables have a value.
func Sets(env []string) func(name string) bool {
	values := make(map[string]bool, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value != "" // the last of a name counts
	}
	return func(name string) bool { return values[name] }
}

func extend(env []string, add map[string]string) []string {
	names := make([]string, 0, len(add))
	for k := range add {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		env = append(env, k+"="+add[k]) // the last of a name counts
	}
	return env
}

// Lookup finds a command with the child's PATH and working folder.
func Lookup(command string, env []string, cwd string) (string, error) {
	if command == "" {
		return "", errors.New("no command is configured")
	}
	if cwd != "" {
		if fi, err := os.Stat(cwd); err != nil {
			return "", errors.New("the working folder " + cwd + " cannot be used: " + Reason(err).Error())
		} else if !fi.IsDir() {
			return "", errors.New("the working folder " + cwd + " is not a folder")
		}
	}
	if strings.ContainsRune(command, '/') || strings.ContainsRune(command, filepath.Separator) {
		if !filepath.IsAbs(command) && cwd != "" {
			command = filepath.Join(cwd, command)
		}
		path, err := exec.LookPath(command)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			err = ErrNotFound
		}
		return path, err
	}
	path := ""
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH") {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" || !filepath.IsAbs(dir) {
			continue // like Go, do not run programs of the working folder
		}
		if found, err := exec.LookPath(filepath.Join(dir, command)); err == nil {
			return found, nil
		}
	}
	return "", ErrNotFound
}

// Reason returns err without its operation and path, for messages that name these.
func Reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Group makes cmd, which is not started yet, the leader of its own process group: a terminal's ctrl+c does not reach it, and
// [SignalGroup] reaches everything that it forks. [Start] does more.
func Group(cmd *exec.Cmd) { cmd.SysProcAttr = groupAttr() }
