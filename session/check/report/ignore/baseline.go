package ignore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
)

// The versions of the file: with the findings of one server, which has no name there, and with those of several by their names.
const (
	ofOne     = 1
	ofSeveral = 2
)

// maxBaseline is how large its file may be, in bytes: some 300,000 findings.
const maxBaseline = 128 << 20

// Baseline is findings that are known and do not count, by their fingerprints. Of several that are the same it has as many entries.
type Baseline struct {
	File    string                   // where Write writes it
	Known   []check.Known            // of the one server that it is about
	Servers map[string][]check.Known // of several by the names in the configs; nil where it is about one
}

// of are the known findings of a server; a baseline of one server is about any, whatever its name is today.
func (b *Baseline) of(server string) []check.Known {
	if b.Servers != nil {
		return b.Servers[server]
	}
	return b.Known
}

// Count returns how many findings are known, of all servers together.
func (b *Baseline) Count() int {
	n := len(b.Known)
	for _, known := range b.Servers {
		n += len(known)
	}
	return n
}

// ReadBaseline reads a baseline. The error of a file that is wrong says where, by line and column.
func ReadBaseline(path string) (*Baseline, error) {
	raw, err := files.Read(path, maxBaseline)
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
		Version  int                      `json:"version"`
		Findings []check.Known            `json:"findings"`
		Servers  map[string][]check.Known `json:"servers"`
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
	case body.Version != ofOne && body.Version != ofSeveral:
		return wrong(0, fmt.Sprintf("is not a baseline of version %d or %d", ofOne, ofSeveral))
	}
	if rest := bytes.TrimLeft(raw[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return wrong(int64(len(raw)-len(rest)), "is not valid JSON: there is more after its end")
	}
	var twice *jsontext.SyntacticError // as after a merge of two branches
	if _, err := jsontext.NewDecoder(bytes.NewReader(raw)).ReadValue(); errors.As(err, &twice) && errors.Is(err, jsontext.ErrDuplicateName) {
		return wrong(twice.ByteOffset, fmt.Sprintf("is not a baseline: %.60q is there twice", twice.JSONPointer.LastToken()))
	}
	out := &Baseline{File: path, Known: body.Findings}
	if body.Version == ofSeveral {
		out.Servers = map[string][]check.Known{}
		maps.Copy(out.Servers, body.Servers)
	}
	if body.Version == ofOne && body.Servers != nil || body.Version == ofSeveral && body.Findings != nil {
		return wrong(0, fmt.Sprintf("is not a baseline: version %d has findings, version %d has servers", ofOne, ofSeveral))
	}
	complete := func(known []check.Known, key, of string) error {
		for i, k := range known {
			if k.Fingerprint == "" || k.Rule == "" {
				_, err := wrong(int64(bytes.Index(raw, jsonrpc.Quote(key))), fmt.Sprintf("is not a baseline: finding %d%s has no fingerprint or no rule", i+1, of))
				return err
			}
		}
		return nil
	}
	err = complete(out.Known, "findings", "")
	for _, name := range slices.Sorted(maps.Keys(out.Servers)) {
		err = cmp.Or(err, complete(out.Servers[name], name, " of "+text.Clip(name, 60)))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Apply marks the findings of r that are known, and keeps in r what is new and what is fixed. What sections would have found that did not run to
// their end is not fixed.
func (b *Baseline) Apply(r *check.Report) {
	known, all := map[string]int{}, b.of(r.Server.Name)
	for _, k := range all {
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
	ran := finishedSections(r)
	for _, k := range slices.Backward(all) { // of several that are the same the last ones are gone
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

// Next is the baseline after the report of a server: the findings that nobody gave a reason for, and what old, nil for none, has of
// sections that the report lacks, and of other servers.
func Next(file string, old *Baseline, r *check.Report) *Baseline {
	if old != nil && old.Servers != nil {
		return NextOf(file, old, r)
	}
	b := &Baseline{File: file}
	if old != nil {
		b.Known = old.Known
	}
	b.Known = next(b.Known, r)
	return b
}

// NextOf is Next for reports of several servers, whose findings it has by their names. old is nil, or about several as well.
func NextOf(file string, old *Baseline, reports ...*check.Report) *Baseline {
	b := &Baseline{File: file, Servers: map[string][]check.Known{}}
	if old != nil {
		maps.Copy(b.Servers, old.Servers)
	}
	for _, r := range reports {
		b.Servers[r.Server.Name] = next(b.Servers[r.Server.Name], r)
	}
	return b
}

// next are the known findings of a server after a report.
func next(old []check.Known, r *check.Report) (known []check.Known) {
	now := map[string]bool{}
	for _, f := range r.Findings {
		if keeps(f.ID) && (f.Ignored == "" || f.Ignored == check.InBaseline) {
			known = append(known, check.Known{Fingerprint: f.Fingerprint, Rule: f.ID, Severity: f.Severity, Place: f.Place.String(), Message: f.Message})
			now[f.Fingerprint] = true
		}
	}
	ran := finishedSections(r)
	for _, k := range old {
		if !slices.Contains(ran, sectionOf(k.Rule)) && !now[k.Fingerprint] {
			known = append(known, k)
		}
	}
	slices.SortStableFunc(known, func(x, y check.Known) int {
		return cmp.Or(strings.Compare(x.Rule, y.Rule), strings.Compare(x.Place, y.Place), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	return known
}

// Write writes a baseline for git: a finding in each line, in an order that stays. The file is replaced as a whole, and readable by others, as what
// is committed is.
func (b *Baseline) Write() error {
	return files.WriteTo(b.File, 0o644, func(w io.Writer) error {
		if b.Servers == nil {
			if _, err := fmt.Fprintf(w, "{\"version\":%d,\"findings\":", ofOne); err != nil {
				return err
			}
			if err := writeKnown(w, b.Known); err != nil {
				return err
			}
			_, err := io.WriteString(w, "}\n")
			return err
		}
		if _, err := fmt.Fprintf(w, "{\"version\":%d,\"servers\":{", ofSeveral); err != nil {
			return err
		}
		sep := "\n"
		for _, name := range slices.Sorted(maps.Keys(b.Servers)) {
			if _, err := fmt.Fprintf(w, "%s%s:", sep, jsonrpc.Quote(name)); err != nil {
				return err
			}
			if err := writeKnown(w, b.Servers[name]); err != nil {
				return err
			}
			sep = ",\n"
		}
		_, err := io.WriteString(w, "\n}}\n")
		return err
	})
}

// writeKnown writes a list of findings.
func writeKnown(w io.Writer, all []check.Known) error {
	sep := "[\n"
	for _, k := range all {
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
	end := "\n]"
	if len(all) == 0 {
		end = "[]"
	}
	_, err := io.WriteString(w, end)
	return err
}
