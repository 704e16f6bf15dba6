package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

// DirectoryRead is the method that lists a folder. It may only be called where Session.Supports it.
const DirectoryRead = "resources/directory/read"

// Directory lists the files of a dynamic skill as the server has them now, without size and digest: nothing vouches for them. A
// child that is not in its folder is refused, and so is what has more entries than a skill may have.
func Directory(ctx context.Context, s *session.Session, sk offer.Skill) (files []offer.SkillFile, err error) {
	folders, n := []string{sk.Root()}, 0
	for len(folders) > 0 {
		at := folders[0]
		folders = folders[1:]
		for cursor := ""; ; {
			params := fmt.Appendf(nil, `{"uri":%s`, jsonrpc.Quote(at))
			if cursor != "" {
				params = fmt.Appendf(params, `,"cursor":%s`, jsonrpc.Quote(cursor))
			}
			r, err := s.Call(ctx, DirectoryRead, append(params, '}'), session.CallOptions{})
			if err != nil {
				return nil, err
			}
			bad := ""
			n++ // an empty page counts, too: pages need not end
			err = jsonrpc.Elements(jsonrpc.Get(r.Result, "resources"), func(child []byte) bool {
				uri := jsonrpc.GetString(child, "uri")
				name, below := strings.CutPrefix(uri, at+"/")
				switch n++; {
				case n > offer.MaxSkillFiles:
					bad = fmt.Sprintf("the folder has more than %d entries", offer.MaxSkillFiles)
				case !below || strings.Contains(name, "/") || !offer.BelowSkill(sk, uri):
					bad = "the listed file is outside of its folder: " + text.Clip(uri, 200)
				case jsonrpc.GetString(child, "mimeType") == "inode/directory":
					folders = append(folders, uri)
				default:
					files = append(files, offer.SkillFile{URI: uri, Path: strings.TrimPrefix(uri, sk.Root()+"/")})
				}
				return bad == ""
			})
			if err != nil {
				bad = "the folder's resources are not an array: " + err.Error()
			}
			if bad != "" {
				return nil, mismatch(s, at, bad)
			}
			if cursor = jsonrpc.GetString(r.Result, "nextCursor"); cursor == "" {
				break
			}
			if n >= offer.MaxSkillFiles {
				return nil, mismatch(s, at, fmt.Sprintf("the folder's pages do not end: %d so far", n))
			}
		}
	}
	return files, nil
}
