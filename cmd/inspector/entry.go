package inspector

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
)

// What every host takes of one skill (SEP-2640).
const (
	maxFiles       = offer.MaxSkillFiles
	maxBytes       = offer.MaxSkillBytes
	maxName        = 64
	maxDescription = 1024
	maxSafeInteger = 1<<53 - 1
)

var (
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	escaped   = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
)

const ownFile = "/SKILL.md"

// skillEntry is an entry of skills/list or skills/get, whatever is wrong with what it says.
type skillEntry struct {
	uri               string
	front             json.RawMessage
	name, description string
	dynamic           bool
	files             []skillFile
}

// skillFile is one file of a manifest. digest and size are nil where they are missing.
type skillFile struct {
	uri    string
	digest *string
	size   json.RawMessage
}

// bytes is the size, where it is one.
func (f skillFile) bytes() (int64, bool) {
	n, err := strconv.ParseFloat(string(f.size), 64)
	return int64(n), err == nil && n >= 0 && n <= maxSafeInteger && n == float64(int64(n))
}

// parseEntry reads an entry. What has not even the shape of one is an error.
func parseEntry(raw json.RawMessage) (e skillEntry, err error) {
	var ok bool
	optional := func(from json.RawMessage, member string) *string {
		v := jsonrpc.Get(from, member)
		if v == nil {
			return nil
		}
		s, isText := jsonrpc.String(v)
		if !isText {
			err = errors.Join(err, errors.New(member+" is not a string"))
		}
		return &s
	}
	if e.uri, ok = jsonrpc.String(jsonrpc.Get(raw, "uri")); !ok {
		return e, errors.New("it has no uri")
	}
	if e.front = jsonrpc.Get(raw, "frontmatter"); !isObject(e.front) {
		return e, errors.New("frontmatter is not an object")
	}
	if name := optional(e.front, "name"); name != nil {
		e.name = *name
	}
	if description := optional(e.front, "description"); description != nil {
		e.description = *description
	}
	files := jsonrpc.Get(raw, "resources")
	switch {
	case string(files) == `"dynamic"`:
		e.dynamic = true
	case len(files) == 0 || files[0] != '[':
		return e, errors.New(`resources is neither a list nor "dynamic"`)
	}
	_ = jsonrpc.Elements(files, func(file []byte) bool { // "dynamic" has none
		f := skillFile{digest: optional(file, "digest"), size: jsonrpc.Get(file, "size")}
		if f.uri, ok = jsonrpc.String(jsonrpc.Get(file, "uri")); !ok {
			err = errors.Join(err, errors.New("a file has no uri"))
		}
		if _, bad := strconv.ParseFloat(string(f.size), 64); f.size != nil && bad != nil {
			err = errors.Join(err, errors.New("size is not a number"))
		}
		e.files = append(e.files, f)
		return err == nil
	})
	return e, err
}

// canonical is a URI in the one of its spellings that they are compared by; false for what has no path.
func canonical(uri string) (string, bool) {
	unreserved := escaped.ReplaceAllStringFunc(uri, func(e string) string {
		n, _ := strconv.ParseUint(e[1:], 16, 8) // two hexadecimal digits
		if c := byte(n); strings.IndexByte("-._~", c) >= 0 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			return string(rune(c))
		}
		return strings.ToUpper(e)
	})
	u, err := url.Parse(strings.TrimSpace(unreserved))
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.Path == "" && u.Host == "" {
		return "", false
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		u.Host = strings.ToLower(u.Host)
	}
	return (&url.URL{}).ResolveReference(u).String(), true // without dot segments
}

// identity is what two spellings of a URI have in common.
func identity(uri string) string {
	if c, ok := canonical(uri); ok {
		return c
	}
	return uri
}

// folder is the URI of the skill's folder with a slash at its end, and the folder's name; false where the URI has none.
func (e skillEntry) folder() (root, name string, ok bool) {
	at, _ := canonical(e.uri)
	at, ok = strings.CutSuffix(at, ownFile)
	return at + "/", at[strings.LastIndexByte(at, '/')+1:], ok
}

func (e skillEntry) title() string {
	if name := strings.TrimSpace(e.name); name != "" {
		return name
	}
	if _, name, _ := e.folder(); name != "" {
		return name
	}
	return e.uri
}

func problem(code, message string) Issue {
	return Issue{Code: code, Severity: "error", Message: message}
}

