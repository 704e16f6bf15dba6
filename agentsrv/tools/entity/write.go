package entity

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// statement is one that is run for many rows of texts.
type statement struct {
	one  string // with a placeholder for each column
	many string // with a placeholder for a list of each column's texts, for databases where a statement is a round trip
}

func inserts(into, conflict string, columns int) statement {
	marks := strings.TrimSuffix(strings.Repeat("?, ", columns), ", ")
	return statement{
		one:  `INSERT INTO ` + into + ` VALUES (` + marks + `) ON CONFLICT ` + conflict,
		many: `INSERT INTO ` + into + ` SELECT * FROM unnest(` + strings.ReplaceAll(marks, "?", "?::text[]") + `) ON CONFLICT ` + conflict,
	}
}

func deletes(from, id string) statement {
	return statement{
		one:  `DELETE FROM ` + from + ` WHERE tenant = ? AND ` + id + ` = ?`,
		many: `DELETE FROM ` + from + ` WHERE (tenant, ` + id + `) IN (SELECT * FROM unnest(?::text[], ?::text[]))`,
	}
}

var (
	dropNames   = deletes("entity_names", "id")
	dropTerms   = deletes("entity_terms", "id")
	dropEdges   = deletes("entity_edges", "src")
	putEntities = inserts("entities", "(tenant, id) DO UPDATE SET type = excluded.type, name = excluded.name, properties = excluded.properties", 5)
	putNames    = inserts("entity_names", "DO NOTHING", 4)
	putTerms    = inserts("entity_terms", "DO NOTHING", 4)
	putEdges    = inserts("entity_edges", "DO NOTHING", 4)
)

// batchRows is how many rows one statement of many writes.
const batchRows = 5000

// writer runs statements for rows: for each at once, or for many together.
type writer struct {
	tx       *sql.Tx
	batches  bool
	prepared map[string]*sql.Stmt
	waiting  map[string][][]string // columns of rows, by statement
}

func (w *writer) row(ctx context.Context, s statement, values ...string) error {
	if w.batches {
		columns := w.waiting[s.many]
		if columns == nil {
			columns = make([][]string, len(values))
		}
		for i, v := range values {
			columns[i] = append(columns[i], v)
		}
		w.waiting[s.many] = columns
		if len(columns[0]) < batchRows {
			return nil
		}
		return w.send(ctx, s.many)
	}
	ready := w.prepared[s.one]
	if ready == nil {
		var err error
		if ready, err = w.tx.PrepareContext(ctx, s.one); err != nil {
			return err
		}
		w.prepared[s.one] = ready
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	_, err := ready.ExecContext(ctx, args...)
	return err
}

// send runs a statement for the rows that wait for it.
func (w *writer) send(ctx context.Context, many string) error {
	var args []any
	for _, column := range w.waiting[many] {
		args = append(args, column)
	}
	delete(w.waiting, many)
	_, err := w.tx.ExecContext(ctx, many, args...)
	return err
}

// flush runs what waits.
func (w *writer) flush(ctx context.Context) error {
	for _, many := range slices.Sorted(maps.Keys(w.waiting)) {
		if err := w.send(ctx, many); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) close() {
	for _, s := range w.prepared {
		_ = s.Close() // the transaction ends
	}
}

// write puts lines into a tenant's graph, in place of what it has under their ids.
func (g *Graph) write(ctx context.Context, tx *sql.Tx, tenant string, lines []line) error {
	w := &writer{tx: tx, batches: g.isShared(), prepared: map[string]*sql.Stmt{}, waiting: map[string][][]string{}}
	defer w.close()
	for _, l := range lines {
		for _, drop := range []statement{dropNames, dropTerms, dropEdges} {
			if err := w.row(ctx, drop, tenant, l.ID); err != nil {
				return fmt.Errorf("line %d: %w", l.number, err)
			}
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	for _, l := range lines {
		if err := g.writeLine(ctx, w, tenant, l); err != nil {
			return fmt.Errorf("line %d: %w", l.number, err)
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	return g.dangling(ctx, tx, tenant, lines)
}

func (g *Graph) writeLine(ctx context.Context, w *writer, tenant string, l line) error {
	if err := w.row(ctx, putEntities, tenant, l.ID, l.Type, l.Name, string(l.Properties)); err != nil {
		return err
	}
	terms := map[string]bool{}
	for _, n := range append([]string{l.Name}, l.Aliases...) {
		f := fold(n)
		if err := w.row(ctx, putNames, tenant, l.Type, f, l.ID); err != nil {
			return err
		}
		if g.trigrams {
			continue
		}
		for gram := range trigrams(f) {
			terms["3"+gram] = true
		}
	}
	for i, word := range words(texts(l.Properties)) {
		if i == maxWords {
			break
		}
		terms["w"+word] = true
	}
	for t := range terms {
		if err := w.row(ctx, putTerms, tenant, l.Type, t, l.ID); err != nil {
			return err
		}
	}
	for _, e := range l.Related {
		if err := w.row(ctx, putEdges, tenant, l.ID, e.Relation, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// dangling refuses edges that lead nowhere, once all lines are in.
func (g *Graph) dangling(ctx context.Context, tx *sql.Tx, tenant string, lines []line) error {
	known, asked := map[string]bool{}, map[string]bool{}
	for _, l := range lines {
		known[l.ID] = true
	}
	for _, l := range lines {
		for _, e := range l.Related {
			if !known[e.ID] {
				asked[e.ID] = true
			}
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(asked)), batchRows) {
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT id FROM entities WHERE tenant IN (@tenant, '') AND id IN (SELECT value FROM `+g.elements("@ids")+`)`,
			sql.Named("tenant", tenant), sql.Named("ids", string(list)))
		if err != nil {
			return err
		}
		found, err := collect(rows, func(r *sql.Rows) (id string, err error) { return id, r.Scan(&id) })
		if err != nil {
			return err
		}
		for _, id := range found {
			known[id] = true
		}
	}
	var bad []error
	for _, l := range lines {
		for _, e := range l.Related {
			if !known[e.ID] && len(bad) < maxErrors {
				bad = append(bad, fmt.Errorf("line %d: related %q: no entity with this id", l.number, e.ID))
			}
		}
	}
	return errors.Join(bad...)
}
