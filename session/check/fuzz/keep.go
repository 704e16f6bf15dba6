package fuzz

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

const (
	maxInline = 1 << 10 // bytes of arguments on a command line; longer ones have a file
	maxKept   = 5_000   // failures that are tried again
	maxFile   = 8 << 20 // bytes of one
	format    = 1       // of the files; others are refused, not skipped
)

// errLimited is why a kept failure was not tried.
var errLimited = errors.New("calls come too fast for the server")

// failureFile is a failure as it is kept.
type failureFile struct {
	Format    int             `json:"format"`
	Server    string          `json:"server,omitempty"` // whose folder another server may have, too; "" where none can
	Rule      string          `json:"rule"`
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // the smallest that were found
	Cause     string          `json:"cause,omitempty"`     // of the hit: the same one has to come again
	Extreme   bool            `json:"extreme,omitempty"`   // as in Value
	Message   string          `json:"message"`             // for people
	Seed      uint64          `json:"seed"`                // of the run that found it, for people
	Chance    bool            `json:"chance,omitempty"`    // it comes and goes, whatever the arguments are
}

// keeper writes failures into a folder of the server, readable for the owner only: arguments may come from results.
type keeper struct {
	dir    string // "" for nowhere
	server string // "" where no other server has that folder
	kept   int    // in this run
}

func newKeeper(folder string, s *check.Subject) *keeper {
	if folder == "" {
		return &keeper{}
	}
	name := cmp.Or(s.Name, s.Server)
	k := &keeper{dir: filepath.Join(folder, fileName(name))}
	if fileName(name) != name {
		k.server = name
	}
	return k
}

// fileName is a name that is safe as that of a file. Two names may have one: put adds a hash, and says in each file of a folder of two servers whose it is.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, text.Cut(name, 60))
	return cmp.Or(strings.Trim(safe, "-"), "server")
}

// put keeps a failure, and returns the call that shows it, also where it cannot be kept. Its file is that of the rule, target and cause: a later run
// replaces it.
func (k *keeper) put(t *target, in input, h hit, seed uint64, how recurrence) (Call, error) {
	method, params, _ := t.request(in)
	call := Call{Kind: t.place.Kind, Name: t.name, Method: method, Params: params}
	if in.IsSet() {
		call.Arguments = in.JSON()
	}
	if k.dir == "" {
		return call, nil
	}
	raw, err := json.MarshalIndent(failureFile{
		Format: format, Server: k.server, Rule: h.rule, Kind: t.kind, Name: t.name, Arguments: call.Arguments, Cause: h.cause, Extreme: in.Extreme, Message: h.message, Seed: seed, Chance: how.isRandom(),
	}, "", "  ")
	if err != nil {
		return call, fmt.Errorf("keep the failure: %w", err)
	}
	of := h.rule + "\x00" + t.kind + "\x00" + t.name + "\x00" + h.cause
	if k.server != "" {
		of += "\x00" + k.server
	}
	sum := sha256.Sum256([]byte(of))
	base := filepath.Join(k.dir, fileName(strings.TrimPrefix(h.rule, "fuzz/")+"-"+text.Cut(t.name, 30))+"-"+hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return call, fmt.Errorf("keep the failure: %w", err)
	}
	if err := files.Write(base+".json", append(raw, '\n')); err != nil {
		return call, fmt.Errorf("keep the failure: %w", err)
	}
	if len(call.Arguments) > maxInline {
		call.File = base + ".args"
		if err := files.Write(call.File, call.Arguments); err != nil {
			return call, fmt.Errorf("keep the failure: %w", err)
		}
	}
	k.kept++
	return call, nil
}

// read is what was kept, in the order of the files' names, and how many files are more than are read. One that cannot be read is an error, and nothing
// is tried.
func (k *keeper) read() (all []failureFile, more int, err error) {
	names, err := os.ReadDir(k.dir)
	if errors.Is(err, fs.ErrNotExist) || k.dir == "" {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the kept failures: %w", err)
	}
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".json") {
			continue
		}
		if len(all) >= maxKept {
			more++
			continue
		}
		path := filepath.Join(k.dir, n.Name())
		var f failureFile
		raw, err := files.Read(path, maxFile)
		if err == nil {
			err = json.Unmarshal(raw, &f)
		}
		if err == nil && f.Format != format {
			err = fmt.Errorf("its format is %d, and %d is known", f.Format, format)
		}
		if err != nil {
			return nil, 0, &failure.Error{Kind: failure.Usage, Stage: "fuzz", Message: "cannot read the kept failure " + path, Next: "correct it, or remove it", Err: err, Detail: err.Error()}
		}
		if f.Server == "" || f.Server == k.server {
			all = append(all, f)
		}
	}
	return all, more, nil
}

