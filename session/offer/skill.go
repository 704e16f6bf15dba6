package offer

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// SkillsExtension is the name under which servers declare skills (SEP-2640).
const SkillsExtension = "io.modelcontextprotocol/skills"

// What every host takes of one skill; more than that is refused.
const (
	MaxSkillFiles = 512      // files, its SKILL.md included
	MaxSkillBytes = 16 << 20 // bytes of all of them, by the sizes that the manifest gives
)

// Skill is an entry of skills/list or skills/get: a folder of files that a model may read, with the digest of each. Nothing of it is loaded here;
// whoever loads a file compares its size and digest, since what was looked at is the manifest.
type Skill struct {
	URI         string          // of its SKILL.md
	Name        string          // from the front matter; not unique
	Description string          // from the front matter
	FrontMatter json.RawMessage // the object as sent
	Files       []SkillFile     // in the order sent; nil for a dynamic skill
	Dynamic     bool            // its content is generated: there is nothing to verify it by
	Raw         json.RawMessage // the entry as sent
}

// SkillFile is one file of a skill's manifest.
type SkillFile struct {
	URI    string
	Path   string // below the folder of the skill, with slashes
	Digest string // "sha256:" and 64 hexadecimal digits
	Size   int64  // bytes
}

// Size is the number of bytes of all files.
func (s Skill) Size() (n int64) {
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// Root is the URI of the skill's folder, without a slash at its end.
func (s Skill) Root() string { return strings.TrimSuffix(s.URI, skillFile) }

// File is the file of the manifest with that URI, or with that path.
func (s Skill) File(name string) (SkillFile, bool) {
	for _, f := range s.Files {
		if f.URI == name || f.Path == name {
			return f, true
		}
	}
	return SkillFile{}, false
}

const skillFile = "/SKILL.md"

var (
	skillName   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	skillDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// ParseSkill reads an entry. The error says everything that must not be: such a skill must not be loaded. The Skill holds what
// could be read.
func ParseSkill(raw json.RawMessage) (Skill, error) {
	s := Skill{Raw: raw}
	var flaws []string
	flaw := func(format string, args ...any) {
		if len(flaws) < 5 {
			flaws = append(flaws, fmt.Sprintf(format, args...))
		}
	}
	if _, err := jsonrpc.Canonical(raw); err != nil {
		flaw("it can be read in two ways: %v", err)
	}
	w := jsonrpc.Walk(raw)
	var files json.RawMessage
	_, ok := w.Object(func(key string) {
		switch key {
		case "uri":
			s.URI, _ = w.Str()
		case "frontmatter":
			s.FrontMatter, _ = w.Object(func(key string) {
				switch key {
				case "name":
					s.Name, _ = w.Str()
				case "description":
					s.Description, _ = w.Str()
				}
			})
		case "resources":
			files = w.Raw()
		}
	})
	switch {
	case !ok || w.Err() != nil:
		return s, errors.New("the entry is not an object")
	case s.URI == "":
		flaw("it has no uri")
	case !strings.HasSuffix(s.URI, skillFile) || !strings.Contains(s.URI, "://"):
		flaw("uri does not end in %s", skillFile)
	default:
		if _, at, _ := strings.Cut(s.Root(), "://"); badPath(at) != "" {
			flaw("uri %s", badPath(at))
		} else if last := at[strings.LastIndexByte(at, '/')+1:]; last != s.Name && s.Name != "" {
			flaw("the folder is called %s, and the skill %s", text.Clip(last, 64), text.Clip(s.Name, 64))
		}
	}
	switch {
	case s.Name == "":
		flaw("frontmatter has no name")
	case len(s.Name) > 64 || !skillName.MatchString(s.Name):
		flaw("the name is not up to 64 lower-case letters, digits and single hyphens")
	}
	if s.Description == "" {
		flaw("frontmatter has no description")
	}
	switch {
	case string(files) == `"dynamic"`:
		s.Dynamic = true
	case len(files) > 0 && files[0] == '[':
		s.manifest(files, flaw)
	default:
		flaw("resources is neither an array nor \"dynamic\"")
	}
	if flaws != nil {
		return s, errors.New(strings.Join(flaws, ", "))
	}
	return s, nil
}

// manifest reads the files of an entry.
func (s *Skill) manifest(files json.RawMessage, flaw func(string, ...any)) {
	seen := map[string]bool{}
	w := jsonrpc.Walk(files)
	n := 0
	w.Array(func() {
		if n++; n > MaxSkillFiles {
			return
		}
		f := SkillFile{Size: -1}
		w.Object(func(key string) {
			switch key {
			case "uri":
				f.URI, _ = w.Str()
			case "digest":
				f.Digest, _ = w.Str()
			case "size":
				if size, err := strconv.ParseInt(string(w.Raw()), 10, 64); err == nil {
					f.Size = size
				}
			}
		})
		var below bool
		f.Path, below = strings.CutPrefix(f.URI, s.Root()+"/")
		name := text.Clip(f.URI, 120)
		switch {
		case f.URI == "":
			flaw("file %d has no uri", n)
		case !below:
			flaw("%s is outside of the skill", name)
		case badPath(f.Path) != "":
			flaw("%s %s", name, badPath(f.Path))
		case seen[f.URI]:
			flaw("%s is listed twice", name)
		case !skillDigest.MatchString(f.Digest):
			flaw("%s has no sha256 digest", name)
		case f.Size < 0 || f.Size > 1<<53:
			flaw("%s has no size", name)
		}
		seen[f.URI] = true
		s.Files = append(s.Files, f)
	})
	if n > MaxSkillFiles {
		flaw("%d files are more than %d", n, MaxSkillFiles)
	}
	if size := s.Size(); size > MaxSkillBytes || size < 0 {
		flaw("its files are larger than %s", text.Bytes(MaxSkillBytes))
	}
	if !seen[s.URI] {
		flaw("its own SKILL.md is not among the files")
	}
}

// badPath says why a path of a URI is not one to follow: "" where it is.
func badPath(path string) string {
	for segment := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return "is not percent-encoded"
		case plain == "":
			return "has an empty segment"
		case plain == "." || plain == "..":
			return "leaves its folder: it has a segment " + plain
		case strings.ContainsAny(plain, "/\\\x00") || strings.ContainsAny(segment, "?#"):
			return "has a segment that is not a file name"
		}
	}
	return ""
}

// BelowSkill is whether a URI can be a file of the skill: one in its folder, whose path leads nowhere else.
func BelowSkill(s Skill, uri string) bool {
	path, below := strings.CutPrefix(uri, s.Root()+"/")
	return below && badPath(path) == ""
}
