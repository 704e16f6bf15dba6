package behave

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/serve/fault"
)

const (
	// manyTools and manyBytes are the list that budgets are stated for.
	manyTools = 5000
	manyBytes = 6_700_000
	// bigBytes is the text that budgets are stated for.
	bigBytes = 50_000_000
	// deepLevels is how far the schema of DeepSchema nests.
	deepLevels = 100
	// oversizeBytes is one byte more than a client takes by default.
	oversizeBytes = 64<<20 + 1
	// maxPayload is the longest payload that stands in fields: fields are many.
	maxPayload = 4096
)

// payloads is those payloads in one string.
func payloads() string { return strings.Join(fault.PayloadTexts(maxPayload), " ") }

// plainTool renders a tool with one text argument.
func plainTool(name, description string) string {
	return `{"name":` + quote(name) + `,"description":` + quote(description) +
		`,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`
}

// renderManyTools renders the tools array of ManyTools: real-looking tools with
// an eight-property schema each, padded to manyBytes in all.
func renderManyTools() string {
	var b strings.Builder
	b.Grow(manyBytes + 1024)
	b.WriteByte('[')
	for i := range manyTools {
		if i > 0 {
			b.WriteByte(',')
		}
		name := fmt.Sprintf("tool_%04d", i)
		head := `{"name":"` + name + `","title":"Tool number ` + strconv.Itoa(i) + `","description":"`
		tail := `","inputSchema":{"type":"object","properties":{` + manyProperties(name) +
			`},"required":["field_0"]},"annotations":{"readOnlyHint":true}}`
		b.WriteString(head)
		b.WriteString(filler((i+1)*(manyBytes/manyTools) - b.Len() - len(tail)))
		b.WriteString(tail)
	}
	b.WriteByte(']')
	return b.String()
}

// manyProperties renders the members of a properties object.
func manyProperties(tool string) string {
	var b strings.Builder
	for p := range 8 {
		if p > 0 {
			b.WriteByte(',')
		}
		n := strconv.Itoa(p)
		b.WriteString(`"field_` + n + `":{"type":"string","description":"Field ` + n + ` of ` + tool + `","maxLength":1000}`)
	}
	return b.String()
}

// filler is n bytes of words.
func filler(n int) string {
	const words = "Looks up records by the given fields and returns what it finds. "
	return strings.Repeat(words, n/len(words)+1)[:n]
}

// renderText renders a JSON string (quotes included) of lines of 100 bytes, n bytes long once decoded.
func renderText(n int) []byte {
	const width = 100
	b := make([]byte, 0, n+n/width+128)
	b = append(b, '"')
	for done := 0; done < n; {
		line := min(width, n-done)
		start := len(b)
		b = append(b, "line "...)
		b = strconv.AppendInt(b, int64(done/width+1), 10)
		b = append(b, ' ')
		for len(b)-start < line-1 {
			b = append(b, "the quick brown fox jumps over the lazy dog "...)
		}
		b = append(b[:start+line-1], `\n`...)
		done += line
	}
	return append(b, '"')
}

// deepSchema renders an object schema of n nested levels.
func deepSchema(n int) string {
	return strings.Repeat(`{"type":"object","description":"one level down","properties":{"note":{"type":"string"},"child":`, n) +
		`{"type":"string"}` + strings.Repeat(`},"required":["child"]}`, n)
}
