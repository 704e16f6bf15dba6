package inspector

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/skills"
)

// Exit codes of --verify.
const (
	ExitSkillFailed       = 7 // a skill is not as the extension wants it, or not as its entry says
	ExitSkillIncomplete   = 8 // a skill was too large to be read in full
	ExitSkillUnverifiable = 9 // --require-digests: a skill has no digests
)

// Bounds of what a run reads, unless the command line or the server's file says otherwise.
const (
	catalogSkills = 256
	catalogBytes  = 64 << 20
)

// Budget bounds what a run reads of all skills together.
type Budget struct {
	Skills, Bytes int64
}

// SkillReport is what --verify says of one skill.
type SkillReport struct {
	URI         string   `json:"uri"`
	Name        string   `json:"name"`
	Conformance []Issue  `json:"conformance"`
	FrontMatter []Issue  `json:"frontmatter"`
	Files       []FileOf `json:"files"`
	Incomplete  string   `json:"incomplete,omitempty"` // why not everything was read
	OK          bool     `json:"ok"`
	Outcome     string   `json:"outcome"` // verified, unverifiable, incomplete or failed
}

// Issue is something wrong with a skill.
type Issue struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // error or warning
	Message  string `json:"message"`
	Resource string `json:"resourceUri,omitempty"`
}

// FileOf is what came of reading one file of a skill.
type FileOf struct {
	URI            string          `json:"uri"`
	Status         string          `json:"status"` // verified, mismatch, unverifiable or read-error
	Reason         string          `json:"reason,omitempty"`
	ExpectedSize   json.RawMessage `json:"expectedSize,omitempty"`
	ActualSize     *int            `json:"actualSize,omitempty"`
	ExpectedDigest *string         `json:"expectedDigest,omitempty"`
	ActualDigest   string          `json:"actualDigest,omitempty"`
}

// Reading gets a resource as the server sends it. An error is that of one file; ended says that no other can be read any more.
type Reading func(ctx context.Context, uri string) (result json.RawMessage, ended bool, err error)

// Verify reads the files of skills, and says of each what is wrong with it.
func Verify(ctx context.Context, entries []json.RawMessage, budget Budget, read Reading) ([]SkillReport, error) {
	all := make([]skillEntry, len(entries))
	for i, raw := range entries {
		var err error
		if all[i], err = parseEntry(raw); err != nil {
			return nil, fail(fmt.Sprintf("skill %d of the list is malformed: %v", i+1, err))
		}
	}
	shared := sharedNames(all)
	reports := []SkillReport{}
	walked, taken := int64(0), int64(0)
	for _, e := range all {
		v := &verifying{entry: e, read: read, skipped: walked >= budget.Skills || taken >= budget.Bytes}
		if v.skipped {
			v.report.Incomplete = fmt.Sprintf("not read: the run is at its bound of %d skills or %d bytes; raise it by --skill-catalog-max-skills or --skill-catalog-max-bytes, or verify this skill alone by skills/get", budget.Skills, budget.Bytes)
		} else {
			if err := v.walk(ctx); err != nil {
				return nil, err
			}
			walked++
			taken += v.received
		}
		reports = append(reports, v.finish(shared[e.name]))
	}
	return reports, nil
}

// verifying is one skill on its way.
type verifying struct {
	entry    skillEntry
	read     Reading
	report   SkillReport
	skipped  bool
	received int64 // bytes
	own      *string
}

// walk reads the files of the manifest, and the skill's own file where they lack it.
func (v *verifying) walk(ctx context.Context) error {
	files := bounded(v.entry.files)
	if len(files) < len(v.entry.files) {
		v.report.Incomplete = fmt.Sprintf("%d of %d files were read: a skill has at most %d files and %d bytes", len(files), len(v.entry.files), maxFiles, maxBytes)
	}
	self, tried := identity(v.entry.uri), false
	for i, f := range files {
		tried = tried || identity(f.uri) == self
		body, ended, err := v.file(ctx, f.uri)
		if ended {
			return err
		}
		if err != nil {
			v.failed(f.uri, err)
		} else {
			if identity(f.uri) == self {
				v.own = &body
			}
			v.report.Files = append(v.report.Files, f.compare(body))
		}
		if v.received > maxBytes {
			if i < len(files)-1 {
				v.report.Incomplete = fmt.Sprintf("stopped after %d of %d files: what the server sent of them is larger than %d bytes", i+1, len(v.entry.files), maxBytes)
			}
			break
		}
	}
	if tried {
		return nil
	}
	body, ended, err := v.file(ctx, v.entry.uri)
	if ended {
		return err
	}
	if err != nil {
		v.failed(v.entry.uri, err)
		return nil
	}
	v.own = &body
	for _, f := range v.entry.files { // one that the bounds left out
		if identity(f.uri) == self {
			v.report.Files = append(v.report.Files, f.compare(body))
			break
		}
	}
	return nil
}

