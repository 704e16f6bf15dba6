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

// resultStats counts results, and the leaks in them.
type resultStats struct {
	results, large int                // large ones are results too
	hidden         int                // texts in them, see resultsTotal
	once           contract.Once      // so that what several hops recorded counts once
	of             map[string]int     // results by place
	leaks          map[string]*leakAt // by the key of addLeak
}

// leakAt is a leak at one place of the results of one tool. The value itself is not in it: what is not kept cannot be shown.
type leakAt struct {
	leak
	place   check.Place
	pointer string   // the first; items of a list are one place
	length  int      // of the first value, in bytes; 0 where it is not known
	n       int      // results that have it
	where   []string // the first maxWhere of them
}

// results looks for leaks in recorded calls of the server.
type results struct {
	s         *check.Subject
	known     map[string]check.Place // by method and name
	mine, all resultStats            // of calls to a server of that name, and of all
	total     resultsTotal
	signs     map[string]*signs // by tool, of all journals
	records   contract.Records
	live      bool            // the calls are of the check's own journal
	values    map[string]bool // that the present call's result has: text and structured content say the same twice
	hidden    map[string]bool // placeholders that it has, of which nothing else is known
	beyond    bool            // it has more than is looked at
}

// resultsTotal is what the report says of them.
type resultsTotal struct {
	Files   int `json:"files"`
	Results int `json:"results"`
	Large   int `json:"large,omitempty"`  // that were not looked at, or not as a whole
	Broken  int `json:"broken,omitempty"` // lines or files that could not be read
	Hidden  int `json:"hidden,omitempty"` // texts that were hidden when they were kept, of which nobody knows whether they were secrets
}

