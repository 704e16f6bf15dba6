package everything

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
)

// The skills of SEP-2640: one with another in it, one whose text is made for each read, and one that is not listed.
//
//go:embed skills
var skillFiles embed.FS

const (
	skillRoot  = "skill://everything"
	skillFile  = "SKILL.md"
	skillsPage = 2 // entries of skills/list at once, so that clients have a second page to fetch
)

// skillPaths are the folders of the skills. The last is not listed.
var skillPaths = []string{"see-features", "see-features/ask-user", "server-report", "unlisted"}

// generated is the skill whose text changes, so that no digest of it can be published.
const generated = "server-report"

type (
	skillEntry struct {
		URI         string         `json:"uri"`
		FrontMatter map[string]any `json:"frontmatter"`
		Resources   any            `json:"resources"` // []skillResource, or "dynamic"
	}
	skillResource struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   int    `json:"size"`
	}
	child struct {
		URI      string `json:"uri"`
		Name     string `json:"name"`
		MIMEType string `json:"mimeType"`
	}
)

// SkillsMiddleware answers the methods of the skills extension, and declares it.
func (f *Features) SkillsMiddleware(next front.Next) front.Next {
	return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		result := map[string]any{}
		var err error
		switch x.Method {
		case string(mcp.MethodInitialize), string(mcp.MethodServerDiscover):
			raw, err := next(ctx, x)
			if err != nil {
				return nil, err
			}
			return jsonrpc.Update(raw, jsonrpc.Set([]byte(`{"directoryRead":true}`), "capabilities", "extensions", offer.SkillsExtension))
		case "skills/list":
			err = f.listSkills(x, result)
		case "skills/get":
			result["skill"], err = f.getSkill(x)
		case "resources/directory/read":
			result["resources"], err = readDirectory(x)
		default:
			return next(ctx, x)
		}
		if err != nil {
			return nil, err
		}
		if x.Modern {
			result["resultType"] = "complete"
			if strings.HasPrefix(x.Method, "skills/") {
				result["ttlMs"], result["cacheScope"] = 0, "public"
			}
		}
		return json.Marshal(result)
	}
}

func (f *Features) listSkills(x *front.Exchange, result map[string]any) error {
	listed := skillPaths[:len(skillPaths)-1]
	from := 0
	if cursor := jsonrpc.Get(x.Params, "cursor"); cursor != nil {
		at, err := strconv.Atoi(jsonrpc.GetString(x.Params, "cursor"))
		if err != nil || at < 0 || at >= len(listed) {
			return kit.Invalid("cursor", "is not one of this list")
		}
		from = at
	}
	to := min(from+skillsPage, len(listed))
	page := []skillEntry{}
	for _, at := range listed[from:to] {
		e, err := f.skill(at)
		if err != nil {
			return err
		}
		page = append(page, e)
	}
	result["skills"] = page
	if to < len(listed) {
		result["nextCursor"] = strconv.Itoa(to)
	}
	return nil
}

func (f *Features) getSkill(x *front.Exchange) (any, error) {
	uri := jsonrpc.GetString(x.Params, "uri")
	i := slices.IndexFunc(skillPaths, func(at string) bool { return skillURI(at, skillFile) == uri })
	if i < 0 {
		return nil, noSuch("skill", uri)
	}
	return f.skill(skillPaths[i])
}

// noSuch is the answer to a URI that names nothing.
func noSuch(what, uri string) error {
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: no %s at %q", what, kit.Shown(uri)).With("field", "uri")
}

func skillURI(elem ...string) string { return skillRoot + "/" + path.Join(elem...) }

// skill is the entry of the skill in a folder.
func (f *Features) skill(at string) (skillEntry, error) {
	e := skillEntry{URI: skillURI(at, skillFile), Resources: "dynamic"}
	var err error
	if e.FrontMatter, err = frontMatter(at); err != nil || at == generated {
		return e, err
	}
	var files []skillResource
	err = walkSkill(at, func(name string) {
		text := f.skillText(name)
		files = append(files, skillResource{skillURI(name), fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), len(text)})
	})
	e.Resources = files
	return e, err
}

// walkSkill calls visit with each file of a folder and those below it.
func walkSkill(at string, visit func(name string)) error {
	return fs.WalkDir(skillFiles, path.Join("skills", at), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			visit(strings.TrimPrefix(name, "skills/"))
		}
		return err
	})
}

func frontMatter(at string) (map[string]any, error) {
	raw, err := skillFiles.ReadFile(path.Join("skills", at, skillFile))
	if err != nil {
		return nil, fmt.Errorf("skill %s: %w", at, err)
	}
	front, _, _ := bytes.Cut(bytes.TrimPrefix(raw, []byte("---\n")), []byte("\n---\n"))
	var fields map[string]any
	if err := yaml.Unmarshal(front, &fields); err != nil {
		return nil, fmt.Errorf("skill %s: %w", at, err)
	}
	return fields, nil
}

// skillText is a file of a skill, as it is now.
func (f *Features) skillText(name string) string {
	raw, err := skillFiles.ReadFile(path.Join("skills", name))
	if err != nil {
		return "" // names are those of embedded files
	}
	return strings.ReplaceAll(string(raw), "{updates}", strconv.FormatInt(f.dynamic.updates.Load(), 10))
}

// skillResources are the files of all skills.
func (f *Features) skillResources() (all []server.ServerResource) {
	const markdown = "text/markdown"
	_ = walkSkill("", func(name string) { // embedded files can be walked
		uri, title, description := skillURI(name), path.Base(name), "A file of the skill "+path.Dir(name)
		if fields, err := frontMatter(path.Dir(name)); err == nil && title == skillFile {
			title, description = fmt.Sprint(fields["name"]), fmt.Sprint(fields["description"])
		}
		all = append(all, server.ServerResource{
			Resource: mcp.NewResource(uri, title, mcp.WithResourceDescription(description), mcp.WithMIMEType(markdown)),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: markdown, Text: f.skillText(name)}}, nil
			},
		})
	})
	return all
}

// readDirectory lists what is in a folder of the skills.
func readDirectory(x *front.Exchange) (any, error) {
	uri := jsonrpc.GetString(x.Params, "uri")
	at, ours := strings.CutPrefix(uri, skillRoot)
	entries, err := skillFiles.ReadDir("skills" + at)
	if !ours || err != nil {
		return nil, noSuch("directory", uri)
	}
	children := []child{}
	for _, e := range entries {
		c := child{uri + "/" + e.Name(), e.Name(), "text/markdown"}
		if e.IsDir() {
			c.MIMEType = "inode/directory"
		}
		children = append(children, c)
	}
	return children, nil
}
