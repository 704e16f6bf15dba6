package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// skill shows one skill: its files with what came of verifying them, and the one that was opened. Only that is read. The files of a
// dynamic skill are those that the server lists now.
// Navigate's Arg is the URI (string) of its SKILL.md.
type skill struct {
	pane.ListPage
	server, uri string
	entry       offer.Skill
	err         error            // why there is no entry, or why it is refused
	verdicts    map[string]error // of the files that were read, by URI
	reply       pane.Reply
	shown       string // path of the file in the detail pane
	op          uint64 // that the detail pane waits for
}

// NewSkill is the screen of one skill.
func NewSkill() *tui.Screen {
	v := &skill{reply: pane.NewReply("skill", "detail")}
	v.View, v.Page, v.Pick, v.Inputs = "skill", v.page, v.read, func(*tui.Ctx) any { return v.op }
	return v.screen()
}

func (v *skill) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "skill", Title: "Skill", Tab: "servers", Split: 38, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Files"}, {ID: "detail", Title: "SKILL.md"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		PageText: v.pageText, CopyText: v.copyText, Breadcrumb: v.breadcrumb,
	})
}

func (v *skill) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "skill.read", Verb: tui.VerbOpen, Title: "read", Group: "Skill", Hint: 1, Pane: "list",
			Help: "Read the file and verify it by the skill's entry.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				v.Settle()
				return v.read(c, v.List.Selected())
			},
		},
		{
			ID: "skill.verify", Word: "verify", Title: "verify all", Group: "Skill", Hint: 2,
			Help: "Read all files of the skill and verify them.",
			Disabled: func(c *tui.Ctx) string {
				if v.entry.Dynamic {
					return "a dynamic skill has nothing to verify its files by"
				}
				return v.none(c)
			},
			Run: v.verify,
		},
		{
			ID: "skill.refresh", Verb: tui.VerbRun, Title: "reload", Group: "Skill", Hint: 2,
			Help: "Ask the server for the skill's entry again, and read its SKILL.md.",
			Disabled: func(c *tui.Ctx) string {
				if v.uri == "" {
					return "no skill is open"
				}
				return pane.Offline(c)
			},
			Run: func(c *tui.Ctx) tea.Cmd { return v.open(c, v.uri, true) },
		},
	}, v.reply.Actions("skill", "detail")...)
}

func (v *skill) none(c *tui.Ctx) string {
	if len(v.entry.Files) == 0 || v.err != nil {
		return "the skill has no files to read"
	}
	return pane.Offline(c)
}

// skillOpened is the outcome of opening a skill, and skillFile of reading one of its files.
type (
	skillOpened struct {
		entry offer.Skill
		file  skills.File
		read  error // of SKILL.md
	}
	skillVerified struct {
		uri      string
		verdicts map[string]error
	}
)

