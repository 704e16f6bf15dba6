package views_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
)

const (
	gitSkill = "---\nname: git-workflow\ndescription: How we branch\n---\n# Branches\n\nOne for each change.\n"
	gitForms = "The forms."
)

// always gives the same answer.
func always(answer string) func([]byte) string { return func([]byte) string { return answer } }

// librarian has one good skill, one whose entry lies, and a dynamic one.
func librarian() *scribe {
	s := newScribe()
	file := func(uri, text string) string {
		return fmt.Sprintf(`{"uri":%q,"digest":"sha256:%x","size":%d}`, uri, sha256.Sum256([]byte(text)), len(text))
	}
	s.answers["initialize"] = always(`{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"extensions":{"io.modelcontextprotocol/skills":{}}},"serverInfo":{"name":"librarian","version":"1"}}`)
	s.answers["resources/list"] = always(`{"resources":[]}`)
	s.answers["skills/list"] = always(`{"skills":[{"uri":"skill://git-workflow/SKILL.md","frontmatter":{"name":"git-workflow","description":"How we branch"},"resources":[` +
		file("skill://git-workflow/SKILL.md", gitSkill) + `,` + file("skill://git-workflow/references/FORMS.md", gitForms) + `]},` +
		`{"uri":"skill://liar/SKILL.md","frontmatter":{"name":"liar","description":"Lies"},"resources":[` + file("skill://liar/../other/SKILL.md", "") + `]},` +
		`{"uri":"skill://today/SKILL.md","frontmatter":{"name":"today","description":"Of today"},"resources":"dynamic"}]}`)
	return s
}

// withSkill serves the good skill's SKILL.md.
func (s *scribe) withSkill() *scribe {
	s.serveFile("skill://git-workflow/SKILL.md", gitSkill)
	return s
}

func (s *scribe) serveFile(uri, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers["resources/read"] = always(fmt.Sprintf(`{"contents":[{"uri":%q,"mimeType":"text/markdown","text":%s}]}`, uri, strconv.Quote(text)))
}

// A skill is read when it is opened and not before, each file with its verdict; what differs is not shown.
func TestSkillsAreOpenedAndVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := librarian()
		app := scribed(t, s, tuitest.At("resources", nil))
		app.Press(":skills").View("skills").Pane("list").Has("git-workflow", "✗ skill://liar/SKILL.md", "malformed: ", "today")
		app.Pane("detail").Has("How we branch", "2 files · 97 B · not read yet", "references/FORMS.md 10 B")
		if n := s.count("resources/read"); n != 0 {
			t.Errorf("%d files were read for the list", n)
		}
		s.serveFile("skill://git-workflow/SKILL.md", gitSkill)
		app.Press("enter").View("skill").Pane("list").Has("✓ verified     87 B SKILL.md", "· not read     10 B references/FORMS.md")
		app.Pane("detail").Has("SKILL.md ✓ verified", "name: git-workflow", "# Branches", "One for each change.")
		if n := s.count("resources/read"); n != 1 {
			t.Errorf("%d files were read for SKILL.md", n)
		}
		s.serveFile("skill://git-workflow/references/FORMS.md", "Other forms.")
		app.Press("down", "enter").Pane("list").Has("✗ differs      10 B references/FORMS.md")
		app.Pane("detail").Has("size differs: 12").HasNot("Other forms")
		s.serveFile("skill://git-workflow/references/FORMS.md", gitForms)
		app.Press("shift+tab", ":verify").Toast("1 of 2 files do not match") // the same answer to both questions
		app.Pane("list").Has("✗ differs      87 B SKILL.md", "✓ verified     10 B references/FORMS.md")
		s.serveFile("skill://git-workflow/SKILL.md", strings.Replace(gitSkill, "branch", "brunch", 1))
		app.Press("r").Pane("list").Has("The skill is not opened.")
		app.Pane("detail").Has("no such method")
		app.Press("q").View("skills").Press("down", "enter").View("skill").Pane("detail").Has("the skill's entry is malformed", "leaves its folder")
		s.serveFile("skill://today/SKILL.md", "---\nname: today\ndescription: Of yesterday\n---\n")
		app.Press("q").View("skills").Press("down", "enter").View("skill").Pane("detail").Has("front matter differs", `"Of yesterday"`)
		s.serveFile("skill://today/SKILL.md", "---\nname: today\ndescription: Of today\n---\nNow.")
		app.Press("q").View("skills").Press("enter").View("skill").Pane("detail").Has("! dynamic: not verifiable", "Now.")
		app.Pane("list").Has("! Dynamic: no manifest.")
	})
}

// In linear mode the files of a skill have numbers, and a filter that leaves none says so.
func TestSkillLinear(t *testing.T) {
	inLinear(t, librarian().withSkill().serve, func(c *console) {
		c.enter("")
		c.enter(":skills")
		assert.Contains(t, c.enter("1"), "1) ✓ verified")
		assert.Contains(t, c.enter("/nomatch"), `nothing matches "nomatch"`)
	})
}

func TestServersWithoutSkills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		app := scribed(t, s, tuitest.At("skills", nil))
		app.View("skills").Pane("list").Has("scribe offers no skills")
		app.Press("3", ":skills").View("skills")
		if n := s.count("skills/list"); n != 0 {
			t.Error("a server that declares no skills was asked for them")
		}
	})
}
