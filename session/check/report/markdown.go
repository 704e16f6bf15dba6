package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
)

// maxMarkdown is how long a comment of GitHub may be, in characters; we count bytes.
const maxMarkdown = 65536

// worstShown is how many findings stand above the fold, where a reviewer sees them without a click.
const worstShown = 10

// markdowns writes a comment for a pull request about one server, or several: then a list of them comes first.
func (p *junitWriter) markdowns() {
	if !p.several {
		p.each(func(int) { p.markdown(maxMarkdown) })
		return
	}
	var b strings.Builder
	failed := 0
	p.each(func(int) {
		if passes(p.r, p.o) == "✗" {
			failed++
		}
	})
	fmt.Fprintf(&b, "## mcphud check: %s, %d failed\n\n", text.Count(len(p.all), "server", "servers"), failed)
	left := 0
	p.each(func(int) {
		if b.Len() > maxMarkdown/4 { // the list is not worth more of the room than the reports
			left++
			return
		}
		fmt.Fprintf(&b, "- %s %s: %s\n", passes(p.r, p.o), code(text.Clip(title(p.r.Server), 200)), p.r.Counts.String())
	})
	if left > 0 {
		fmt.Fprintf(&b, "\n%s left out here for their length.\n", text.Count(left, "server is", "servers are"))
	}
	p.put(b.String(), "\n")
	// Each has an equal share of what is left: what one does not need is for those after it.
	room := maxMarkdown - b.Len() - 1
	p.each(func(i int) { room -= p.markdown(room / (len(p.all) - i)) })
}

// markdown writes a table, the worst findings, and all others folded below their rule, in at most some bytes; nothing where there is not
// even room for the table. What is from the server stands between backticks, where nothing in it is obeyed: no HTML, no mention, no
// link. It returns how many bytes it wrote.
func (p *junitWriter) markdown(room int) int {
	var b strings.Builder
	r := p.r
	fmt.Fprintf(&b, "## %s mcphud check: %s\n\n", passes(r, p.o), code(text.Clip(title(r.Server), 500)))
	fmt.Fprintf(&b, "**%s** · %s · %s\n\n", r.Counts.String(), countsOf(r.Server), text.Duration(time.Duration(r.Millis*float64(time.Millisecond))))
	if r.Interrupted {
		b.WriteString("The check was interrupted: what is missing was not examined.\n\n")
	}
	b.WriteString("| section | errors | warnings | info | ignored | |\n|---|--:|--:|--:|--:|---|\n")
	for _, s := range r.Sections {
		state := "finished"
		if s.Error != "" {
			state = "**not finished**"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", s.Name, s.Counts.Error, s.Counts.Warning, s.Counts.Info, s.Counts.Ignored, state)
	}
	for _, s := range r.Sections {
		if s.Error != "" {
			fmt.Fprintf(&b, "\n%s was not finished: %s\n", s.Name, code(text.Clip(s.Error, 500)))
		}
	}
	if base := r.Baseline; base != nil {
		fmt.Fprintf(&b, "\nOf the baseline %d are still there, %d are new, %d fixed.\n", base.Known, base.New, len(base.Fixed))
	}
	p.worst(&b)
	if p.several {
		b.WriteByte('\n')
	}
	if b.Len() > room {
		return 0
	}
	p.put(b.String())
	return b.Len() + p.writeGroups(room-b.Len())
}

// worst lists the findings that matter most.
func (p *junitWriter) worst(b *strings.Builder) {
	shown := 0
	groups := p.groups("")
	for _, severity := range []check.Severity{check.Error, check.Warning} {
		for _, g := range groups {
			for _, i := range g.indices[:len(g.indices)-g.counts.Ignored] { // those that are ignored are the last
				f := &p.r.Findings[i]
				if f.Severity != severity || shown == worstShown {
					continue
				}
				if shown++; shown == 1 {
					b.WriteString("\n### Worst findings\n\n")
				}
				fmt.Fprintf(b, "- %s %s, %s: %s\n", mark(f.Severity), ruleLink(g.rule), code(text.Clip(f.Place.String(), 200)), code(text.Clip(f.Message, 300)))
			}
		}
	}
}

// writeGroups writes the findings by rule, as many as there is room for, in bytes. It returns how many bytes it wrote.
func (p *junitWriter) writeGroups(room int) int {
	groups := p.groups("")
	const last = 200 // for the line on what is left out
	all := room
	room -= last
	left := 0
	for _, g := range groups {
		total := len(g.indices) - g.counts.Ignored
		if total == 0 {
			continue
		}
		head := fmt.Sprintf("\n<details><summary>%s %s: %s (%s)</summary>\n\n", mark(g.worst), html(g.rule.ID), html(g.rule.Title), g.counts.String())
		var tail strings.Builder
		if g.rule.Why != "" {
			fmt.Fprintf(&tail, "\nWhy: %s\n", html(g.rule.Why))
		}
		if g.rule.Fix != "" {
			fmt.Fprintf(&tail, "\nFix: %s\n", html(g.rule.Fix))
		}
		fmt.Fprintf(&tail, "\n%s\n\n</details>\n", ruleLink(g.rule))
		shown := 0
		for _, i := range g.indices[:total] {
			item := p.item(&p.r.Findings[i], g)
			need := len(item)
			if shown == 0 {
				need += len(head) + tail.Len()
			}
			if need > room {
				break
			}
			if room -= need; shown == 0 {
				p.put(head)
			}
			p.put(item)
			shown++
		}
		if shown > 0 {
			p.put(tail.String())
		}
		left += total - shown
	}
	if left > 0 && all > last {
		p.putf("\n%s left out here for their length: the other formats have all of them.\n", text.Count(left, "finding is", "findings are"))
		room -= last
	}
	return max(all-last-room, 0)
}

// item is one finding below its rule.
func (p *junitWriter) item(f *check.Finding, g *group) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s: %s", code(text.Clip(f.Place.String(), 300)), code(text.Clip(f.Message, 500)))
	if f.Sure != check.Certain && f.Sure != "" {
		fmt.Fprintf(&b, " (%s)", html(string(f.Sure)))
	}
	b.WriteByte('\n')
	if f.Evidence != "" {
		fmt.Fprintf(&b, "  - seen: %s\n", code(text.Clip(f.Evidence, 300)))
	}
	if f.Fix != "" && f.Fix != g.rule.Fix {
		fmt.Fprintf(&b, "  - fix: %s\n", code(text.Clip(f.Fix, 300)))
	}
	if f.Repro != "" {
		fmt.Fprintf(&b, "  - reproduce: %s\n", code(text.Clip(f.Repro, 1000)))
	}
	return b.String()
}

// ruleLink is the id of a rule, with a link to what it rests on. Rules are written by us.
func ruleLink(r *check.Rule) string {
	// A blank or a bracket would end the link.
	if strings.HasPrefix(r.Source, "https://") && !strings.ContainsAny(r.Source, " ()<>\n") {
		return "[" + html(r.ID) + "](" + r.Source + ")"
	}
	return html(r.ID)
}

// code is s as a code span, in one line: between more backticks than it has in a row.
func code(s string) string {
	s = line(s)
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	// One blank at both ends is taken away again (https://spec.commonmark.org/0.31.2/#code-spans).
	if s == "" || s[0] == '`' || s[len(s)-1] == '`' || strings.TrimSpace(s) == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// html is s as text of HTML, and of Markdown. It keeps neither mentions nor bare links from being made: it is for texts of ours.
func html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "&#42;", "_", "&#95;", "`", "&#96;", "[", "&#91;", "|", "&#124;").Replace(line(s))
}
