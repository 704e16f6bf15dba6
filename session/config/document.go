package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

// Bounds on what a file may be. Claude Code keeps its history in the file that
// holds its servers, so JSON may be large; YAML is written by hand.
const (
	maxJSON  = 32 << 20
	maxYAML  = 64 << 10
	maxTOML  = 1 << 20 // Codex notes every project that it trusts
	maxDepth = 200     // levels of brackets, and of indentation
	maxWarn  = 50      // per file
)

// Warning is something about a file that its author should know. The rest of the file, and every other file, was read.
type Warning struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"` // 1-based; 0 = the file as a whole
	Col       int    `json:"col,omitempty"`  // 1-based, in bytes
	Message   string `json:"message"`
	Malformed bool   `json:"malformed,omitempty"` // nothing of this file could be read
}

// String is "file:line:col: message".
func (w Warning) String() string {
	switch {
	case w.Line == 0:
		return w.File + ": " + w.Message
	case w.Col == 0:
		return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", w.File, w.Line, w.Col, w.Message)
}

// Error makes a Warning about a file that could not be read an error.
func (w Warning) Error() string { return w.String() }

// document is one parsed file. One goroutine has it.
type document struct {
	file     string
	root     node
	lines    lines     // where each line begins
	spent    int       // values read so far, see spend
	warnings []Warning // at most maxWarn, none twice
	silenced bool      // there were more
}

// position is the line and column of an offset, both 1-based, the column in bytes.
func (d *document) position(offset int) (line, col int) { return d.lines.at(offset) }

// warnAt adds a warning. Like all messages here it must not quote a value: that may be a secret.
func (d *document) warnAt(line, col int, format string, args ...any) {
	if len(d.warnings) >= maxWarn {
		if !d.silenced {
			d.silenced = true
			d.warnings = append(d.warnings, Warning{File: d.file, Message: "more warnings are not shown"})
		}
		return
	}
	w := Warning{File: d.file, Line: line, Col: col, Message: fmt.Sprintf(format, args...)}
	// Reading one key twice (a lookup, then a walk) must not warn twice.
	for _, have := range d.warnings {
		if have == w {
			return
		}
	}
	d.warnings = append(d.warnings, w)
}

// spend counts n more values read; false once the file repeats itself too much.
func (d *document) spend(n int) bool {
	if d.spent += n; d.spent > maxMembers {
		d.warnAt(0, 0, "has more than %d values where servers are described; the rest is ignored", maxMembers)
		return false
	}
	return true
}

// readFile reads path, which must be a regular file: opening a named pipe that
// a repository brought along would block for ever.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("is larger than the limit of %s", text.Bytes(limit))
	}
	return b, err
}

// isYAML goes by the name, and by the first character where that says nothing.
func isYAML(path string, b []byte) bool {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case yamlName(path):
		return true
	case ext == ".json", ext == ".jsonc", ext == ".toml":
		return false
	}
	b = bytes.TrimLeft(b, " \t\r\n")
	return !bytes.HasPrefix(b, []byte("{")) && !bytes.HasPrefix(b, []byte("//")) && !bytes.HasPrefix(b, []byte("/*"))
}

