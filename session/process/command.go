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

// ErrNotFound says that there is no such program.
var ErrNotFound = errors.New("command not found")

// Environment is the inherited environment extended by add.
func Environment(add map[string]string) []string { return extend(os.Environ(), add) }

// basic are the variables that hardly a program works without, and that hold no secrets: a prefix where they end in "_".
var basic = []string{
	"HOME", "LANG", "LANGUAGE", "LC_", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_",
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES",
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// Filtered is what of the inherited environment a program needs that was not written by us, extended by add: no token
// that happens to be exported here goes along.
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

// Lookup finds a command as a shell would in the child's place: with the child's PATH and working folder.
func Lookup(command string, env []string, cwd string) (string, error) {
	if command == "" {
		return "", errors.New("the configuration names no command")
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
			continue // a command from the folder we happen to be in needs its path
		}
		if found, err := exec.LookPath(filepath.Join(dir, command)); err == nil {
			return found, nil
		}
	}
	return "", ErrNotFound
}

// Reason is err without the path and operation that a message about it names anyway.
func Reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Group puts a command that is about to be started into a process group of its own: signals for ours, such as a terminal's
// ctrl+c, pass it by, and [SignalGroup] reaches all that it forks. For a child with more to it there is [Start].
func Group(cmd *exec.Cmd) { cmd.SysProcAttr = groupAttr() }
