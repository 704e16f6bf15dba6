package wrap

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// launchers are programs that start a server named by an argument.
var launchers = []string{
	"npx", "npm", "pnpm", "pnpx", "bunx", "bun", "yarn", "uvx", "uv", "pipx", "node", "deno", "python", "python3", "py", "tsx", "ts-node",
	"docker", "podman", "env", "sh", "bash", "cmd", "go", "java", "dotnet", "ruby", "mcphud",
}

// subcommands are arguments of launchers before the name of the server.
var subcommands = []string{"run", "exec", "dlx", "x", "tool", "start", "-m", "/c"}

// NameOf is a short name for what a command line runs: "server-everything" for npx -y
// @modelcontextprotocol/server-everything@1.2 stdio.
func NameOf(argv []string) string {
	name := base(argv[0])
	for _, a := range argv[1:] {
		if !slices.Contains(launchers, name) {
			break
		}
		if !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") && !slices.Contains(subcommands, a) {
			name = base(a)
		}
	}
	return name
}

// base is the last part of a path or package name, without version and file extension.
func base(arg string) string {
	b := path.Base(filepath.ToSlash(arg))
	if i := strings.LastIndexByte(b, '@'); i > 0 {
		b = b[:i]
	}
	for _, ext := range []string{".exe", ".cmd", ".js", ".mjs", ".cjs", ".ts", ".py"} {
		if cut, ok := strings.CutSuffix(b, ext); ok && cut != "" {
			return cut
		}
	}
	return b
}
