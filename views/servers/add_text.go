package servers

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/mcpb"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// addText is a text of one line that is typed, or of several that was pasted, which is kept as it was.
type addText struct {
	line  widget.Line
	block string

	read    string // what was read last
	list    []config.Server
	err     error
	settled bool
}

func (t *addText) text() string {
	if t.block != "" {
		return t.block
	}
	return t.line.Value()
}

func (t *addText) empty() bool { return strings.TrimSpace(t.text()) == "" }

// paste adds to the line where the whole is one, else it takes the text as it is.
func (t *addText) paste(s string) {
	s = strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if t.block == "" && widget.LineHolds(s) && len(t.line.Value())+len(s) <= widget.MaxField {
		t.line.Insert(s)
		return
	}
	if t.block != "" {
		s = t.block + s
	} else if s == "" {
		return
	}
	t.block, t.line = s, widget.Line{}
}

// key edits the line. Of a block only the whole can be taken back.
func (t *addText) key(m tea.KeyPressMsg) bool {
	if t.block == "" {
		return t.line.Key(m)
	}
	switch m.String() {
	case "backspace", "delete", "ctrl+u":
		t.block = ""
		return true
	}
	return m.Text != "" // a letter changes nothing in a block
}

// servers are what the text describes, as it is written there.
func (t *addText) servers(where config.Options) ([]config.Server, error) {
	where.Literal = true
	now := t.text()
	if !t.settled || t.read != now {
		t.read, t.settled = now, true
		t.list, t.err = config.Pasted(now, where)
	}
	return t.list, t.err
}

// draw is the text in w cells, and the cell of the cursor in it, -1 for none.
func (t *addText) draw(th *tui.Theme, w int) (string, int) {
	if t.block == "" {
		return t.line.Draw(w, false)
	}
	lines := strings.Count(t.block, "\n") + 1
	about := fmt.Sprintf("pasted: %d lines, %s (backspace takes it back)", lines, text.Bytes(len(t.block)))
	if lines == 1 {
		about = fmt.Sprintf("pasted: %s (backspace takes it back)", text.Bytes(len(t.block)))
	}
	return paint.Cut(th.Muted.S(safe.Line(about, w)), w), -1
}

// path is the path of a file that describes or bundles a server, where the text is nothing else; "" where it is something else.
func (t *addText) path() string {
	s := strings.TrimSpace(t.text())
	if strings.ContainsAny(s, "\n{") || strings.Contains(s, "://") {
		return ""
	}
	words, err := text.Words(s)
	if err != nil || len(words) != 1 || !strings.HasSuffix(strings.ToLower(words[0]), ".json") && !mcpb.IsBundle(words[0]) {
		return ""
	}
	return words[0]
}