func warning(code, message string) Issue {
	return Issue{Code: code, Severity: "warning", Message: message}
}

// conformance is what is wrong with the entry by itself.
func (e skillEntry) conformance() []Issue {
	all := []Issue{}
	add := func(i Issue) { all = append(all, i) }
	named := strings.TrimSpace(e.name) != ""
	if !named {
		add(problem("missing-name", "frontmatter has no name"))
	} else if utf8.RuneCountInString(e.name) > maxName || !skillName.MatchString(e.name) {
		add(problem("malformed-name", fmt.Sprintf("the name is not up to %d lower-case letters, digits and single hyphens between them: %s", maxName, e.name)))
	}
	if strings.TrimSpace(e.description) == "" {
		add(problem("missing-description", "frontmatter has no description"))
	} else if n := utf8.RuneCountInString(e.description); n > maxDescription {
		add(problem("malformed-description", fmt.Sprintf("the description has %d characters, more than %d", n, maxDescription)))
	}
	root, folder, ok := e.folder()
	if !ok || folder == "" {
		add(problem("malformed-uri", "the URI does not end in a folder and "+ownFile))
	} else if named && folder != e.name {
		add(problem("name-path-mismatch", "the folder is called "+folder+", and the skill "+e.name))
	}
	if e.dynamic {
		return append(all, warning("dynamic-resources", "the files are generated, so there are no digests to verify them by"))
	}
	if len(e.files) > maxFiles {
		add(warning("resource-limit-exceeded", fmt.Sprintf("%d files are more than the %d that every host takes", len(e.files), maxFiles)))
	}
	if total := e.size(); total > maxBytes {
		add(warning("size-limit-exceeded", fmt.Sprintf("%d bytes are more than the %d that every host takes", total, maxBytes)))
	}
	self := identity(e.uri)
	if !slices.ContainsFunc(e.files, func(f skillFile) bool { return identity(f.uri) == self }) {
		add(problem("manifest-missing-self", "the skill's own file is not among its files: "+e.uri))
	}
	if !ok {
		root = ""
	}
	return append(all, e.fileIssues(root)...)
}

func (e skillEntry) size() (n int64) {
	for _, f := range e.files {
		if b, ok := f.bytes(); ok {
			n += b
		}
	}
	return n
}

// fileIssues is what is wrong with the manifest. root is the skill's folder, "" where it is not known.
func (e skillEntry) fileIssues(root string) (all []Issue) {
	seen := map[string]bool{}
	for _, f := range e.files {
		add := func(code, message string) {
			i := problem(code, message)
			i.Resource = f.uri
			all = append(all, i)
		}
		at := identity(f.uri)
		if seen[at] {
			add("duplicate-resource", "the file is listed twice")
		}
		seen[at] = true
		if c, ok := canonical(f.uri); root != "" && (!ok || !strings.HasPrefix(c, root)) {
			add("resource-outside-skill-root", "the file is outside of "+root)
		}
		if f.digest == nil {
			add("missing-digest", "the file has no digest to verify it by")
		} else if !digest.MatchString(*f.digest) {
			add("malformed-digest", "the digest is not sha256: and 64 lower-case hexadecimal digits: "+*f.digest)
		}
		if f.size == nil {
			add("missing-size", "the file has no size")
		} else if _, ok := f.bytes(); !ok {
			add("malformed-size", "the size is not a number of bytes: "+string(f.size))
		}
	}
	return all
}

// bounded are the first files that are not more, and not larger, than a skill may have.
func bounded(files []skillFile) []skillFile {
	total := int64(0)
	for i, f := range files {
		n, ok := f.bytes()
		if !ok {
			n = 0
		}
		if total += n; i >= maxFiles || total > maxBytes {
			return files[:i]
		}
	}
	return files
}

// othersShown is how many skills of the same name a warning names.
const othersShown = 3

// sharedNames are the URIs of skills with the same name, by that name: as many as a warning about one of them needs.
func sharedNames(all []skillEntry) map[string][]string {
	type named struct{ name, id string }
	seen, shared := map[named]bool{}, map[string][]string{}
	for _, e := range all {
		n := named{e.name, identity(e.uri)}
		if strings.TrimSpace(e.name) == "" || seen[n] || len(shared[e.name]) > othersShown {
			continue
		}
		seen[n] = true
		shared[e.name] = append(shared[e.name], n.id)
	}
	return shared
}
