// Package skills gets the skills of a server (SEP-2640), and lets through only what is as its entry says. Nothing of a skill is
// read before it is asked for.
package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

const (
	get       = "skills/get"
	malformed = "the skill's entry is malformed"
)

// Mismatch is that a file is not what the skill's entry says. It is the cause of a failure.Error.
type Mismatch struct {
	URI  string // of the file
	What string // what is wrong, without the detail
}

// Error says what is wrong, without where.
func (m *Mismatch) Error() string { return m.What }

// Get asks for the entry of one skill, listed or not. An entry that must not be loaded is returned with an error.
func Get(ctx context.Context, s *session.Session, uri string) (offer.Skill, rpc.Reply, error) {
	r, err := s.Call(ctx, get, fmt.Appendf(nil, `{"uri":%s}`, jsonrpc.Quote(uri)), session.CallOptions{})
	if err != nil {
		var e *failure.Error
		if errors.As(err, &e) && e.Code != nil && *e.Code == jsonrpc.CodeInvalidParams {
			e.Kind, e.Next = failure.NotFound, "see the list of skills"
		}
		return offer.Skill{}, r, err
	}
	sk, err := offer.ParseSkill(jsonrpc.Get(r.Result, "skill"))
	if err == nil && sk.URI != uri {
		err = fmt.Errorf("it is the entry of %s", text.Clip(sk.URI, 200))
	}
	return sk, r, malformedError(s, get, uri, err)
}

// Find is the skill with that URI, or the one skill that is called name. A URI that is not listed is asked for.
func Find(ctx context.Context, s *session.Session, name string) (offer.Skill, error) {
	isURI := strings.Contains(name, "://")
	list, err := s.List(ctx, offer.Skills)
	if err != nil && !isURI {
		return offer.Skill{}, err
	}
	var found []offer.Item
	for _, it := range list.Items {
		if it.URI == name || !isURI && it.Name == name {
			found = append(found, it)
		}
	}
	switch {
	case len(found) == 1:
		return Entry(s, found[0])
	case len(found) > 1:
		uris := make([]string, len(found))
		for i, it := range found {
			uris[i] = it.URI
		}
		return offer.Skill{}, &failure.Error{
			Kind: failure.Usage, Server: s.Title(), Stage: "skills/list", Message: fmt.Sprintf("%d skills are called %s", len(found), name),
			Detail: text.Clip(strings.Join(uris, ", "), 1000), Next: "give the URI of one of them",
		}
	case isURI:
		sk, _, err := Get(ctx, s, name)
		return sk, err
	}
	return offer.Skill{}, &failure.Error{
		Kind: failure.NotFound, Server: s.Title(), Stage: "skills/list", Message: "no skill is called " + text.Clip(name, 100),
		Next: "see the list of skills, or give the URI of one that is not listed",
	}
}

// Entry is the skill of a list's item. One that must not be loaded is returned with an error.
func Entry(s *session.Session, it offer.Item) (offer.Skill, error) {
	sk, err := offer.ParseSkill(it.Raw)
	if err == nil {
		err = it.Flaw
	}
	return sk, malformedError(s, "skills/list", sk.URI, err)
}

func malformedError(s *session.Session, method, uri string, err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{
		Kind: failure.Protocol, Server: s.Title(), Stage: method + " " + text.Clip(uri, 200), Message: malformed, Detail: err.Error(),
		Next: "see the entry as it was sent", Err: &Mismatch{uri, malformed},
	}
}

// File is a file of a skill that is what the entry says.
type File struct {
	offer.SkillFile
	MIME     string
	Text     string // what it holds
	Reply    rpc.Reply
	Verified bool // by digest and size; false for a file of a dynamic skill, which has none
}

// Load reads the skill's SKILL.md, and checks that its front matter is the entry's.
func Load(ctx context.Context, s *session.Session, sk offer.Skill) (File, error) {
	f, err := Read(ctx, s, sk, sk.URI)
	if err != nil {
		return f, err
	}
	if what := compare(sk.FrontMatter, f.Text); what != "" {
		return File{Reply: f.Reply}, mismatch(s, sk.URI, "front matter differs: "+what)
	}
	return f, nil
}

