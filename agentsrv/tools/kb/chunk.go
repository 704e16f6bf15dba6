package kb

import (
	"path"
	"strings"
	"unicode/utf8"
)

const (
	chunkSize = 1500 // bytes that a chunk has at most
	chunkMin  = 200  // a section below this joins the next one
)

// chunk is one passage of a file: what is indexed, ranked and returned.
type chunk struct {
	Heading string // the headings above it, outermost first, joined by " › "; "" in files without
	Line    int    // where it starts, from 1
	Last    int    // its last line
	Part    int    // how many chunks before it start on the same line, for one that is endless
	Content string
	Page    int // of a document that has pages, from 1; 0 in others
}

// split cuts a file into chunks: at headings if it is Markdown, then at empty lines, and only inside a paragraph where
// one alone is too long. title is the first heading, or the file's name.
func split(name, text string) (title string, out []chunk) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\uFEFF")
	md := markdown(name)
	c := cutter{md: md}
	line := 1
	for l := range strings.SplitAfterSeq(text, "\n") {
		c.line(l, line)
		line++
	}
	c.flush()
	if title = c.title; title == "" {
		title = path.Base(name)
	}
	return title, c.out
}

func markdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown" || ext == ".mdx"
}

type cutter struct {
	md, fence bool
	title     string
	path      []string // the heading of each level
	heading   string
	start     int // line of the first line in buf
	last      int
	buf       strings.Builder
	soft      int // length of buf at its last empty line: where it is cut when it gets too long
	softLine  int
	out       []chunk
}

func (c *cutter) line(l string, n int) {
	blank := strings.TrimSpace(l) == ""
	if c.md {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			c.fence = !c.fence
		}
		if level, name := headingOf(l); level > 0 && !c.fence {
			c.enter(level, name)
		}
	}
	for len(l) > chunkSize { // one endless line
		at := cutBefore(l, chunkSize)
		c.flush()
		c.add(l[:at], n)
		l = l[at:]
	}
	if c.buf.Len()+len(l) > chunkSize {
		c.overflow()
	}
	if c.buf.Len()+len(l) > chunkSize {
		c.flush()
	}
	if blank && c.buf.Len() == 0 {
		return
	}
	c.add(l, n)
	if blank && !c.fence {
		c.soft, c.softLine = c.buf.Len(), n
	}
}

func (c *cutter) add(l string, n int) {
	if c.buf.Len() == 0 {
		c.start = n
	}
	c.buf.WriteString(l)
	c.last = n
}

// enter begins a section. What came before becomes a chunk, unless it is next to nothing.
func (c *cutter) enter(level int, name string) {
	if len(strings.TrimSpace(c.buf.String())) >= chunkMin {
		c.flush()
	}
	if c.title == "" && level == 1 {
		c.title = name
	}
	for len(c.path) < level {
		c.path = append(c.path, "")
	}
	c.path = append(c.path[:level-1], name)
	var parts []string
	for _, p := range c.path {
		if p != "" {
			parts = append(parts, p)
		}
	}
	c.heading = strings.Join(parts, " › ")
}

// overflow makes a chunk of the paragraphs that are complete, and keeps the one that is not.
func (c *cutter) overflow() {
	if c.soft < chunkMin {
		return
	}
	rest, line, last := c.buf.String()[c.soft:], c.softLine+1, c.last
	head := c.buf.String()[:c.soft]
	c.buf.Reset()
	c.buf.WriteString(head)
	c.last = c.softLine
	c.flush()
	if rest != "" {
		c.add(rest, line)
		c.last = last
	}
}

func (c *cutter) flush() {
	s := strings.TrimRight(c.buf.String(), " \t\n")
	c.buf.Reset()
	c.soft = 0
	if strings.TrimSpace(s) == "" {
		return
	}
	next := chunk{Heading: c.heading, Line: c.start, Last: c.start + strings.Count(s, "\n"), Content: s}
	if n := len(c.out); n > 0 && c.out[n-1].Line == c.start {
		next.Part = c.out[n-1].Part + 1
	}
	c.out = append(c.out, next)
}

// headingOf reads an ATX heading of Markdown; level 0 means that l is none.
func headingOf(l string) (level int, name string) {
	for level < len(l) && l[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(l) || l[level] != ' ' {
		return 0, ""
	}
	return level, strings.Trim(strings.TrimSpace(l[level:]), "# ")
}

// cutBefore is a place in s at n or before where a word ends, or at least no character is torn.
func cutBefore(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	if at := strings.LastIndexByte(s[:n], ' '); at > n/2 {
		return at + 1
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
