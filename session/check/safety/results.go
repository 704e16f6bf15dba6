package safety

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

const (
	maxResult = 4 << 20 // bytes of one result that is looked at
	maxNested = 3       // texts that are JSON in texts that are JSON
	maxWhere  = 3       // results that a finding names
)

// byNameHidden is what is known of a secret that was hidden when the call was recorded.
const byNameHidden = "a secret by its name, which was hidden when it was kept"

// received is what is known of the results of one server's calls.
type received struct {
	results, large int
	once           contract.Once
	of             map[string]int // results by place
	leaks          map[string]*leaked
}

// leaked is a secret at one place of one tool's results.
type leaked struct {
	leak
	place   check.Place
	pointer string // the first
	length  int
	n       int
	where   []string
}

// results looks at what calls of the server brought.
type results struct {
	s         *check.Subject
	known     map[string]check.Place // by method and name
	mine, all received               // of calls to a server of that name, and of all
	total     resultsTotal
	signs     map[string]*signs
	records   contract.Records
	values    map[string]bool // that the present call's result has: text and structured content say the same twice
	hidden    map[string]bool // placeholders that it has, of which nothing else is known
}

// resultsTotal are the numbers of it.
type resultsTotal struct {
	Files   int `json:"files"`
	Results int `json:"results"`
	Large   int `json:"large,omitempty"` // that were not looked at
	Broken  int `json:"broken,omitempty"`
	Hidden  int `json:"hidden,omitempty"` // texts that were hidden when they were kept, of which nobody knows whether they were secrets
}

func newResults(s *check.Subject) *results {
	r := &results{s: s, known: map[string]check.Place{}, signs: map[string]*signs{}}
	r.records.Call, r.records.Journal = r.call, r.behaviour
	for _, m := range []*received{&r.mine, &r.all} {
		m.of, m.leaks = map[string]int{}, map[string]*leaked{}
	}
	for _, it := range s.Tools {
		r.known["tools/call "+it.Name] = check.PlaceOf(offer.Tools, it, "")
	}
	for _, it := range s.Prompts {
		r.known["prompts/get "+it.Name] = check.PlaceOf(offer.Prompts, it, "")
	}
	for _, it := range s.Resources {
		r.known["resources/read "+it.URI] = check.PlaceOf(offer.Resources, it, "")
	}
	return r
}

// own reports whether a recorded call was made to the server. Connections of the check have a number behind its name.
func (r *results) own(server string) bool {
	rest, ok := strings.CutPrefix(server, r.s.Server+"-")
	return server != "" && (server == r.s.Server || server == r.s.Name || ok && rest != "" && strings.Trim(rest, "0123456789") == "")
}

// call looks at one recorded call.
func (r *results) call(c contract.Recorded) {
	own := r.own(c.Server)
	place, known := r.known[c.Method+" "+c.Name]
	if !known && (c.Method != "resources/read" || !own) {
		return // of another server, or of what is no longer there
	}
	if !known { // one of a template
		place = check.Place{Kind: check.OfResource, Name: c.Name}
	}
	answer := c.Answer()
	if answer == nil { // of several records of a call one may have it
		return
	}
	var counts []*received
	if !r.all.once.Again(&c) {
		counts = append(counts, &r.all)
	}
	if own && !r.mine.once.Again(&c) { // records of one call may have other names for the server
		counts = append(counts, &r.mine)
	}
	if len(counts) == 0 {
		return
	}
	found := map[string]*leaked{}
	r.values, r.hidden = map[string]bool{}, map[string]bool{}
	if len(answer) <= maxResult {
		r.walk(c, place, answer, "", found, 0)
	}
	for _, to := range counts {
		to.results++
		if len(answer) > maxResult {
			to.large++
		}
		to.of[place.String()]++
		for key, l := range found {
			at := to.leaks[key]
			if at == nil {
				one := *l
				at = &one
				to.leaks[key] = at
			}
			if at.n++; len(at.where) < maxWhere {
				at.where = append(at.where, c.Where)
			}
		}
	}
}

