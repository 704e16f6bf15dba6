// What of a changelog is new to whoever ran another version before.

package tui

import (
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// ReleasedOn is a version in its canonical form with a "v", "" for anything but a released one: a build of a working copy, or of
// a commit between two releases.
func ReleasedOn(version string) string {
	v := "v" + strings.TrimPrefix(version, "v")
	if !semver.IsValid(v) || semver.Build(v) != "" || module.IsPseudoVersion(v) {
		return ""
	}
	return semver.Canonical(v)
}

// NewerVersion reports whether a version is a release after another one.
func NewerVersion(version, than string) bool {
	v, w := ReleasedOn(version), ReleasedOn(than)
	return v != "" && w != "" && semver.Compare(v, w) > 0
}

// ChangesBetween are the sections of a changelog ("## 1.2.0", "## [v1.2.0] - 2026-01-02") about the versions after seen up to now, "" if
// there are none.
func ChangesBetween(changelog, seen, now string) string {
	var out strings.Builder
	in := false
	for line := range strings.Lines(changelog) {
		if head, ok := strings.CutPrefix(line, "## "); ok {
			version := ""
			if words := strings.Fields(head); len(words) > 0 {
				version = strings.Trim(words[0], "[]():")
			}
			in = NewerVersion(version, seen) && !NewerVersion(version, now)
		}
		if in {
			out.WriteString(line)
		}
	}
	return out.String()
}
