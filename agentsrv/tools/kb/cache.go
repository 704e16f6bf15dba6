package kb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/tools/kb/wordvec"
	"github.com/mcphud/mcphud/session/base/store"
)

// cacheSchema. base is whose embeddings these are: those of one knowledge base say nothing about another's texts. hash is of a text.
var cacheSchema = store.Steps{
	SQLite: []string{`CREATE TABLE kb_vector (base TEXT NOT NULL, model TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (base, model, hash))`},
	Postgres: []string{
		`CREATE TABLE kb_vector (base TEXT NOT NULL, model TEXT NOT NULL, hash BYTEA NOT NULL, vector BYTEA NOT NULL, PRIMARY KEY (base, model, hash))`,
		// An index was kept there too.
		`DROP TABLE IF EXISTS kb_chunk, kb_file, kb_word, kb_base, kb_lease; ALTER TABLE kb_vector DROP COLUMN IF EXISTS embedding`,
	},
}

// cacheRows is how many rows one statement names.
const cacheRows = 200

// hash is of a text that has an embedding.
type hash [hashSize]byte

// cache is the embeddings that the store has of the texts of one knowledge base by one model.
type cache struct {
	db          *store.DB
	base, model string
	cheap       bool // the model makes again what was forgotten at no cost
}

func openCache(ctx context.Context, db *store.DB, base, model string) (*cache, error) {
	c := &cache{db: db, base: base, model: model, cheap: strings.HasPrefix(model, wordvec.Prefix)}
	if err := db.Migrate(ctx, "kb_vectors", cacheSchema); err != nil {
		return nil, fmt.Errorf("knowledge base: open the embeddings: %w", err)
	}
	return c, nil
}

// hashes are the texts that have embeddings, and the length of these, 0 if there are none.
func (c *cache) hashes(ctx context.Context) (have map[hash]bool, dims int, err error) {
	have, err = hashesIn(c.db.QueryContext(ctx, `SELECT hash FROM kb_vector WHERE base = ? AND model = ?`, c.base, c.model))
	if err != nil || len(have) == 0 {
		return have, 0, err
	}
	err = c.db.QueryRowContext(ctx, `SELECT length(vector) / 4 FROM kb_vector WHERE base = ? AND model = ? LIMIT 1`, c.base, c.model).Scan(&dims)
	if errors.Is(err, sql.ErrNoRows) {
		return map[hash]bool{}, 0, nil
	}
	return have, dims, err
}

func hashesIn(rows *sql.Rows, err error) (map[hash]bool, error) {
	have := map[hash]bool{}
	_, err = store.Collect(rows, err, func(r *sql.Rows) (raw []byte, err error) {
		err = r.Scan(&raw)
		have[padHash(raw)] = true
		return nil, err
	})
	return have, err
}

// existing returns those of the texts, at least one, that have embeddings.
func (c *cache) existing(ctx context.Context, texts []hash) (map[hash]bool, error) {
	return hashesIn(c.db.QueryContext(ctx, `SELECT hash FROM kb_vector WHERE base = ? AND model = ? AND hash IN (`+placeholders(len(texts))+`)`, c.args(texts)...))
}

// args are the arguments of a statement about texts.
func (c *cache) args(texts []hash) []any {
	args := []any{c.base, c.model}
	for _, h := range texts {
		args = append(args, h[:])
	}
	return args
}

// padHash makes a hash of the bytes that the store has, however many these are: a damaged row matches no text.
func padHash(raw []byte) (h hash) {
	copy(h[:], raw)
	return h
}

// put keeps embeddings. A nil one is of a text that has none.
func (c *cache) put(ctx context.Context, texts []hash, vectors [][]float32) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	for i, h := range texts {
		if vectors[i] == nil {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO kb_vector (base, model, hash, vector) VALUES (?, ?, ?, ?) ON CONFLICT (base, model, hash) DO UPDATE SET vector = excluded.vector`,
			c.base, c.model, h[:], packVector(vectors[i])); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// drop forgets all embeddings by the model: it makes others now.
func (c *cache) drop(ctx context.Context) error {
	_, err := c.db.ExecContext(ctx, `DELETE FROM kb_vector WHERE base = ? AND model = ?`, c.base, c.model)
	return err
}

// prune forgets what other models made, unless that was paid for and what takes its place was not, and embeddings of texts that no passage
// has any more.
func (c *cache) prune(ctx context.Context, gone []hash) error {
	query := `DELETE FROM kb_vector WHERE base = ? AND model <> ?`
	if c.cheap {
		query += ` AND model LIKE '` + wordvec.Prefix + `%'`
	}
	if _, err := c.db.ExecContext(ctx, query, c.base, c.model); err != nil {
		return err
	}
	if c.db.Dialect() == store.Postgres {
		return nil // another replica's folder may have them
	}
	for some := range slices.Chunk(gone, cacheRows) {
		if _, err := c.db.ExecContext(ctx, `DELETE FROM kb_vector WHERE base = ? AND model = ? AND hash IN (`+placeholders(len(some))+`)`, c.args(some)...); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with all embeddings.
func (c *cache) each(ctx context.Context, f func(h hash, vector []byte)) error {
	rows, err := c.db.QueryContext(ctx, `SELECT hash, vector FROM kb_vector WHERE base = ? AND model = ?`, c.base, c.model)
	if err != nil {
		return err
	}
	defer rows.Close()
	var raw, vector sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&raw, &vector); err != nil {
			return err
		}
		f(padHash(raw), vector)
	}
	return rows.Err()
}

// placeholders returns n question marks for an IN of SQL.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

func anySlice[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