func (v *verifying) failed(uri string, err error) {
	v.report.Files = append(v.report.Files, FileOf{URI: uri, Status: "read-error", Reason: err.Error()})
}

// file reads one file, and counts what the server sent for it.
func (v *verifying) file(ctx context.Context, uri string) (body string, ended bool, err error) {
	result, ended, err := v.read(ctx, uri)
	if err != nil {
		return "", ended, err
	}
	self, found := identity(uri), false
	var sent int64
	_ = jsonrpc.Elements(jsonrpc.Get(result, "contents"), func(block []byte) bool { // what is not a list has none
		text, isText := jsonrpc.String(jsonrpc.Get(block, "text"))
		blob, isBlob := jsonrpc.String(jsonrpc.Get(block, "blob"))
		sent += int64(len(text) + len(blob))
		if at, ok := jsonrpc.String(jsonrpc.Get(block, "uri")); !ok || found || identity(at) != self {
			return true
		}
		switch found = true; {
		case isText:
			body = text
		case isBlob:
			body, err = decoded(blob)
		default:
			err = fail("the content has neither text nor blob")
		}
		return true
	})
	if !found {
		err = fail("the answer has no content with this URI")
	}
	v.received += max(sent, int64(len(body)))
	return body, false, err
}

// decoded is base64 as JavaScript takes it: with or without padding, and with space.
func decoded(blob string) (string, error) {
	plain := strings.TrimRight(strings.Join(strings.Fields(blob), ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return "", fmt.Errorf("the blob is not base64: %w", err)
	}
	return string(b), nil
}

// compare says whether a file is what its manifest says.
func (f skillFile) compare(body string) FileOf {
	out, size := FileOf{URI: f.uri, ExpectedSize: f.size, ExpectedDigest: f.digest}, len(body)
	switch n, whole := f.bytes(); {
	case f.size != nil && (!whole || n != int64(size)):
		out.Status, out.ActualSize = "mismatch", &size
		out.Reason = fmt.Sprintf("the file has %d bytes, and the manifest says %s", size, f.size)
		return out
	case f.digest == nil || !digest.MatchString(*f.digest):
		out.Status, out.ExpectedSize, out.Reason = "unverifiable", nil, "the manifest has no digest of the form sha256: and 64 lower-case hexadecimal digits"
		return out
	}
	if f.size != nil {
		out.ActualSize = &size
	}
	sum := sha256.Sum256([]byte(body))
	out.ActualDigest = "sha256:" + hex.EncodeToString(sum[:])
	out.Status = "verified"
	if out.ActualDigest != *f.digest {
		out.Status = "mismatch"
	}
	return out
}

var differenceCodes = map[skills.DifferenceKind]string{
	skills.FrontMatterAbsent: "frontmatter-absent", skills.FrontMatterUnreadable: "frontmatter-unparsable", skills.FieldDiffers: "frontmatter-mismatch",
}

// finish judges what was found. named are the URIs of skills with the same name.
func (v *verifying) finish(named []string) SkillReport {
	r, e := v.report, v.entry
	others := slices.DeleteFunc(slices.Clone(named), func(other string) bool { return other == identity(e.uri) })
	r.URI, r.Name, r.Conformance, r.FrontMatter = e.uri, e.title(), e.conformance(), []Issue{}
	if len(others) > 0 {
		r.Conformance = append(r.Conformance, warning("duplicate-name", "other skills of the list have this name too, only their URIs tell them apart: "+strings.Join(others[:min(len(others), othersShown)], ", ")))
	}
	if v.own != nil {
		for _, d := range skills.Differences(e.front, *v.own) {
			i := problem(differenceCodes[d.Kind], d.What)
			i.Resource = e.uri
			r.FrontMatter = append(r.FrontMatter, i)
		}
	}
	if r.Files == nil {
		r.Files = []FileOf{}
	}
	r.OK = len(r.FrontMatter) == 0
	for _, i := range r.Conformance {
		r.OK = r.OK && i.Severity != "error"
	}
	for _, f := range r.Files {
		r.OK = r.OK && f.Status != "mismatch" && f.Status != "read-error"
	}
	switch {
	case !r.OK:
		r.Outcome = "failed"
	case r.Incomplete != "":
		r.Outcome = "incomplete"
	case e.dynamic:
		r.Outcome = "unverifiable"
	default:
		r.Outcome = "verified"
	}
	return r
}