// Read reads a file of the skill by its URI, or the path below the skill. What is not in its manifest is refused unasked.
func Read(ctx context.Context, s *session.Session, sk offer.Skill, name string) (File, error) {
	want, listed := sk.File(name)
	if sk.Dynamic {
		want = offer.SkillFile{URI: name, Path: strings.TrimPrefix(name, sk.Root()+"/")}
		if !strings.Contains(name, "://") {
			want.URI = sk.Root() + "/" + name
		}
		listed = offer.BelowSkill(sk, want.URI)
	}
	if !listed {
		return File{}, mismatch(s, text.Clip(name, 200), "the file is not in the skill's manifest")
	}
	r, err := s.ReadResource(ctx, want.URI, session.CallOptions{})
	if err != nil {
		return File{Reply: r}, err
	}
	f, what := check(want, sk.Dynamic, r.Result)
	if what != "" {
		return File{Reply: r}, mismatch(s, want.URI, what)
	}
	f.Reply = r
	return f, nil
}

// check compares the result of reading a file with its entry, and says what differs.
func check(want offer.SkillFile, dynamic bool, result json.RawMessage) (File, string) {
	cs, err := offer.Contents(result)
	if err != nil {
		return File{}, err.Error()
	}
	if len(cs) != 1 {
		return File{}, fmt.Sprintf("contents has not one piece: %d", len(cs))
	}
	c := cs[0]
	body := []byte(c.Text)
	if c.Type == "blob" {
		body = c.Data
	}
	sum := sha256.Sum256(body)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	switch {
	case c.Flaw != nil:
		return File{}, c.Flaw.Error()
	case c.URI != want.URI:
		return File{}, fmt.Sprintf("the server sent another file: %s", text.Clip(c.URI, 200))
	case strings.HasPrefix(c.MIME, "inode/"):
		return File{}, fmt.Sprintf("not a file: mimeType is %s", text.Clip(c.MIME, 80))
	case c.Type != "blob" && jsonrpc.Get(c.Raw, "text") == nil:
		return File{}, "contents has neither text nor blob"
	case dynamic && len(body) > offer.MaxSkillBytes:
		return File{}, fmt.Sprintf("size is beyond the limit: %d bytes, at most %d", len(body), offer.MaxSkillBytes)
	case !dynamic && int64(len(body)) != want.Size:
		return File{}, fmt.Sprintf("size differs: %d bytes, the entry says %d", len(body), want.Size)
	case !dynamic && digest != want.Digest:
		return File{}, fmt.Sprintf("digest differs: %s, the entry says %s", digest, want.Digest)
	}
	return File{SkillFile: want, MIME: c.MIME, Text: string(body), Verified: !dynamic}, ""
}

func mismatch(s *session.Session, uri, what string) error {
	head, detail, _ := strings.Cut(what, ": ")
	return &failure.Error{
		Kind: failure.Protocol, Server: s.Title(), Stage: "verify " + text.Clip(uri, 200), Message: head, Detail: detail,
		Next: "reload the list of skills: the skill may have changed", Err: &Mismatch{uri, head},
	}
}

// Verdict is what came of verifying one file.
type Verdict struct {
	offer.SkillFile
	Err error // nil if it is what the entry says
}

// Verify reads every file of the skill, and tells each about one. It returns early only where nothing can be read any more.
func Verify(ctx context.Context, s *session.Session, sk offer.Skill, each func(Verdict)) error {
	files := sk.Files
	if sk.Dynamic {
		files = []offer.SkillFile{{URI: sk.URI, Path: "SKILL.md"}}
	}
	for _, f := range files {
		var err error
		if f.URI == sk.URI {
			_, err = Load(ctx, s, sk)
		} else {
			_, err = Read(ctx, s, sk, f.URI)
		}
		switch failure.KindOf(err) {
		case "", failure.Protocol, failure.NotFound, failure.RpcError:
			each(Verdict{f, err})
		default:
			return err
		}
	}
	return nil
}
