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
	"strings"
	"unicode"
	"unicode/utf8"
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
	if tenant == shared {
		return Summary{}, errors.New("entity: import: no tenant; the built-in graph is read-only")
	}
	lines, err := parse(r)
	if err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	if err := g.open(ctx); err != nil {
		return Summary{}, err
	}
	tx, err := g.db.BeginTx(ctx, nil)
	if err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := write(ctx, tx, tenant, lines); err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	var count int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM entities WHERE tenant = ?`, tenant).Scan(&count); err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	if count > MaxEntities {
		return Summary{}, fmt.Errorf("entity: import: tenant %s would have %d entities, more than %d; nothing was imported", tenant, count, MaxEntities)
	}
	if err := tx.Commit(); err != nil {
		return Summary{}, fmt.Errorf("entity: import: %w", err)
	}
	s := Summary{Entities: len(lines)}
	for _, l := range lines {
		s.Edges += len(l.Related)
	}
	return s, nil
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
		l := line{number: number}
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
	switch {
	case !plain(l.ID):
		return fmt.Errorf("id %q: must have 1 to %d printable characters", l.ID, maxName)
	case !validType.MatchString(l.Type):
		return fmt.Errorf("type %q does not match %s", l.Type, typePattern)
	case !plain(l.Name) || fold(l.Name) == "":
		return fmt.Errorf("name %q: must have 1 to %d printable characters, at least one a letter or digit", l.Name, maxName)
	case len(l.Aliases) > maxAliases:
		return fmt.Errorf("%d aliases, more than %d", len(l.Aliases), maxAliases)
	case len(l.Related) > maxEdges:
		return fmt.Errorf("%d related entities, more than %d", len(l.Related), maxEdges)
	}
	for _, a := range l.Aliases {
		if !plain(a) || fold(a) == "" {
			return fmt.Errorf("alias %q: must have 1 to %d printable characters, at least one a letter or digit", a, maxName)
		}
	}
	for _, e := range l.Related {
		if !plain(e.Relation) || !plain(e.ID) {
			return fmt.Errorf("related %q: relation and id are required", e.ID)
		}
	}
	if p := string(bytes.TrimSpace(l.Properties)); p == "" || p == "null" {
		l.Properties = json.RawMessage("{}")
	} else if p[0] != '{' {
		return errors.New("properties: not an object")
	}
	return nil
}

// plain is text that can stand in a message on one line.
func plain(s string) bool {
	return strings.TrimSpace(s) == s && s != "" && utf8.RuneCountInString(s) <= maxName &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func write(ctx context.Context, tx *sql.Tx, tenant string, lines []line) error {
	st := map[string]*sql.Stmt{}
	for name, query := range map[string]string{
		"dropN":  `DELETE FROM entity_names WHERE tenant = ? AND id = ?`,
		"dropT":  `DELETE FROM entity_terms WHERE tenant = ? AND id = ?`,
		"dropE":  `DELETE FROM entity_edges WHERE tenant = ? AND src = ?`,
		"entity": `INSERT OR REPLACE INTO entities VALUES (?, ?, ?, ?, ?)`,
		"name":   `INSERT OR IGNORE INTO entity_names VALUES (?, ?, ?, ?)`,
		"term":   `INSERT OR IGNORE INTO entity_terms VALUES (?, ?, ?, ?)`,
		"edge":   `INSERT OR IGNORE INTO entity_edges VALUES (?, ?, ?, ?)`,
	} {
		s, err := tx.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		defer s.Close()
		st[name] = s
	}
	for _, l := range lines {
		if err := l.write(ctx, st, tenant); err != nil {
			return fmt.Errorf("line %d: %w", l.number, err)
		}
	}
	return dangling(ctx, tx, tenant, lines)
}

func (l *line) write(ctx context.Context, st map[string]*sql.Stmt, tenant string) error {
	for _, drop := range []string{"dropN", "dropT", "dropE"} {
		if _, err := st[drop].ExecContext(ctx, tenant, l.ID); err != nil {
			return err
		}
	}
	if _, err := st["entity"].ExecContext(ctx, tenant, l.ID, l.Type, l.Name, string(l.Properties)); err != nil {
		return err
	}
	terms := map[string]bool{}
	for _, n := range append([]string{l.Name}, l.Aliases...) {
		f := fold(n)
		if _, err := st["name"].ExecContext(ctx, tenant, l.Type, f, l.ID); err != nil {
			return err
		}
		for gram := range trigrams(f) {
			terms["3"+gram] = true
		}
	}
	for i, w := range words(texts(l.Properties)) {
		if i == maxWords {
			break
		}
		terms["w"+w] = true
	}
	for t := range terms {
		if _, err := st["term"].ExecContext(ctx, tenant, l.Type, t, l.ID); err != nil {
			return err
		}
	}
	for _, e := range l.Related {
		if _, err := st["edge"].ExecContext(ctx, tenant, l.ID, e.Relation, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// dangling refuses edges that lead nowhere, once all lines are in.
func dangling(ctx context.Context, tx *sql.Tx, tenant string, lines []line) error {
	find, err := tx.PrepareContext(ctx, `SELECT EXISTS (SELECT 1 FROM entities WHERE tenant IN (?, '') AND id = ?)`)
	if err != nil {
		return err
	}
	defer find.Close()
	known := map[string]bool{}
	for _, l := range lines {
		known[l.ID] = true
	}
	var bad []error
	for _, l := range lines {
		for _, e := range l.Related {
			ok, asked := known[e.ID]
			if !asked {
				if err := find.QueryRowContext(ctx, tenant, e.ID).Scan(&ok); err != nil {
					return err
				}
				known[e.ID] = ok
			}
			if !ok && len(bad) < maxErrors {
				bad = append(bad, fmt.Errorf("line %d: related %q: no entity with this id", l.number, e.ID))
			}
		}
	}
	return errors.Join(bad...)
}
