package session

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"syscall"
)

var (
	errNoCommand = errors.New("command not found")
	errBroken    = syscall.EPIPE
)

// environment is the inherited environment extended by add.
func environment(add map[string]string) []string {
	env := os.Environ()
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

// lookup finds a command as a shell would in the child's place: with the child's PATH and working folder.
func lookup(command string, env []string, cwd string) (string, error) {
	if command == "" {
		return "", errors.New("the configuration names no command")
	}
	if cwd != "" {
		if fi, err := os.Stat(cwd); err != nil {
			return "", errors.New("the working folder " + cwd + " cannot be used: " + reason(err).Error())
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
			err = errNoCommand
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
	return "", errNoCommand
}