// parse reads b as JSONC, YAML or TOML. Its error is a Warning with the position.
func parse(path string, b []byte) (*document, error) {
	d := &document{file: path}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	d.lines = newLines(b)
	bad := func(line, col int, format string, args ...any) (*document, error) {
		return nil, Warning{File: path, Line: line, Col: col, Malformed: true, Message: fmt.Sprintf(format, args...)}
	}
	if i := firstInvalid(b); i >= 0 {
		line, col := d.position(i)
		return bad(line, col, "is not UTF-8 text; save it as UTF-8")
	}
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		if len(b) > maxTOML {
			return bad(0, 0, "is larger than the limit of %s for TOML", text.Bytes(maxTOML))
		}
		if i := tooDeepYAML(b); i >= 0 {
			line, col := d.position(i)
			return bad(line, col, "nests more than %d levels", maxDepth)
		}
		root, err := rewrite.TOML(b)
		var wrong *rewrite.SyntaxError
		if errors.As(err, &wrong) {
			line, col := d.position(wrong.Offset)
			return bad(line, col, "is not valid TOML: %s", firstLine(wrong.Message))
		}
		if err != nil {
			return bad(0, 0, "is not valid TOML: %s", firstLine(err.Error()))
		}
		d.root = node{doc: d, v: root}
		return d, nil
	}
	if isYAML(path, b) {
		if len(b) > maxYAML {
			return bad(0, 0, "is larger than the limit of %s for YAML", text.Bytes(maxYAML))
		}
		if i := tooDeepYAML(b); i >= 0 {
			line, col := d.position(i)
			return bad(line, col, "nests more than %d levels", maxDepth)
		}
		root, err := rewrite.YAML(b, 4*maxMembers) // fewer of them are members
		if err != nil {
			line, col, msg := yamlError(err)
			return bad(line, col, "is not valid YAML: %s", msg)
		}
		d.root = node{doc: d, v: root}
		return d, nil
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return bad(0, 0, "is empty; delete it or write {\"mcpServers\": {}}")
	}
	if i := tooDeepJSON(b); i >= 0 {
		line, col := d.position(i)
		return bad(line, col, "nests more than %d levels", maxDepth)
	}
	v, err := rewrite.JSON(b)
	if err != nil {
		line, col, msg := jsonError(err)
		return bad(line, col, "is not valid JSON: %s", msg)
	}
	d.root = node{doc: d, v: v}
	return d, nil
}

// firstInvalid is the offset of the first byte that is not UTF-8, -1 if all are.
func firstInvalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeepJSON is the offset where brackets nest too deep, or -1: the parser
// recurses, and a stack that overflows cannot be recovered from.
func tooDeepJSON(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			if i+1 < len(b) && b[i+1] == '/' {
				for i < len(b) && b[i] != '\n' {
					i++
				}
			} else if i+1 < len(b) && b[i+1] == '*' {
				end := bytes.Index(b[i+2:], []byte("*/"))
				if end < 0 {
					return -1
				}
				i += end + 3
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// tooDeepYAML over-counts (it does not know strings), which a configuration never comes near: brackets, and block
// nesting, which needs as many columns of indentation or "- " as it has levels.
func tooDeepYAML(b []byte) int {
	depth, lead, leading := 0, 0, true
	for i, c := range b {
		switch c {
		case '\n', '\r':
			lead, leading = 0, true
			continue
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth = max(depth-1, 0)
		}
		// ':' and '!' and '&' too: empty keys, tags and anchors chain like "- ".
		if leading = leading && strings.IndexByte(" -?:\t", c) >= 0; leading {
			if lead++; lead > 2*maxDepth {
				return i
			}
		}
	}
	return -1
}

// yamlError takes goccy's error apart; its text would quote the source, which may hold secrets.
func yamlError(err error) (line, col int, msg string) {
	var e yaml.Error
	if errors.As(err, &e) {
		if t := e.GetToken(); t != nil && t.Position != nil {
			line, col = t.Position.Line, t.Position.Column
		}
		return line, col, e.GetMessage()
	}
	return 0, 0, firstLine(err.Error())
}

// jsonError takes the error of hujson apart, which gives the position in its text only.
func jsonError(err error) (line, col int, msg string) {
	m := regexp.MustCompile(`^hujson: line (\d+), column (\d+): `).FindStringSubmatch(err.Error())
	if m == nil {
		return 0, 0, firstLine(err.Error())
	}
	line, _ = strconv.Atoi(m[1])
	col, _ = strconv.Atoi(m[2])
	return line, col, firstLine(err.Error()[len(m[0]):])
}

// firstLine is what of somebody else's error is shown: its first line, bounded.
func firstLine(s string) string { return clip(text.FirstLine(s)) }

// YAML is the syntax tree of a YAML file, nil for an empty one. What could exhaust the parser is refused. The error is a Warning
// with the position.
func YAML(path string, b []byte) (ast.Node, error) {
	if !yamlName(path) {
		return nil, Warning{File: path, Malformed: true, Message: "is not a YAML file: its name has to end in .yaml or .yml"}
	}
	if _, err := parse(path, b); err != nil {
		return nil, err
	}
	return rewrite.Body(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
}
