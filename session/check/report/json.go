package report

import (
	"bytes"
	"encoding/json"

	"github.com/mcphud/mcphud/session/check"
)

// jsons writes one report, or an object of several.
func (p *junitWriter) jsons() {
	if p.several {
		p.putf(`{"version":%d,"reports":[`, check.Version)
	}
	p.each(func(i int) {
		if i > 0 {
			p.put(",")
		}
		p.json()
	})
	if p.several {
		p.put("]}")
	}
	p.put("\n")
}

// json writes the report as it is, a finding after the other: they are its last member.
func (p *junitWriter) json() {
	head := *p.r
	head.Findings = []check.Finding{}
	if head.Sections == nil { // scripts go through the list, and null is none
		head.Sections = []check.SectionReport{}
	}
	_, _ = p.Write(bytes.TrimSuffix(p.encode(head), []byte("]}"))) // Flush has the error
	for i := range p.r.Findings {
		if i > 0 {
			p.put(",")
		}
		p.value(p.r.Findings[i])
	}
	p.put("]}")
}

// encoder makes values JSON, in one buffer. The zero value is usable, and not to be copied once it was used.
type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// value writes v as one line of JSON.
func (p *junitWriter) value(v any) { _, _ = p.Write(p.encode(v)) } // Flush has the error

// encode writes v as one line of JSON, which is valid until the next call. What is encoded here are values that can be.
func (e *encoder) encode(v any) []byte {
	if e.enc == nil {
		e.enc = json.NewEncoder(&e.buf)
		e.enc.SetEscapeHTML(false) // it is not put into pages, and people read it
	}
	e.buf.Reset()
	if err := e.enc.Encode(v); err != nil {
		e.buf.Reset()
		_ = e.enc.Encode(err.Error()) // a string can be
	}
	out := bytes.TrimRight(e.buf.Bytes(), "\n")
	if bytes.Contains(out, []byte("##")) { // CI systems read what is printed, whatever format it has; only strings have a #, which say the same with an escape
		return commands().ReplaceAll(out, []byte(`##$1\u005b`))
	}
	return out
}