// walk looks at all texts of a JSON value, which stands at a pointer of the result.
func (r *results) walk(c contract.Recorded, place check.Place, value []byte, prefix string, found map[string]*leaked, nested int) {
	v, err := schema.ParseValue(bytes.ToValidUTF8(value, []byte("\uFFFD")))
	if err != nil {
		return
	}
	n := 0
	var each func(v *schema.Value, path []string, name string)
	each = func(v *schema.Value, path []string, name string) {
		if n++; n > maxStrings || len(path) > maxDepth {
			return
		}
		if v.Kind() != schema.String {
			for i, m := range v.Members() {
				key, below := m.Name, m.Name
				if v.Kind() == schema.Array {
					key, below = strconv.Itoa(i), name
				}
				each(m.Value, append(path, key), below) // shared on purpose: Pointer copies
			}
			return
		}
		s, pointer := text.Cut(v.Text(), maxBytes), prefix+schema.Pointer(path...)
		if name == "blob" || name == "data" && len(s) > 1000 { // base64
			return
		}
		if t := strings.TrimSpace(s); nested < maxNested && len(t) > 1 && (t[0] == '{' || t[0] == '[') && jsonrpc.Valid([]byte(t)) == nil {
			r.walk(c, place, []byte(t), pointer+" ", found, nested+1)
			return
		}
		if c.Hidden && s == mask.Hidden && narrow(name) {
			r.found(found, place, pointer, leak{byNameHidden, "", true})
			return
		}
		for _, p := range mask.Placeholders(s) {
			switch {
			case r.values[p] || bytes.Contains(c.Arguments, []byte(p)): // the server gave back what it was given
			case p == s && narrow(name):
				r.values[p] = true
				r.found(found, place, pointer, leak{byNameHidden, "", true})
			case !r.hidden[p] && (p != s || !mask.Secret(name)):
				r.hidden[p] = true // only counted: at another place its name may tell what it is
				r.total.Hidden++
			}
		}
		for _, l := range leaks(name, s) {
			if l.value != "" && (r.values[l.value] || bytes.Contains(c.Arguments, []byte(l.value))) { // the server gave back what it was given
				continue
			}
			r.values[l.value] = true
			r.found(found, place, pointer, l)
		}
	}
	each(v, nil, "")
}

// found keeps a leak. It is the same one in each item of a list.
func (r *results) found(found map[string]*leaked, place check.Place, pointer string, l leak) {
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" && p != "" {
			parts[i] = "*"
		}
	}
	key := place.String() + "\x00" + strings.Join(parts, "/") + "\x00" + l.what
	if found[key] == nil {
		found[key] = &leaked{leak: leak{what: l.what, named: l.named}, place: place, pointer: pointer, length: len(l.value)}
	}
}

// report adds the findings, and says what was looked at.
func (r *results) report(x *examination) {
	from := &r.all
	if r.mine.results > 0 {
		from = &r.mine
	}
	r.total.Results, r.total.Large = from.results, from.large
	for _, key := range slices.Sorted(maps.Keys(from.leaks)) {
		l := from.leaks[key]
		sure := check.Likely
		if l.named {
			sure = check.Possible
		}
		message := shown(text.Clip(l.pointer, 200)) + " has " + l.what
		if l.length > 0 {
			message += ", " + counted(l.length, "character", "characters")
		}
		f := check.Finding{
			Place: l.place, Key: key, Sure: sure, Message: fmt.Sprintf("%s, in %d of %s", message, l.n, counted(from.of[l.place.String()], "result", "results")),
			Evidence: "seen in " + strings.Join(l.where, "; "),
		}
		x.add("secret-in-result", f)
	}
	if from.results > 0 {
		x.note("looked for secrets in " + counted(from.results, "result", "results"))
		if from == &r.all {
			x.note("no recorded call names this server: those of tools with the same names were looked at")
		}
	}
	if from.large > 0 {
		x.note(counted(from.large, "result was", "results were") + " too large to be looked at")
	}
	if r.total.Hidden > 0 {
		x.note(counted(r.total.Hidden, "text was", "texts were") + " hidden when the calls were recorded: whether they are secrets of the server cannot be told")
	}
	if r.total.Broken > 0 {
		x.note(counted(r.total.Broken, "line or file", "lines or files") + " could not be read")
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// After looks at what was recorded, and at what the sections of this run received.
func (sec *Section) After(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
	x, res := sec.x, sec.res
	if x == nil { // Run came to no end
		return nil
	}
	var failed error
	if sec.Evidence != nil {
		failed = sec.Evidence.Read(ctx, &res.records, r.Step)
	}
	if failed == nil && sec.Journal != nil {
		failed = res.records.From(ctx, sec.Journal, "this session")
	}
	res.total.Files, res.total.Broken = res.records.Files, res.records.Broken
	res.report(x)
	res.contradictions(x)
	x.figures(&res.total)
	return failed
}
