package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// OfCommand is the server that a command starts, named after the package or script.
func OfCommand(command string, args ...string) Server {
	return Server{Name: commandName(command, args), Unnamed: true, Transport: Stdio, Command: command, Args: args}
}

// runner is a program that runs another one, which its arguments name.
type runner struct {
	words []string // subcommands that come before that name
	flags []string // flags whose next argument is their value
	names []string // flags whose next argument is that name
}

// runners are by the program's name without a version: "python3.12" is python.
var runners = map[string]runner{
	"npx": {flags: []string{"-p", "--package", "-c", "--call"}}, "bunx": {}, "pnpx": {},
	"npm": {words: []string{"exec", "x", "run"}}, "pnpm": {words: []string{"dlx", "exec", "run"}}, "yarn": {words: []string{"dlx", "run"}},
	"bun": {words: []string{"x", "run"}}, "deno": {words: []string{"run"}},
	"uvx":  {flags: []string{"--from", "--with", "--python", "-p"}},
	"uv":   {words: []string{"run", "tool"}, flags: []string{"--directory", "--project", "--with", "--python", "-p"}},
	"pipx": {words: []string{"run"}, flags: []string{"--spec", "--python"}},
	"node": {flags: []string{"-r", "--require", "--import", "--loader", "--env-file"}},
	"tsx":  {}, "ts-node": {}, "ruby": {}, "php": {}, "perl": {}, "sh": {}, "bash": {},
	"python": {flags: []string{"-W", "-X"}, names: []string{"-m"}}, "java": {flags: []string{"-cp", "-classpath"}, names: []string{"-jar"}},
	"go": {words: []string{"run"}},
	"docker": {words: []string{"run"}, flags: []string{
		"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish", "-w", "--workdir", "-u", "--user", "--entrypoint",
	}},
}

// commandName is what a command runs, in a word: the package, the script, or the program itself.
func commandName(command string, args []string) string {
	program := stem(command)
	r, ok := runners[strings.TrimRight(program, "0123456789.")]
	if !ok {
		return text.Clip(program, 60)
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case slices.Contains(r.flags, a):
			i++
			continue
		case a == "-c" || a == "-e" || a == "--eval": // a program text follows
			return program
		case strings.HasPrefix(a, "-") || slices.Contains(r.words, a) || a == "":
			continue
		}
		if name := packageName(a); name != "" {
			return text.Clip(name, 60)
		}
	}
	return program
}

// stem is the last element of a path without the extension of a program or script.
func stem(path string) string {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	switch ext := filepath.Ext(base); strings.ToLower(ext) {
	case ".exe", ".cmd", ".bat", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".rb", ".php", ".pl", ".sh", ".jar", ".go":
		return strings.TrimSuffix(base, ext)
	}
	return base
}

// packageName is a package without scope and version, or a script without its folder. A script whose name says nothing is called
// after the nearest folder whose name does.
func packageName(arg string) string {
	name := stem(arg)
	if at := strings.LastIndexAny(name, "@:"); at > 0 { // a version, an image's tag
		name = name[:at]
	}
	if strings.HasPrefix(arg, "git+") || strings.Contains(arg, "://") {
		return strings.TrimSuffix(name, ".git")
	}
	genericNames := []string{"index", "main", "cli", "app", "start", "server", "__main__", "mod", "."}
	folders := []string{"dist", "build", "src", "lib", "out", "bin", "cmd", "..", ".", ""}
	if !slices.Contains(genericNames, name) {
		return name
	}
	dir := arg
	for range 8 {
		slash := strings.LastIndexAny(dir, `/\`)
		if slash < 0 {
			break
		}
		dir = dir[:slash]
		if folder := dir[strings.LastIndexAny(dir, `/\`)+1:]; !slices.Contains(folders, folder) {
			return folder
		}
	}
	return strings.Trim(name, ".")
}
