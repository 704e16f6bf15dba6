package diagnosis

import (
	"regexp"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
)

// Cause is why a child process did not become a server. The zero value means that none is known.
type Cause struct {
	What   string // "the module ajv is missing"; may quote what the child wrote
	Next   string // what to do about it
	Remedy failure.Remedy
	Object string // what the remedy is about: the variable, the folder

	at []int // the lines that say it, the main one first
}

// Advice is what happened and what to do about it, in a line.
func (c Cause) Advice() string {
	if c.Remedy != "" || c.What == "" {
		return c.Next
	}
	return c.What + ": " + c.Next
}

// known is a line that says why, in the words of a runtime, a package runner or the system. $1 in what stands for the first
// group of the pattern.
type known struct {
	line       func() *regexp.Regexp
	what, next string
}

// causes are tried in order over all lines: what says most comes first.
var causes = []known{
	{lazyPattern(`\benv: .{0,4}\b([\w./-]+)(\\r|\r|\^M)`), "the script's first line ends in CR LF, so that its program $1 is not found", "save the script with LF line ends"},
	{lazyPattern(`bad interpreter: (\S+)(\^M|\r)`), "the script's first line ends in CR LF, so that its program $1 is not found", "save the script with LF line ends"},
	{lazyPattern(`(?i)cannot connect to the docker daemon|docker daemon is not running|dockerDesktopLinuxEngine|connect ENOENT \S*/docker\.sock|failed to connect to the docker API`), "the Docker daemon is not running", "start Docker, then start again"},
	{lazyPattern(`(?i)permission denied while trying to connect to the docker`), "this user may not use the Docker daemon", "add the user to the group docker, and log in again"},
	{lazyPattern(`(?i)pull access denied for ([\w./:-]+)|manifest for ([\w./:-]+) not found`), "there is no image $1, or it wants a login", "check the image's name, or run docker login"},
	{lazyPattern(`(?i)exec format error|cannot execute binary file|bad CPU type in executable`), "a program is for another processor or system", "install the build for this machine"},
	{lazyPattern(`error while loading shared libraries: ([\w.+-]+)|Library not loaded: (\S+)`), "the shared library $1 is missing", "install it"},
	{lazyPattern("version .(GLIBC[A-Z]*_[0-9.]+)' not found"), "the program needs $1, which is newer than this system's", "use a build for this system"},
	{lazyPattern(`(?i)(unable to get (?:local )?issuer certificate|self.signed certificate(?: in certificate chain)?|SELF_SIGNED_CERT_IN_CHAIN|CERTIFICATE_VERIFY_FAILED|UnknownIssuer)`), "a certificate is not trusted ($1)", "name your company's CA file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE in the server's environment"},
	{lazyPattern(`(?i)npm err(?:or)?!? 404\b.*https?://[^/\s]+/(\S+)`), "the npm registry has no package $1", "check the package's name and version in the arguments"},
	{lazyPattern(`(?i)npm err(?:or)?!? code E404`), "the npm registry has no such package", "check the package's name and version in the arguments"},
	{lazyPattern(`(?i)No matching version found for (\S+?)\.?$`), "the npm registry has no such version: $1", "check the version after the @ in the arguments"},
	{lazyPattern(`(?i)npm err(?:or)?!? code (ETARGET)`), "the npm registry has no such version of the package", "check the version after the @ in the arguments"},
	{lazyPattern(`(?i)npm err(?:or)?!? code (E401|E403|ENEEDAUTH)`), "the npm registry refused the request ($1)", "run npm login, or check the token in .npmrc"},
	{lazyPattern(`(?i)npm err(?:or)?!? (?:code |errno )?(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|ERR_SOCKET_TIMEOUT)`), "npm cannot reach its registry ($1)", "check the network, the proxy and npm's setting registry"},
	{lazyPattern(`(?i)npm err(?:or)?!? could not determine executable to run`), "the npm package has no program to run", "check the package's name, or name the program with npx -p PACKAGE PROGRAM"},
	{lazyPattern(`(?i)because ([\w.-]+) was not found in the package registry`), "the Python package index has no package $1", "check the package's name in the arguments"},
	{lazyPattern(`(?i)failed to fetch: .(https?://[^\s'"` + "`" + `]+)|error sending request for url \((https?://[^)\s]+)\)`), "$1 cannot be fetched", "check the network and the proxy"},
	{lazyPattern(`(?i)(requires a different python: [^\r\n]{1,120}|current python version \([\d.]+\) does not satisfy [^\r\n]{1,60})`), "$1", "install that version of Python, or name another one for uvx"},
	{lazyPattern(`(?i)(unsupported engine.{0,160}|requires? node(?:\.?js)?(?: version)? ?[v>=^~ ]*\d[\w.]*|node(?:\.?js)? (?:version )?[v>=]*\d[\w.]* or (?:higher|later|newer))`), "the server wants another version of Node ($1)", "install it, or name its full path as the command"},
	{lazyPattern(`(?:Could not find|cannot find) module '((?:/|[A-Za-z]:\\)[^']+\.[cm]?[jt]s)'`), "the file $1 does not exist", "correct the path in the arguments"},
	{lazyPattern(`Cannot find module '((?:/|[A-Za-z]:\\)[^']*[/\\]node_modules[/\\][^']+)' imported from`), "the server's packages do not fit together: there is no $1", "install the server again, or a version of it that fits"},
	{lazyPattern(`Cannot find module '((?:/|[A-Za-z]:\\)[^']+)'`), "the file $1 does not exist", "correct the path in the arguments, or build the server"},
	{lazyPattern(`Cannot find (?:module|package) '([^']+)'`), "the module $1 is missing", "install it where the server is (npm install)"},
	{lazyPattern(`(?:ModuleNotFoundError|python[\d.]*(?:\.exe)?): No module named '?([\w.-]+)`), "the Python module $1 is missing", "install it into the Python that the command runs"},
	{lazyPattern(`(ImportError: [^\r\n]{1,160})`), "a Python module cannot be imported ($1)", "install the versions of its packages that the server asks for"},
	{lazyPattern(`can't open file '([^']+)'`), "the file $1 does not exist", "correct the path in the arguments"},
	{lazyPattern(`Error: spawn (\S+) ENOENT`), "the server starts the program $1, which is not found", "install it, or extend PATH in the server's environment"},
	{lazyPattern(`(?:^|: )(?:line )?\d*:? ?([\w./@+-]+): (?:command )?not found$`), "the program $1 is not found", "install it, give its full path, or extend PATH"},
	{lazyPattern(`EADDRINUSE[^\d]*(?:[\d.]+|::)*:(\d+)`), "port $1 is in use", "end the program that listens there, or give the server another port"},
	{lazyPattern(`(?i)\b(?:address already in use|EADDRINUSE)\b`), "a port is in use", "end the program that listens there, or give the server another port"},
	{lazyPattern(`getaddrinfo (?:ENOTFOUND|EAI_AGAIN|EAI_NONAME) ([\w.-]+\w)`), "the host $1 is not found", "check the network, the name and the proxy"},
	{lazyPattern(`ECONNREFUSED (\S+:\d+)|[Cc]onnection refused[^\r\n]{0,40}?\b((?:[\w-]+\.)*[\w-]+:\d{2,5})\b`), "nothing listens at $1", "start what the server connects to, or name another address"},
	{lazyPattern(`EACCES: permission denied, \w+ '([^']+)'|PermissionError: \[Errno 13\] [^']*'([^']+)'|(?:^|: )((?:/|\./)[^:\s]+): Permission denied`), "no permission for $1", "change who may use it, or name another path"},
	{lazyPattern(`(?i)\b(EACCES|permission denied)\b`), "no permission ($1)", "change who may use the file, or run it as another user"},
	{lazyPattern(`ENOENT: no such file or directory, \w+ '([^']+)'|FileNotFoundError: \[Errno 2\] [^']*'([^']+)'|(?:stat|open|lstat|chdir) ((?:/|\./)[^:\s]+): [Nn]o such file`), "$1 does not exist", "correct the path in the arguments or the environment"},
	{lazyPattern(`(?i)(heap out of memory|MemoryError|out of memory)`), "the server ran out of memory", "give it more, or start it by itself to see why"},
}

// findCause finds a line that says why.
func findCause(lines []string) Cause {
	for _, k := range causes {
		for i, l := range lines {
			m := k.line().FindStringSubmatch(text.Cut(l, 2000))
			if m == nil {
				continue
			}
			object := ""
			for _, g := range m[1:] {
				if object == "" {
					object = strings.ReplaceAll(strings.TrimSpace(text.Clip(g, 200)), "%2f", "/") // as npm writes the name of a package
				}
			}
			return Cause{What: strings.ReplaceAll(k.what, "$1", object), Next: k.next, at: []int{i}}
		}
	}
	return Cause{}
}
