package registry

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/text"
)

// runner is a program that downloads a package and runs it.
type runner struct {
	kind     string // of package
	commands []string
	get      string // where the first command comes from
	base     string // host of the usual registry
	another  string // option that names another registry
	// bare are options of the runner that have no value.
	bare []string
	// identifier is what a name may be, so that none can be an option, a path or a URL.
	identifier *regexp.Regexp
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	npmName   = regexp.MustCompile(`^(@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$`)
	pypiName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9,._-]+\])?$`)
	imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(:[0-9]+)?(/[A-Za-z0-9][A-Za-z0-9._-]*)*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[a-f0-9]{64})?$`)
	// pinned is one version: neither a range nor a tag that moves.
	pinned = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_!-]*$`)
)

// runners are all that is known to run a package, and the only commands that a description can lead to.
var runners = []runner{
	{kind: "npm", commands: []string{"npx", "bunx"}, get: "Node.js, https://nodejs.org", base: "registry.npmjs.org", another: "--registry", bare: []string{"-y", "--yes", "-q", "--quiet"}, identifier: npmName},
	{
		kind: "pypi", commands: []string{"uvx", "pipx"}, get: "uv, https://docs.astral.sh/uv", base: "pypi.org", another: "--default-index",
		bare: []string{"--isolated", "--offline", "--no-cache", "-n", "--refresh", "-q", "--quiet", "-v", "--verbose"}, identifier: pypiName,
	},
	{
		kind: "oci", commands: []string{"docker", "podman"}, get: "Docker, https://docs.docker.com/get-docker, or Podman, https://podman.io",
		bare: []string{"-i", "--interactive", "-t", "--tty", "-it", "-ti", "--rm", "--init", "--privileged", "--read-only", "-P", "--publish-all"}, identifier: imageName,
	},
	{kind: "nuget", commands: []string{"dnx"}, get: "the .NET SDK 10, https://dotnet.microsoft.com", base: "api.nuget.org", another: "--source", bare: []string{"--yes", "-y", "--prerelease", "--allow-roll-forward"}, identifier: plainName},
}

func runnerOf(kind string) (runner, bool) {
	if kind == "docker" { // an older name
		kind = "oci"
	}
	i := slices.IndexFunc(runners, func(r runner) bool { return r.kind == kind })
	if i < 0 {
		return runner{}, false
	}
	return runners[i], true
}

// find is the command that runs packages here: the one that the publisher hints at, if it is one of the runner's, else the first
// that is on this machine. Where there is none it is the first, and missing says how to get it.
func (r runner) find(hint string, look func(string) bool) (command, missing string) {
	order := slices.Clone(r.commands)
	if i := slices.Index(order, hint); i > 0 {
		order[0], order[i] = order[i], order[0]
	}
	for _, c := range order {
		if look(c) {
			return c, ""
		}
	}
	return r.commands[0], r.commands[0] + " is not on this machine: it comes with " + r.get
}

// spec names a package with its version, or says why it cannot be run.
func (r runner) spec(p Package) (name, warning string, err error) {
	if !r.identifier.MatchString(p.Identifier) || len(p.Identifier) > 300 {
		return "", "", fmt.Errorf("%q is not the name of a package in %s", text.Clip(p.Identifier, 80), r.kind)
	}
	if r.kind == "oci" {
		return image(p)
	}
	switch {
	case p.Version == "":
		return p.Identifier, "the version is not pinned: whatever is newest runs", nil
	case !pinned.MatchString(p.Version) || len(p.Version) > 255:
		return "", "", fmt.Errorf("%q is not a version", text.Clip(p.Version, 80))
	case strings.EqualFold(p.Version, "latest"):
		warning = "the version is not pinned: whatever is newest runs"
	}
	return p.Identifier + "@" + p.Version, warning, nil
}

// image is a full reference: registry, repository, and tag or digest.
func image(p Package) (ref, warning string, err error) {
	ref = p.Identifier
	if host := hostOf(p.BaseURL); host != "" && !strings.HasPrefix(ref, host+"/") {
		first, _, path := strings.Cut(ref, "/")
		if !path || !strings.ContainsAny(first, ".:") && first != "localhost" {
			ref = host + "/" + ref
		}
	}
	last := ref[strings.LastIndexByte(ref, '/')+1:]
	switch {
	case strings.Contains(last, "@"):
		return ref, "", nil
	case !strings.Contains(last, ":") && p.Version == "":
		return ref, "the image is not pinned: whatever is newest runs", nil
	case !strings.Contains(last, ":"):
		if !imageName.MatchString(ref + ":" + p.Version) {
			return "", "", fmt.Errorf("%q is not the tag of an image", text.Clip(p.Version, 80))
		}
		ref += ":" + p.Version
	}
	if strings.HasSuffix(ref, ":latest") {
		warning = "the image is not pinned: whatever is newest runs"
	}
	return ref, warning, nil
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || !imageName.MatchString(u.Host) {
		return ""
	}
	return u.Host
}

// source is the options that name a registry of packages other than the usual one.
func (r runner) source(base string) (options []string, warning string, err error) {
	if base == "" || r.another == "" || hostOf(base) == r.base {
		return nil, "", nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || listen.ReachOf(u) != listen.Machine) {
		return nil, "", fmt.Errorf("%q is not an https URL of a registry of packages", text.Clip(base, 100))
	}
	return []string{r.another, u.String()}, "the package comes from " + u.Host + ", not from " + r.base, nil
}

// argv is the command line: options of the runner, the package, and what is for the package itself.
func (r runner) argv(command, spec string, source, runArgs, args, env []string) []string {
	switch {
	case r.kind == "oci":
		argv := []string{command, "run", "-i", "--rm"}
		argv = append(argv, runArgs...)
		for _, name := range env { // the values are in the environment, where no list of processes shows them
			argv = append(argv, "-e", name)
		}
		return append(append(argv, spec), args...)
	case command == "npx":
		return slices.Concat([]string{command, "-y"}, source, removeWords(runArgs, "-y", "--yes"), []string{spec}, args)
	case command == "pipx":
		name, version, _ := strings.Cut(spec, "@")
		if version != "" {
			name += "==" + version
		}
		if source != nil {
			source = []string{"--index-url", source[1]}
		}
		return slices.Concat([]string{command, "run"}, source, runArgs, []string{name}, args)
	case command == "dnx":
		argv := slices.Concat([]string{command, spec}, source, removeWords(runArgs, "-y", "--yes"), []string{"--yes"})
		if len(args) > 0 {
			argv = append(append(argv, "--"), args...)
		}
		return argv
	case len(runArgs) > 0 && runArgs[len(runArgs)-1] == "--from": // uvx takes the package as a requirement there, and a program of it after that
		spec = strings.Replace(spec, "@", "==", 1)
	}
	return slices.Concat([]string{command}, source, runArgs, []string{spec}, args)
}

func removeWords(argv []string, words ...string) []string {
	return slices.DeleteFunc(slices.Clone(argv), func(a string) bool { return slices.Contains(words, a) })
}