// replay tries again what is kept.
func (r *run) replay(ctx context.Context) error {
	all, more, err := r.keep.read()
	if err != nil {
		return err
	}
	known, left := targets(r.s)
	table := [][]string{{"verdict", "rule", "what", "arguments"}}
	type row struct {
		Verdict string `json:"verdict"` // fixed, still there, gone, not allowed, not tried
		failureFile
	}
	rows, fixed := []row{}, 0
	for i, f := range all {
		r.rec.Step(i, len(all), f.Name)
		verdict := "gone"
		for _, it := range left {
			if f.Kind == check.OfTool && it.Name == f.Name {
				verdict = "not allowed"
			}
		}
		t := findTarget(known, f)
		if t != nil {
			still, err := r.again(ctx, t, f)
			switch {
			case errors.Is(err, errLimited), errors.Is(err, errNotSent), err != nil && r.unreachable != nil:
				verdict = "not tried"
			case err != nil:
				return err
			case still:
				verdict = "still there"
			default:
				verdict = "fixed"
			}
		}
		if verdict == "fixed" {
			fixed++
			r.rec.AddPassed(f.Rule, check.Place{Kind: f.Kind, Name: f.Name}, 0)
		}
		rows = append(rows, row{verdict, f})
		table = append(table, []string{verdict, f.Rule, f.Kind + " " + text.Clip(f.Name, 60), text.Clip(cmp.Or(string(f.Arguments), "none"), 80)})
	}
	notes := []string{fmt.Sprintf("%d of %d kept failures are fixed", fixed, len(all))}
	if more > 0 {
		notes = append(notes, fmt.Sprintf("%d files more are not tried: %d are the most", more, maxKept))
	}
	if len(all) == 0 {
		table, notes = nil, []string{"no failures are kept in " + cmp.Or(r.keep.dir, "any folder")}
	}
	r.rec.Figures(check.Figures{Value: map[string]any{"replayed": rows}, Table: table, Notes: notes})
	return nil
}

// findTarget is what a kept failure is of; nil where the server does not offer it any more, or it may not be called.
func findTarget(known []*target, f failureFile) *target {
	for _, t := range known {
		if t.kind == f.Kind && t.name == f.Name {
			return t
		}
	}
	switch {
	case f.Kind == check.OfResource: // one that a result linked to
		return resource(f.Name)
	case f.Kind == check.OfTool && f.Name == noTool:
		t := newTarget(check.OfTool, noTool, schema.FromArguments(nil), false)
		t.place = check.Place{Kind: check.OfServer}
		return t
	}
	return nil
}

// again reports whether a failure is still there, and adds it where it is.
func (r *run) again(ctx context.Context, t *target, f failureFile) (bool, error) {
	var v *schema.Value
	if len(f.Arguments) > 0 {
		var err error
		if v, err = schema.ParseValue(f.Arguments); err != nil {
			return false, fmt.Errorf("arguments of a kept failure of %s: %w", f.Name, err)
		}
	}
	c := r.conns.current()
	in := t.classify(Value{Value: v, What: "kept", Extreme: f.Extreme})
	switch {
	case t.place.Kind == check.OfServer:
		return r.checkUnknownTool(ctx)
	case f.Rule == "fuzz/memory":
		t.times = []timing{{in, 0}}
		return r.checkMemory(ctx, t)
	case f.Rule == "fuzz/slow":
		out, err := r.call(ctx, c, t, in, false)
		if err != nil || out.took < slowest {
			return false, err
		}
		r.addFinding(t, in, hit{rule: f.Rule, cause: f.Cause, message: "still takes " + text.Duration(out.took), severity: rules.Find("fuzz", f.Rule).Severity, sure: check.Likely}, recurrence{})
		return true, nil
	}
	tries := replayCalls
	if f.Chance {
		tries = replayOften
	}
	for range tries {
		out, err := r.call(ctx, c, t, in, true)
		for err == nil && out.isRateLimited() && !r.outOfTime() {
			r.pause(ctx, &out)
			out, err = r.call(ctx, c, t, in, true)
		}
		if err != nil {
			return false, err
		}
		if out.isRateLimited() {
			return false, errLimited
		}
		for _, h := range c.oracles(t, in, &out) {
			if h.hasNoAnswer() {
				h.cause = f.Cause
			}
			if h.rule == f.Rule && h.cause == f.Cause {
				r.addFinding(t, in, h, recurrence{before: f.Chance})
				return true, nil
			}
		}
		if r.outOfTime() {
			break
		}
	}
	return false, nil
}
