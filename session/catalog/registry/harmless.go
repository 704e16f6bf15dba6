package registry

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/setup"
)

// harmless are the options of a runner that change neither what runs nor what it may do. Whatever is not here gets a warning: nobody has
// a list of all that is dangerous.
type harmless struct {
	bare   []string                  // without a value
	valued map[string]*regexp.Regexp // with one that matches
}

var anything = regexp.MustCompile(`^[^{}]*$`) // but what nobody knows yet

var harmlessOf = map[string]harmless{
	"npm": {
		bare: []string{
			"-y", "--yes", "-q", "--quiet", "-s", "--silent", "--prefer-offline", "--prefer-online", "--offline", "--ignore-scripts", "--no-fund", "--no-audit", "--no-update-notifier",
		},
		valued: map[string]*regexp.Regexp{"--loglevel": anything},
	},
	"pypi": {
		bare:   []string{"-q", "--quiet", "-v", "--verbose", "--isolated", "--offline", "-n", "--no-cache", "--refresh", "--no-progress"},
		valued: map[string]*regexp.Regexp{"--python": regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`), "-p": regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`), "--color": anything},
	},
	"nuget": {
		bare:   []string{"-y", "--yes", "--prerelease", "--allow-roll-forward"},
		valued: map[string]*regexp.Regexp{"--verbosity": anything},
	},
	"oci": {
		bare: []string{"-i", "--interactive", "-t", "--tty", "--rm", "--init", "--read-only", "-q", "--quiet", "--no-healthcheck"},
		valued: map[string]*regexp.Regexp{
			"--name": anything, "-h": anything, "--hostname": anything, "-m": anything, "--memory": anything, "--memory-swap": anything, "--cpus": anything, "--cpu-shares": anything,
			"-c": anything, "--pids-limit": anything, "--shm-size": anything, "--stop-timeout": anything, "--platform": anything, "--pull": anything, "-w": anything, "--workdir": anything,
			"-u": anything, "--user": anything, "--cap-drop": anything, "--tmpfs": anything,
			"--network": regexp.MustCompile(`^(none|bridge)$`), "--net": regexp.MustCompile(`^(none|bridge)$`), "--security-opt": regexp.MustCompile(`^no-new-privileges([:=]true)?$`),
		},
	},
}

// has reports whether an option with its value is one of them.
func (h harmless) has(o option) bool {
	if slices.Contains(h.bare, o.name) {
		return !o.given || o.value == "true"
	}
	re := h.valued[o.name]
	return re != nil && o.given && re.MatchString(o.value)
}

// option is an option of a command line, or with no name a word that stands alone.
type option struct {
	name, value string
	given       bool // the value
}

// shortBare are the letters of docker's options that take no value; the first other one of a word takes the rest of it.
const shortBare = "idtqP"

// optionsIn takes the words before a package apart as its runner does. A word behind an option that nobody knows is its value.
func (r runner) optionsIn(words []string) (out []option) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") || w == "-" {
			out = append(out, option{value: w, given: true})
			continue
		}
		o := option{}
		o.name, o.value, o.given = strings.Cut(w, "=")
		if r.kind == "oci" && !strings.HasPrefix(w, "--") {
			rest := w[1:]
			for len(rest) > 1 && strings.Contains(shortBare, rest[:1]) && rest[1] != '=' {
				out = append(out, option{name: "-" + rest[:1]})
				rest = rest[1:]
			}
			o = option{name: "-" + rest[:1], value: strings.TrimPrefix(rest[1:], "="), given: len(rest) > 1}
		}
		bare := slices.Contains(harmlessOf[r.kind].bare, o.name) || slices.Contains(r.bare, o.name)
		if !o.given && !bare && i+1 < len(words) && (r.kind == "oci" || !strings.HasPrefix(words[i+1], "-")) {
			i++
			o.value, o.given = words[i], true
		}
		out = append(out, o)
	}
	return out
}

