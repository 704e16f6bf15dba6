package config

import (
	"path"
	"slices"
	"strings"
)

// packageRunners are programs that download a package and run it, and take a word behind an option that they do not know for the package.
var packageRunners = []string{"npx", "npm", "pnpm", "pnpx", "bunx", "bun", "yarn"}

// runWords are words by which a runner is asked to run something, and flags of it that take no value.
var runWords = []string{"exec", "x", "dlx", "run", "create", "init", "-y", "--yes", "-q", "--quiet", "--silent", "--"}

// beforePackage is how many of the arguments may decide which package a command runs: all, where no word is certainly the package.
func beforePackage(command string, args []string) int {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	if !slices.Contains(packageRunners, strings.TrimSuffix(name, path.Ext(name))) {
		return 0
	}
	for i, a := range args {
		value := i > 0 && strings.HasPrefix(args[i-1], "-") && !slices.Contains(runWords, args[i-1]) // perhaps
		if !value && !strings.HasPrefix(a, "-") && !slices.Contains(runWords, a) {
			return i + 1
		}
	}
	return len(args)
}
