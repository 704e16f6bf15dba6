package ignore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/atomicfile"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/text"
)

// baselineVersion is that of the file.
const baselineVersion = 1

// maxBaseline is how large its file may be: some 300,000 findings.
const maxBaseline = 128 << 20

// Baseline is findings that are known and do not count.
type Baseline struct {
	File  string
	Known []check.Known
}

// ReadBaseline reads a baseline. The error of a file that is wrong says where, by line and column.
func ReadBaseline(path string) (*Baseline, error) {
	raw, err := atomicfile.Read(path, maxBaseline)
	if err != nil {
		return nil, fmt.Errorf("cannot read the baseline: %w", err)
	}
	wrong := func(offset int64, message string) (*Baseline, error) {
		before := raw[:min(max(offset, 0), int64(len(raw)))]
		w := config.Warning{File: path, Line: 1 + bytes.Count(before, []byte("\n")), Malformed: true, Message: message}
		w.Col = len(before) - bytes.LastIndexByte(before, '\n')
		return nil, w
	}
	var body struct {
		Version  int           `json:"version"`
		Findings []check.Known `json:"findings"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	err = dec.Decode(&body)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return wrong(syntax.Offset-1, "is not valid JSON: "+text.FirstLine(syntax.Error()))
	case errors.As(err, &kind):
		return wrong(kind.Offset-1, fmt.Sprintf("is not a baseline: %s is a %s", cmp.Or(kind.Field, "it"), kind.Value))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return wrong(int64(len(raw)), "is not valid JSON: it ends too early")
	case err != nil:
		return wrong(dec.InputOffset(), "is not a baseline: "+text.FirstLine(err.Error()))
	case body.Version != baselineVersion:
		return wrong(0, fmt.Sprintf("is not a baseline of version %d", baselineVersion))
	}
	if rest := bytes.TrimLeft(raw[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return wrong(int64(len(raw)-len(rest)), "is not valid JSON: there is more after its end")
	}
	for i, k := range body.Findings {
		if k.Fingerprint == "" || k.Rule == "" {
			at := bytes.Index(raw, []byte(`"findings"`))
			return wrong(int64(at), fmt.Sprintf("is not a baseline: finding %d has no fingerprint or no rule", i+1))
		}
	}
	return &Baseline{File: path, Known: body.Findings}, nil
}

// Apply marks the findings of r that are known, and keeps in r what is new and what is fixed.
func (b *Baseline) Apply(r *check.Report) {
	known := map[string]int{}
	for _, k := range b.Known {
		known[k.Fingerprint]++
	}
	out := &check.Baseline{File: b.File, Fixed: []check.Known{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case known[f.Fingerprint] > 0 && keeps(f.ID):
			known[f.Fingerprint]--
			out.Known++
			if f.Ignored == "" {
				f.Ignored = check.InBaseline
			}
		case f.Ignored == "":
			out.New++
		}
	}
	ran := finished(r)
	for _, k := range slices.Backward(b.Known) { // of several that are the same the last ones are gone
		if known[k.Fingerprint] > 0 && slices.Contains(ran, sectionOf(k.Rule)) {
			known[k.Fingerprint]--
			out.Fixed = append(out.Fixed, k)
		}
	}
	slices.Reverse(out.Fixed)
	r.Baseline = out
	r.Recount()
}

// keeps reports whether a baseline has findings of a rule: not those that say that the check itself could not be made.
func keeps(rule string) bool { return sectionOf(rule) != check.Server().Name() }

func sectionOf(rule string) string {
	name, _, _ := strings.Cut(rule, "/")
	return name
}

// Next is the baseline after r: the findings that nobody gave a reason for, and what old, nil for none, has of sections that r lacks.
func Next(file string, old *Baseline, r *check.Report) *Baseline {
	b, now := &Baseline{File: file}, map[string]bool{}
	for _, f := range r.Findings {
		if keeps(f.ID) && (f.Ignored == "" || f.Ignored == check.InBaseline) {
			b.Known = append(b.Known, check.Known{Fingerprint: f.Fingerprint, Rule: f.ID, Severity: f.Severity, Place: f.Place.String(), Message: f.Message})
			now[f.Fingerprint] = true
		}
	}
	if old != nil {
		ran := finished(r)
		for _, k := range old.Known {
			if !slices.Contains(ran, sectionOf(k.Rule)) && !now[k.Fingerprint] {
				b.Known = append(b.Known, k)
			}
		}
	}
	slices.SortStableFunc(b.Known, func(x, y check.Known) int {
		return cmp.Or(strings.Compare(x.Rule, y.Rule), strings.Compare(x.Place, y.Place), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	return b
}

// Write writes a baseline for git: a finding in each line, in an order that stays.
func (b *Baseline) Write() error {
	return atomicfile.WriteTo(b.File, 0o644, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "{\"version\":%d,\"findings\":[", baselineVersion); err != nil {
			return err
		}
		sep := "\n"
		for _, k := range b.Known {
			var line bytes.Buffer
			line.WriteString(sep)
			enc := json.NewEncoder(&line)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(k); err != nil {
				return fmt.Errorf("a finding: %w", err)
			}
			if _, err := w.Write(bytes.TrimRight(line.Bytes(), "\n")); err != nil {
				return err
			}
			sep = ",\n"
		}
		_, err := io.WriteString(w, "\n]}\n")
		return err
	})
}
