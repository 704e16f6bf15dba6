package entity

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/store"
)

// Limits of what Import takes.
const (
	MaxLine     = 1 << 20  // bytes of one line
	MaxImport   = 64 << 20 // bytes of one import
	MaxEntities = 50_000   // entities of one tenant
	maxName     = 200      // runes of a name, an alias, an id
	maxAliases  = 20       // of one entity
	maxEdges    = 1000     // out of one entity, in one import
	maxWords    = 400      // words of one entity's properties that it can be found by
	maxErrors   = 10       // reported at once
	typePattern = `^[a-z][a-z0-9_-]{0,63}$`
)

var validType = regexp.MustCompile(typePattern)

// line is one line of an import.
type line struct {
	number int
	raw    []byte // as it was imported

	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Aliases    []string        `json:"aliases"`
	Properties json.RawMessage `json:"properties"`
	Related    []edge          `json:"related"`
}

type edge struct {
	Relation string `json:"relation"`
	ID       string `json:"id"`
}

// Summary is what an import did.
type Summary struct {
	Entities int // written, new or in place of older ones with the same id
	Edges    int // written
}

// Import reads entities, one JSON object a line, into a tenant's graph:
//
//	{"id":"carrier-x","type":"carrier","name":"X Freight","aliases":["XF"],"properties":{…},"related":[{"relation":"based_in","id":"place-y"}]}
//
// id, type and name are required; related may name entities of the same file, of the tenant, or of the demonstration
// graph. An entity whose id the tenant has already takes that one's place, with its aliases and outgoing edges. All lines are written or none; the error names the lines
// that do not fit, the first ten of them.
func (g *Graph) Import(ctx context.Context, tenant string, r io.Reader) (Summary, error) {
	if tenant == "" {
		return Summary{}, errors.New("entity: import: no tenant; the built-in graph is read-only")
	}
	lines, err := parse(r)
	if err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	if err = g.open(ctx); err == nil { // one process at a time: two that bring the same entities would wait for each other for ever
		err = g.db.Exclusive(ctx, "entities", func(tx *sql.Tx) error { return put(ctx, tx, tenant, lines) })
	}
	if err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	s := Summary{Entities: len(lines)}
	for _, l := range lines {
		s.Edges += len(l.Related)
	}
	return s, nil
}

// batchRows is how many rows one statement writes.
const batchRows = 1000

// put writes lines into a tenant's graph, in place of what it has under their ids.
func put(ctx context.Context, tx *sql.Tx, tenant string, lines []line) error {
	rows, err := tx.QueryContext(ctx, `SELECT id FROM entity_lines WHERE tenant = ?`, tenant)
	ids, err := store.Collect(rows, err, func(r *sql.Rows) (id string, err error) { return id, r.Scan(&id) })
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for _, l := range lines {
		known[l.ID] = true
	}
	if len(known) > MaxEntities {
		return fmt.Errorf("tenant %s would have %d entities, more than %d; nothing was imported", tenant, len(known), MaxEntities)
	}
	for _, l := range demoLines() {
		known[l.ID] = true
	}
	var bad []error
	for _, l := range lines {
		for _, e := range l.Related {
			if !known[e.ID] && len(bad) < maxErrors {
				bad = append(bad, fmt.Errorf("line %d: related %q: no entity with this id; import that one first, or in the same file", l.number, e.ID))
			}
		}
	}
	if len(bad) > 0 {
		return errors.Join(bad...)
	}
	for some := range slices.Chunk(lines, batchRows) {
		var args []any
		for _, l := range some {
			args = append(args, tenant, l.ID, string(l.raw))
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO entity_lines (tenant, id, line) VALUES (?, ?, ?)`+strings.Repeat(`, (?, ?, ?)`, len(some)-1)+` ON CONFLICT (tenant, id) DO UPDATE SET line = excluded.line`, args...); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO entity_versions AS v (tenant, version) VALUES (?, 1) ON CONFLICT (tenant) DO UPDATE SET version = v.version + 1`, tenant)
	return err
}

func parse(r io.Reader) ([]line, error) {
	limited := &io.LimitedReader{R: r, N: MaxImport + 1}
	scan := bufio.NewScanner(limited)
	scan.Buffer(make([]byte, 0, 64<<10), MaxLine)
	var lines []line
	var bad []error
	seen := map[string]int{}
	number := 0
	for scan.Scan() && len(bad) < maxErrors {
		number++
		raw := bytes.TrimSpace(scan.Bytes())
		if len(raw) == 0 {
			continue
		}
		l := line{number: number, raw: bytes.Clone(raw)}
		if err := l.read(raw); err != nil {
			bad = append(bad, fmt.Errorf("line %d: %w", number, err))
			continue
		}
		if first, twice := seen[l.ID]; twice {
			bad = append(bad, fmt.Errorf("line %d: id %q is taken by line %d", number, l.ID, first))
			continue
		}
		seen[l.ID] = number
		if lines = append(lines, l); len(lines) > MaxEntities {
			return nil, fmt.Errorf("line %d: more than %d entities; split the file by tenant", number, MaxEntities)
		}
	}
	switch err := scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		bad = append(bad, fmt.Errorf("line %d: longer than %d bytes", number+1, MaxLine))
	case err != nil:
		bad = append(bad, fmt.Errorf("line %d: %w", number+1, err))
	case limited.N <= 0:
		bad = append(bad, fmt.Errorf("line %d: the file is larger than %d bytes; split it", number, MaxImport))
	}
	return lines, errors.Join(bad...)
}

func (l *line) read(raw []byte) error {
	if err := l.decode(raw); err != nil {
		return err
	}
	return l.check()
}

func (l *line) decode(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return fmt.Errorf("not an entity: %w", err)
	}
	if d.More() {
		return errors.New("more than one JSON value; write one a line")
	}
	if p := string(bytes.TrimSpace(l.Properties)); p == "" || p == "null" {
		l.Properties = json.RawMessage("{}")
	}
	return nil
}

func (l *line) check() error {
	switch {
	case !isPlain(l.ID):
		return fmt.Errorf("id %q: must have 1 to %d printable characters", l.ID, maxName)
	case !validType.MatchString(l.Type):
		return fmt.Errorf("type %q does not match %s", l.Type, typePattern)
	case !isPlain(l.Name) || fold(l.Name) == "":
		return fmt.Errorf("name %q: must have 1 to %d printable characters, at least one a letter or digit", l.Name, maxName)
	case len(l.Aliases) > maxAliases:
		return fmt.Errorf("%d aliases, more than %d", len(l.Aliases), maxAliases)
	case len(l.Related) > maxEdges:
		return fmt.Errorf("%d related entities, more than %d", len(l.Related), maxEdges)
	}
	for _, a := range l.Aliases {
		if !isPlain(a) || fold(a) == "" {
			return fmt.Errorf("alias %q: must have 1 to %d printable characters, at least one a letter or digit", a, maxName)
		}
	}
	for _, e := range l.Related {
		if !isPlain(e.Relation) || !isPlain(e.ID) {
			return fmt.Errorf("related %q: relation and id are required", e.ID)
		}
	}
	if bytes.TrimSpace(l.Properties)[0] != '{' {
		return errors.New("properties: not an object")
	}
	return nil
}

// isPlain reports whether a text can stand in a message on one line.
func isPlain(s string) bool {
	return strings.TrimSpace(s) == s && s != "" && utf8.RuneCountInString(s) <= maxName &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