// open gets a skill's entry, by the list or anew, and reads its SKILL.md.
func (v *skill) open(c *tui.Ctx, uri string, anew bool) tea.Cmd {
	if why := pane.Offline(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	s := c.Server
	v.server, v.uri, v.entry, v.err, v.verdicts, v.shown = s.Name(), uri, offer.Skill{}, nil, map[string]error{}, "SKILL.md"
	v.reply.Wait("reading SKILL.md")
	cmd, op := c.Go("skill", "open "+safe.Line(uri, 80), func(ctx context.Context) (any, error) {
		var o skillOpened
		var err error
		if anew {
			o.entry, _, err = skills.Get(ctx, s, uri)
		} else {
			o.entry, err = skills.Find(ctx, s, uri)
		}
		if err != nil {
			return o, err
		}
		if o.file, o.read = skills.Load(ctx, s, o.entry); o.read == nil && o.entry.Dynamic && s.Supports(skills.DirectoryRead) {
			o.entry.Files, err = skills.Directory(ctx, s, o.entry)
		}
		return o, err
	})
	v.op = op
	return tea.Batch(v.Changed(c), cmd)
}

// read reads the file in row i.
func (v *skill) read(c *tui.Ctx, i int) tea.Cmd {
	if v.none(c) != "" || i < 0 || i >= len(v.entry.Files) {
		return nil
	}
	s, entry, f := c.Server, v.entry, v.entry.Files[i]
	v.shown = f.Path
	v.reply.Wait("reading " + safe.Line(f.Path, 200))
	cmd, op := c.Go("skill", "read "+safe.Line(f.Path, 80), func(ctx context.Context) (any, error) {
		var o skillOpened
		o.entry = entry
		if f.URI == entry.URI {
			o.file, o.read = skills.Load(ctx, s, entry)
		} else {
			o.file, o.read = skills.Read(ctx, s, entry, f.URI)
		}
		return o, nil
	})
	v.op = op
	return tea.Batch(cmd, c.FocusPane("detail"))
}

func (v *skill) verify(c *tui.Ctx) tea.Cmd {
	s, entry := c.Server, v.entry
	cmd, _ := c.Go("skill", "verify "+safe.Line(entry.Name, 80), func(ctx context.Context) (any, error) {
		out := skillVerified{entry.URI, map[string]error{}}
		err := skills.Verify(ctx, s, entry, func(f skills.Verdict) { out.verdicts[f.URI] = f.Err })
		return out, err
	})
	return cmd
}

func (v *skill) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		if uri, ok := m.Arg.(string); ok {
			return v.open(c, uri, false), true
		}
		return nil, true
	case tui.ServerChanged:
		if c.Server == nil || c.Server.Name() != v.server {
			v.server, v.uri, v.entry, v.err, v.verdicts = "", "", offer.Skill{}, nil, nil
			v.reply.Clear()
			return v.Changed(c), true
		}
		return nil, true
	case tui.FilterChanged:
		if c.Focus != "detail" {
			return v.SetFilter(c, m.Text), true
		}
	case tui.OpDone:
		return v.finished(c, m), true
	case tui.Resized, tui.Rendered:
		return v.reply.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.reply.Handle(c, msg)
		}
	}
	if pane.IsBack(msg) {
		return c.Back(), true
	}
	if c.Focus == "detail" {
		return v.reply.Handle(c, msg)
	}
	consumed, opened := v.MoveCursor("list", msg)
	if opened {
		return v.read(c, v.List.Selected()), true
	}
	return nil, consumed
}

func (v *skill) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if all, ok := m.Value.(skillVerified); ok {
		return v.verified(c, m, all)
	}
	if m.Op != v.op || v.op == 0 {
		if cmd, ok := v.Filtered(c, m); ok {
			return cmd
		}
		cmd, _ := v.reply.Handle(c, m)
		return cmd
	}
	v.op = 0
	o, _ := m.Value.(skillOpened)
	if v.entry, v.err = o.entry, m.Err; m.Err == nil {
		m.Err = o.read
		if !interrupted(o.read) {
			v.verdicts[cmp.Or(fileAt(v.entry, v.shown).URI, v.uri)] = o.read
		}
	}
	rows := v.Changed(c)
	if m.Err != nil {
		v.reply.Fail(m, o.file.Reply.Request)
		return rows
	}
	f := o.file
	sent := pane.ResultAsSent(c.Sessions.Journal(), f.Reply)
	verdict := "✓ verified"
	if !f.Verified {
		verdict = "! dynamic: not verifiable"
	}
	return tea.Batch(rows, v.reply.Load(c, f.Reply.Request, func() (pane.Verdict, []pane.Part, error) {
		_, parts := pane.ResultParts(pane.FileName(f.URI), f.Reply.Result, sent)
		return pane.Verdict{Line: verdict}, parts, nil
	}))
}

// verified takes what came of verifying all files.
func (v *skill) verified(c *tui.Ctx, m tui.OpDone, all skillVerified) tea.Cmd {
	if all.uri != v.uri {
		return nil
	}
	wrong := 0
	for uri, err := range all.verdicts {
		v.verdicts[uri] = err
		if err != nil {
			wrong++
		}
	}
	v.Rev++
	switch {
	case m.Err != nil:
		return c.Toast(tui.Failure, m.Err.Error())
	case wrong > 0:
		return c.Toast(tui.Failure, fmt.Sprintf("%d of %s do not match the skill's entry", wrong, text.Count(len(all.verdicts), "file")))
	}
	return c.Toast(tui.Success, text.Count(len(all.verdicts), "file")+" verified")
}

func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

func fileAt(s offer.Skill, path string) offer.SkillFile {
	f, _ := s.File(path)
	return f
}

