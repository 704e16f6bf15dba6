package offer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/offer"
)

var digest = "sha256:" + strings.Repeat("0a", 32)

func file(uri string) string { return fmt.Sprintf(`{"uri":%q,"digest":%q,"size":3}`, uri, digest) }

func entry(uri, front, files string) string {
	return fmt.Sprintf(`{"uri":%q,"frontmatter":%s,"resources":%s}`, uri, front, files)
}

func TestSkillEntries(t *testing.T) {
	const (
		uri   = "skill://acme/billing/refunds/SKILL.md"
		root  = "skill://acme/billing/refunds"
		front = `{"name":"refunds","description":"Refund","license":"MIT"}`
	)
	with := func(files ...string) string {
		return entry(uri, front, "["+strings.Join(append([]string{file(uri)}, files...), ",")+"]")
	}
	many := make([]string, offer.MaxSkillFiles)
	for i := range many {
		many[i] = file(fmt.Sprintf("%s/%d", root, i))
	}
	for raw, want := range map[string]string{
		with():                            "",
		with(file(root + "/a%20b/c.txt")): "",
		with(many[1:]...):                 "",
		entry(uri, front, `"dynamic"`):    "",
		`{"uri":"github://o/r/refunds/SKILL.md","frontmatter":` + front + `,"resources":"dynamic"}`: "",

		with(many...):                             "513 files are more than 512",
		with(file(root + "/../x")):                "leaves its folder",
		with(file(root + "/a/%2e%2E/x")):          "leaves its folder",
		with(file(root + "/./x")):                 "leaves its folder",
		with(file(root + "//etc/passwd")):         "empty segment",
		with(file(root + "/a%2fb")):               "not a file name",
		with(file(root + `/a\b`)):                 "not a file name",
		with(file(root + "/a?b")):                 "not a file name",
		with(file(root + "/%zz")):                 "not percent-encoded",
		with(file("/etc/passwd")):                 "outside of the skill",
		with(file("skill://acme/billing/x")):      "outside of the skill",
		with(file(root + "-2/x")):                 "outside of the skill",
		with(file(root+"/x"), file(root+"/x")):    "listed twice",
		with(`{"uri":"` + root + `/x","size":3}`): "no sha256 digest",
		with(`{"uri":"` + root + `/x","digest":"` + strings.ToUpper(digest) + `","size":3}`): "no sha256 digest",
		with(`{"uri":"` + root + `/x","digest":"` + digest + `"}`):                           "no size",
		with(`{"uri":"` + root + `/x","digest":"` + digest + `","size":-1}`):                 "no size",
		with(`{"uri":"` + root + `/x","digest":"` + digest + `","size":16777215}`):           "larger than",
		entry(uri, front, "["+file(root+"/x")+"]"):                                           "its own SKILL.md is not among the files",
		entry(uri, front, "null"):                                                            "neither an array",
		entry(uri, `{"name":"other","description":"x"}`, `"dynamic"`):                        "the folder is called refunds, and the skill other",
		entry("skill://x/Bad/SKILL.md", `{"name":"Bad","description":"x"}`, `"dynamic"`):     "lower-case",
		entry("skill://x/a--b/SKILL.md", `{"name":"a--b","description":"x"}`, `"dynamic"`):   "single hyphens",
		entry("skill://x/../refunds/SKILL.md", front, `"dynamic"`):                           "leaves its folder",
		entry("/refunds/SKILL.md", front, `"dynamic"`):                                       "does not end in",
		entry("skill://refunds", front, `"dynamic"`):                                         "does not end in",
		entry(uri, `{"name":"refunds"}`, `"dynamic"`):                                        "no description",
		entry(uri, `{"name":"refunds","name":"x","description":"x"}`, `"dynamic"`):           "read in two ways",
		`{"frontmatter":{}}`: "it has no uri, frontmatter has no name, frontmatter has no description",
		`17`:                 "not an object",
	} {
		s, err := offer.ParseSkill([]byte(raw))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.300s\n%v, want %q", raw, err, want)
		case want == "" && s.Name != "refunds":
			t.Errorf("%.300s: %+v", raw, s)
		}
	}
	s, err := offer.ParseSkill([]byte(with(file(root + "/references/REFUND.md"))))
	if f, ok := s.File("references/REFUND.md"); err != nil || !ok || f.Size != 3 || s.Size() != 6 || s.Root() != root || string(s.FrontMatter) != front {
		t.Errorf("%+v, %v", s, err)
	}
}