func newResults(s *check.Subject) *results {
	r := &results{s: s, known: map[string]check.Place{}, signs: map[string]*signs{}}
	r.records.Call, r.records.Journal = r.call, r.readBehaviour
	for _, m := range []*resultStats{&r.mine, &r.all} {
		m.of, m.leaks = map[string]int{}, map[string]*leakAt{}
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

// isOwn reports whether a recorded call was made to the server. The check's own connections have a number after its name, which only its own journal
// shows for sure: elsewhere db-2 is as likely another server than db, as it is where a configuration has both.
func (r *results) isOwn(server string) bool {
	switch {
	case server == "":
		return false
	case server == r.s.Server, server == r.s.Name:
		return true
	case !r.live, slices.ContainsFunc(r.s.Others, func(o check.Offer) bool { return o.Server == server }):
		return false
	}
	rest, ok := strings.CutPrefix(server, r.s.Server+"-")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// call looks for leaks in the answer of one recorded call, which may be an error. Where any call was made to the server by name, only such calls
// are reported; until all are read nobody knows, so that both kinds are counted.
func (r *results) call(c contract.Recorded) {
	own := r.isOwn(c.Server)
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
	var counts []*resultStats
	if !r.all.once.Again(&c) {
		counts = append(counts, &r.all)
	}
	if own && !r.mine.once.Again(&c) { // records of one call may have other names for the server
		counts = append(counts, &r.mine)
	}
	if len(counts) == 0 {
		return
	}
	found := map[string]*leakAt{}
	r.values, r.hidden, r.beyond = map[string]bool{}, map[string]bool{}, len(answer) > maxResult
	if !r.beyond {
		r.walk(c, place, answer, "", found, 0)
	}
	for _, to := range counts {
		to.results++
		to.hidden += len(r.hidden)
		if r.beyond {
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

// walk looks for leaks in all texts of a JSON value, which is at the pointer prefix of the result; found has them by the key of addLeak. A text
// that is JSON is walked itself: its pointer follows that of the text after a blank. What is too deep or too much is not looked at.
func (r *results) walk(c contract.Recorded, place check.Place, value []byte, prefix string, found map[string]*leakAt, nested int) {
	v, err := schema.ParseValue(bytes.ToValidUTF8(value, []byte("\uFFFD")))
	if err != nil {
		return
	}
	n := 0
	var each func(v *schema.Value, path []string, name string)
	each = func(v *schema.Value, path []string, name string) {
		if n++; n > maxStrings || len(path) > maxDepth {
			r.beyond = true
			return
		}
		if v.Kind() != schema.String { // items of an array go by the array's name
			for i, m := range v.Members() {
				key, below := m.Name, m.Name
				if v.Kind() == schema.Array {
					key, below = strconv.Itoa(i), name
				}
				each(m.Value, append(path, key), below) // shared on purpose: Pointer copies
			}
			return
		}
		whole := v.Text() // which decodes it each time
		s, pointer := text.Cut(whole, maxBytes), prefix+schema.Pointer(path...)
		if name == "blob" || name == "data" && len(s) > 1000 { // base64; short "data" may be anything
			return
		}
		r.beyond = r.beyond || len(s) < len(whole)
		if t := strings.TrimSpace(s); nested < maxNested && len(t) > 1 && (t[0] == '{' || t[0] == '[') && jsonrpc.Valid([]byte(t)) == nil {
			r.walk(c, place, []byte(t), pointer+" ", found, nested+1)
			return
		}
		if c.Hidden && s == mask.Hidden && isSecretName(name) {
			r.addLeak(found, place, pointer, leak{byNameHidden, "", true})
			return
		}
		for _, p := range mask.Placeholders(s) {
			switch {
			case r.values[p] || bytes.Contains(c.Arguments, []byte(p)): // the server gave back what it was given
			case p == s && isSecretName(name): // what was hidden has no shape any more: its name is all there is
				r.values[p] = true
				r.addLeak(found, place, pointer, leak{byNameHidden, "", true})
			case !r.hidden[p] && (p != s || !mask.Secret(name)):
				r.hidden[p] = true // only counted: at another place its name may tell what it is
			}
		}
		for _, l := range findLeaks(name, s) {
			if l.value != "" && (r.values[l.value] || bytes.Contains(c.Arguments, []byte(l.value))) { // the server gave back what it was given
				continue
			}
			r.values[l.value] = true
			r.addLeak(found, place, pointer, l)
		}
	}
	each(v, nil, "")
}

// addLeak keeps a leak without its value, once for all items of a list. The key is the finding's too, which has to be
// the same in the next run: so it has neither the value nor the number of an item.
func (r *results) addLeak(found map[string]*leakAt, place check.Place, pointer string, l leak) {
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" && p != "" {
			parts[i] = "*"
		}
	}
	key := place.String() + "\x00" + strings.Join(parts, "/") + "\x00" + l.what
	if found[key] == nil {
		found[key] = &leakAt{leak: leak{what: l.what, named: l.named}, place: place, pointer: pointer, length: len(l.value)}
	}
}

// report reports the leaks, and notes how many results there were: of calls that name the server if there are any, else of all.
func (r *results) report(x *examination) {
	from := &r.all
	if r.mine.results > 0 {
		from = &r.mine
	}
	r.total.Results, r.total.Large, r.total.Hidden = from.results, from.large, from.hidden
	for _, key := range slices.Sorted(maps.Keys(from.leaks)) {
		l := from.leaks[key]
		sure := check.Likely
		if l.named {
			sure = check.Possible
		}
		message := printable(text.Clip(l.pointer, 200)) + " has " + l.what
		if l.length > 0 {
			message += ", " + plural(l.length, "character", "characters")
		}
		f := check.Finding{
			Place: l.place, Key: key, Sure: sure, Message: fmt.Sprintf("%s, in %d of %s", message, l.n, plural(from.of[l.place.String()], "result", "results")),
			Evidence: "seen in " + strings.Join(l.where, "; "),
		}
		x.add("secret-in-result", f)
	}
	if from.results > 0 {
		x.note("looked for secrets in " + plural(from.results, "result", "results"))
		if from == &r.all {
			x.note("no recorded call names this server: those of tools with the same names were looked at")
		}
	}
	if from.large > 0 {
		x.note(plural(from.large, "result was", "results were") + " too large to be looked at as a whole")
	}
	if r.total.Hidden > 0 {
		x.note(plural(r.total.Hidden, "text was", "texts were") + " hidden when the calls were recorded: whether they are secrets of the server cannot be told")
	}
	if r.total.Broken > 0 {
		x.note(plural(r.total.Broken, "line or file", "lines or files") + " could not be read")
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// After looks at what was recorded, and at what the sections of this run received, since they are over by then. Where reading fails, what was
// read is reported all the same.
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
		res.live = true
		failed = res.records.From(ctx, sec.Journal, "this session")
	}
	res.total.Files, res.total.Broken = res.records.Files, res.records.Broken
	res.report(x)
	res.reportContradictions(x)
	x.figures(&res.total)
	return failed
}
