package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// published are lines that work only once there is a release.
var published = regexp.MustCompile(`npx (-y |--yes )?mcphud\b|brew install|scoop install|winget install|cmd/mcphud@|npm (install|i) (-g |--global )?mcphud\b|ghcr\.io/mcphud`)

// headingVersion is a heading of CHANGELOG.md about a version, with what is behind it.
var headingVersion = regexp.MustCompile(`(?m)^## (v\S+)(.*)$`)

// released reports whether a changelog has a version that is out.
func released(changelog []byte) bool {
	for _, m := range headingVersion.FindAllSubmatch(changelog, -1) {
		if !strings.Contains(string(m[2]), "unreleased") {
			return true
		}
	}
	return false
}

// Nobody is told to install what was not published: until the changelog has a version that is out, the first lines of the README build from a
// clone, and no document names another way. From then on the README is what .release/readme makes of it.
func TestReadmeInstallsWhatThereIs(t *testing.T) {
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	if !headingVersion.Match(changelog) {
		t.Error("CHANGELOG.md has no heading with a version")
	}
	made := releaseReadme(t)
	if len(made) > 10_000 {
		t.Errorf(".release/readme makes a README.md of %d bytes, and at most 10,000 are read", len(made))
	}
	if made != "" && len(published.FindAllString(made, -1)) < 3 {
		t.Errorf(".release/readme names no published packages: %.400s", made)
	}
	if released(changelog) {
		if made != "" && made != string(readme) {
			t.Error("README.md is not as .release/readme makes it for a release: run .release/readme --write")
		}
		return
	}
	first := strings.Index(string(readme), "```console\n")
	block, _, _ := strings.Cut(string(readme)[max(first, 0)+len("```console\n"):], "```")
	if first < 0 || !strings.Contains(block, "git clone https://github.com/mcphud/mcphud") || !strings.Contains(block, "go install ./cmd/mcphud") {
		t.Errorf("the first lines of README.md do not build mcphud from a clone: %s", block)
	}
	eachFile(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".md") || strings.HasPrefix(path, ".release/") || strings.Contains(path, "/testdata/") {
			return
		}
		if found := published.Find(text); found != nil {
			t.Errorf("%s says %q, and nothing is published yet: name what works from a clone; .release/install.md is for a release", path, found)
		}
	})
}

// releaseReadme is README.md as a release has it; "" where no shell is.
func releaseReadme(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		return ""
	}
	out, err := exec.Command(filepath.Join(root, ".release", "readme")).Output()
	if err != nil {
		t.Fatalf(".release/readme: %v", err)
	}
	return string(out)
}

// The release workflow compares its tag with what .release/version reads.
func TestReleaseVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script for bash")
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	out, err := exec.Command(filepath.Join(root, ".release", "version")).Output()
	if first := headingVersion.FindSubmatch(changelog); err != nil || first == nil || strings.TrimSpace(string(out)) != string(first[1]) {
		t.Errorf("%q %v", out, err)
	}
}