// page is the files of the skill, or why there is none.
func (v *skill) page(*tui.Ctx) page.Page {
	p := page.Page{Title: cmp.Or(text.Clip(v.entry.Name, 64), "Files")}
	switch n := len(v.entry.Files); {
	case v.uri == "":
		p.None = [2]string{"No skill is open.", "Press q for the list of skills."}
	case v.op != 0:
		p.None = [2]string{"Opening the skill…", "Press x to cancel."}
	case v.err != nil:
		p.None = [2]string{"The skill is not opened.", "The other pane says why. Press r to try again, q for the list."}
	case n == 0:
		p.None = [2]string{"! Dynamic: no manifest.", "The server makes the files when they are read: only the front matter of SKILL.md is verified."}
	case v.entry.Dynamic:
		p.Foot = text.Count(n, "file")
	default:
		p.Foot = text.Count(n, "file") + " · " + text.Bytes(v.entry.Size())
	}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: 10}, {Cells: 8, Right: true}, {Found: true}}, Len: len(v.entry.Files), Row: func(i int) page.Row {
			f, size := v.entry.Files[i], ""
			if !v.entry.Dynamic {
				size = text.Bytes(f.Size)
			}
			return page.Row{Cells: []page.Text{v.verdict(f.URI).Text(), {S: size, Tone: page.Quiet}, {S: f.Path}}}
		},
	}
	return p
}

// verdict is what is known of a file.
func (v *skill) verdict(uri string) page.Mark {
	var differs *skills.Mismatch
	switch err, read := v.verdicts[uri]; {
	case !read:
		return page.Mark{Glyph: "·", Word: "not read", Tone: page.Quiet}
	case errors.As(err, &differs):
		return page.Mark{Glyph: "✗", Word: "differs", Tone: page.Bad}
	case err != nil:
		return page.Mark{Glyph: "✗", Word: "failed", Tone: page.Bad}
	case v.entry.Dynamic:
		return page.Mark{Glyph: "!", Word: "dynamic", Tone: page.Warn}
	}
	return page.Mark{Glyph: "✓", Word: "verified", Tone: page.Good}
}

func (v *skill) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		p.Title, p.Badge, p.Foot = safe.Line(cmp.Or(v.shown, "SKILL.md"), 200), "", ""
		if v.uri == "" {
			p.Lines, p.Scroll = nil, tui.Scroll{}
			return nil
		}
		return v.reply.Draw(c, p)
	}
	return v.ListPage.Draw(c, p)
}

func (v *skill) breadcrumb(*tui.Ctx) string { return safe.Line(cmp.Or(v.entry.Name, v.uri), 60) }

func (v *skill) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if c.Focus == "detail" && k != tui.CopyCommand && k != tui.CopyPath {
		return v.reply.Doc.CopyText(k)
	}
	f := fileAt(v.entry, v.shown)
	if i := v.List.Selected(); c.Focus != "detail" && i >= 0 && i < len(v.entry.Files) {
		f = v.entry.Files[i]
	}
	switch {
	case v.uri == "" || c.Server == nil:
		return nil
	case k == tui.CopyValue || k == tui.CopyPath:
		return tui.CopyString(cmp.Or(f.URI, v.uri), true)
	case k == tui.CopyJSON || k == tui.CopyRaw:
		return tui.CopyBytes(v.entry.Raw)
	case k == tui.CopyCommand && (f.URI == "" || f.URI == v.uri):
		return pane.CopyCommand(c.Server.Config(), pane.WithMeta(c.Server, pane.Invoke("skills show", v.uri)))
	case k == tui.CopyCommand:
		return pane.CopyCommand(c.Server.Config(), pane.WithMeta(c.Server, pane.Invoke("skills show", v.uri, f.Path)))
	}
	return nil
}

func (v *skill) pageText(*tui.Ctx) (text, ext string, ok bool) { return v.reply.Doc.PageText() }

// plain is the file that is open, or why none is.
func (v *skill) plain(c *tui.Ctx, w io.Writer) {
	if p := v.Listed(c); v.uri == "" || v.List.Len() == 0 && v.err == nil && v.op == 0 {
		fmt.Fprintln(w, safe.Text(p.None[0]+"\n"+p.None[1]))
	}
	if v.uri != "" {
		fmt.Fprintln(w, safe.Line(v.uri, 300)+" "+safe.Line(v.shown, 200))
		v.reply.Plain(w)
	}
}
