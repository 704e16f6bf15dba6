//go:build amd64 || arm64

package confine

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// system is what hardly a program works without and that holds no secrets of the user: programs and libraries of the system, how names
// are resolved, certificates of authorities, the time zone, and what a process asks about itself and the machine. In /proc, only the
// child itself: the arguments of other processes can hold secrets.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path", "/etc/alternatives",
	"/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/passwd", "/etc/group", "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/mime.types", "/etc/locale.alias", "/etc/fonts",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf",
	"/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies",
	"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version", "/proc/filesystems",
	"/proc/sys/kernel", "/proc/sys/vm", "/proc/sys/net/core", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm",
}

// devices are those that hold nothing.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// needs are what p consists of: its program, the runtime that is in, what interprets it, and the package of the script it runs.
func needs(p Program, folder, home string) (paths []string) {
	add := func(more ...string) {
		for _, m := range more {
			if !slices.Contains(paths, m) {
				paths = append(paths, m)
			}
		}
	}
	add(program(p.Path, home)...)
	if inner := interpreter(p.Path, p.Env); inner != "" {
		add(program(inner, home)...)
		add(script(p.Path, home)...)
	}
	for _, a := range p.Args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if !slices.Contains(scripts, strings.ToLower(filepath.Ext(a))) {
			continue
		}
		a = absolute(a, folder, "")
		if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() {
			add(script(a, home)...)
			break // further ones are what it works on
		}
	}
	return paths
}

// scripts are how files are called that an interpreter runs.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".pyz", ".rb", ".php", ".sh", ".pl", ".lua", ".jar", ".dll", ".wasm"}

// program is a program with the folder of its runtime, at each step of the links that lead to it.
func program(path, home string) (paths []string) {
	for range 40 {
		paths = append(paths, path)
		if dir := filepath.Dir(path); filepath.Base(dir) == "bin" {
			if root := filepath.Dir(dir); isOwnFolder(root, home) && isDir(filepath.Join(root, "lib")) {
				paths = append(paths, root)
			}
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		path = absolute(to, filepath.Dir(path), "")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path { // by a folder that is a link
		return append(paths, program(real, home)...)
	}
	return existingPaths(paths)
}

// script is a script and the folder of its package: that of the outermost node_modules, or the nearest with a manifest, as bundles have one too.
func script(path, home string) []string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	paths := existingPaths([]string{path, real})
	if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
		return append(paths, before+"/node_modules")
	}
	for dir := filepath.Dir(real); isOwnFolder(dir, home); dir = filepath.Dir(dir) {
		for _, manifest := range []string{"package.json", "pyproject.toml", "setup.py", "manifest.json"} {
			if _, err := os.Stat(filepath.Join(dir, manifest)); err == nil {
				return append(paths, dir)
			}
		}
	}
	return paths
}

// isOwnFolder reports whether a folder can belong to one program: it is not the home folder, nor above it, nor where all programs of a user keep
// what they have, nor one of the first level.
func isOwnFolder(dir, home string) bool {
	if dir == "/" || filepath.Dir(dir) == "/" || dir == os.TempDir() {
		return false
	}
	if home == "" {
		return true
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		real = home
	}
	for _, h := range []string{home, real} {
		h = filepath.Clean(h)
		if dir == h || dir == filepath.Join(h, ".local") || strings.HasPrefix(h, dir+"/") {
			return false
		}
	}
	return true
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// interpreter is the program that a script names in its first line, "" for a program of another kind.
func interpreter(path string, env []string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	line, err := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	if words := strings.Fields(rest); err == nil && ok && len(words) > 0 {
		if filepath.Base(words[0]) != "env" {
			return words[0]
		}
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
		if len(words) > 0 {
			return inPath(words[0], env)
		}
	}
	return ""
}

func inPath(name string, env []string) string {
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		found := filepath.Join(dir, name)
		if info, err := os.Stat(found); err == nil && filepath.IsAbs(found) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return found
		}
	}
	return ""
}
