package diagnosis

import (
	"path/filepath"
	"slices"
	"strings"
)

// installers are programs that download a server before they run it. One that is ended in between can leave its cache half
// filled, and broken for every later start.
var installers = []string{"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "uvx", "uv", "pipx"}

// Installs reports whether a server is started by a package runner, itself or in the command line of a shell.
func Installs(command string, args []string) bool {
	for _, arg := range append([]string{command}, args...) {
		for word := range strings.FieldsSeq(arg) {
			base := strings.ToLower(filepath.Base(word))
			base = strings.TrimSuffix(strings.TrimSuffix(base, ".cmd"), ".exe")
			if slices.Contains(installers, base) {
				return true
			}
		}
	}
	return false
}