// warnings say what the words before the package do that is not harmless. own are the variables that the description declares.
func (r runner) warnings(command string, words, own []string) (out []string) {
	if r.kind == "pypi" && len(words) > 0 && words[len(words)-1] == "--from" {
		words = words[:len(words)-1] // of the package itself
	}
	for _, o := range r.optionsIn(words) {
		w, known := "", false
		switch {
		case o.name == "":
			w = strings.Join(strings.Fields(text.Clip(o.value, 60)), " ") + " stands before the package: " + command + " can take it for what to run"
			known = true
		case harmlessOf[r.kind].has(o):
			known = true
		case r.kind == "oci":
			w, known = containerWarning(o, own)
		}
		if !known {
			w = text.Clip(o.name, 60) + " is the publisher's, for " + command + " itself: it can change what runs, and what it may do"
		}
		if w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// WarningsFor is what to know before starting it with these values.
func (c Candidate) WarningsFor(given setup.Values) []string {
	if c.options == nil {
		return c.Warnings
	}
	for _, w := range c.options(given) {
		c.Warnings = c.Warnings[:len(c.Warnings):len(c.Warnings)]
		c.warn(w)
	}
	return c.Warnings
}

// supposedValues are values as far as they are known: a name in braces is one that somebody types, or keeps secret.
func supposedValues(in []setup.Input, given setup.Values) setup.Values {
	out := given.Replace(in, func(i setup.Input, v string) string {
		if i.Secret {
			return "{" + i.Name + "}"
		}
		return v
	})
	for _, i := range in {
		if len(out[i.Name]) == 0 {
			out[i.Name] = []string{"{" + i.Name + "}"}
		}
	}
	return out
}

// loaders are variables, or with _ at the end beginnings of them, by which somebody decides which code runs, where it comes from, or
// whom programs talk to.
var loaders = []string{
	"LD_", "DYLD_", "GLIBC_TUNABLES", "GCONV_PATH", "NODE_", "NPM_", "PNPM_", "YARN_", "BUN_", "DENO_", "COREPACK_", "PYTHON", "UV_", "PIP_", "PIPX_", "VIRTUAL_ENV", "CONDA_",
	"DOCKER_", "CONTAINER_", "CONTAINERS_", "PODMAN_", "BUILDKIT_", "BUILDAH_", "REGISTRY_AUTH_FILE", "GIT_", "SSH_", "DOTNET_", "CORECLR_", "COMPLUS_", "COREHOST_", "NUGET_", "MSBUILD",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_HOME", "PERL5LIB", "PERL5OPT", "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_", "BUNDLE_", "PHPRC", "PHP_INI_SCAN_DIR",
	"PATH", "PATHEXT", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_", "TMPDIR", "TEMP", "TMP", "SHELL", "COMSPEC", "BASH_ENV", "BASH_FUNC", "ENV", "ZDOTDIR", "IFS", "PS4",
	"PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "BROWSER", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "OPENSSL_",
	"REQUESTS_CA_BUNDLE", "CURL_", "AWS_CA_BUNDLE",
}

// harmlessNames are those of them that decide nothing of the kind.
var harmlessNames = []string{
	"NODE_ENV", "NODE_NO_WARNINGS", "NODE_DEBUG", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS", "UV_NO_PROGRESS", "GIT_AUTHOR_NAME",
	"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO",
}

// loaderWarning says of a variable that it makes a program run code from elsewhere.
func loaderWarning(name string) string {
	upper := strings.ToUpper(name)
	if slices.Contains(harmlessNames, upper) || !slices.ContainsFunc(loaders, func(l string) bool {
		return upper == l || strings.HasPrefix(upper, l) && (strings.HasSuffix(l, "_") || l == "PYTHON" || l == "MSBUILD" || l == "BASH_FUNC")
	}) {
		return ""
	}
	return text.Clip(name, 60) + " decides which code runs, or where it comes from"
}
