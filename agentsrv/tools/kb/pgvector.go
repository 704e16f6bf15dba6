package kb

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/store"
)

// extend finds pgvector, installs it where we may, and gives each embedding its form. Without it, and for a base whose index is not in the
// same database, what is nearest is found in memory.
func (c *cache) extend(ctx context.Context, ix *index) error {
	if c.db.Dialect() != store.Postgres || ix.db != c.db {
		return nil
	}
	var err error
	if c.pgvector, err = c.db.Extension(ctx, "vector"); err != nil || c.pgvector == "" {
		return err
	}
	var there bool
	if err := c.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = 'kb_vector'::regclass AND attname = 'embedding' AND NOT attisdropped)`).Scan(&there); err != nil {
		return err
	}
	if !there {
		if err := c.db.Exclusive(ctx, "kb", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `ALTER TABLE kb_vector ADD COLUMN IF NOT EXISTS embedding `+c.pgvector+`.vector`)
			return err
		}); err != nil {
			return err
		}
	}
	for { // those that were made before
		rows, err := c.withoutVector(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		for h, raw := range rows {
			if _, err := c.db.ExecContext(ctx, `UPDATE kb_vector SET embedding = CAST(? AS `+c.pgvector+`.vector) WHERE base = ? AND model = ? AND hash = ?`,
				vectorLiteral(len(raw)/4, func(i int) float32 { return float32At(raw, i) }), c.base, c.model, h[:]); err != nil {
				return err
			}
		}
	}
}

// withoutVector are some embeddings that were made without pgvector.
func (c *cache) withoutVector(ctx context.Context) (map[hash][]byte, error) {
	rows, err := c.db.QueryContext(ctx, `SELECT hash, vector FROM kb_vector WHERE base = ? AND model = ? AND embedding IS NULL LIMIT ?`, c.base, c.model, cacheRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[hash][]byte{}
	for rows.Next() {
		var h, raw []byte
		if err := rows.Scan(&h, &raw); err != nil {
			return nil, err
		}
		out[pad(h)] = raw
	}
	return out, rows.Err()
}

// vectorLiteral is a vector as pgvector reads it.
func vectorLiteral(n int, at func(int) float32) string {
	b := make([]byte, 1, 12*n)
	b[0] = '['
	for i := range n {
		b = strconv.AppendFloat(b, float64(at(i)), 'g', -1, 32)
		b = append(b, ',')
	}
	return strings.TrimSuffix(string(b), ",") + "]"
}

// nearest is vectors.nearest in the database.
func (c *cache) nearest(ctx context.Context, ix *index, q []float32, base string, n int, least float32) ([]near, error) {
	rows, err := c.db.QueryContext(ctx, `SELECT c.id, c.hash, 1 - (v.embedding OPERATOR(`+c.pgvector+`.<=>) q.q) AS cosine
		FROM (SELECT CAST(? AS `+c.pgvector+`.vector) AS q) q, kb_vector v JOIN kb_chunk c ON c.hash = v.hash JOIN kb_file d ON d.id = c.file
		WHERE c.kb = ? AND v.base = ? AND v.model = ? AND (CAST(?5 AS TEXT) = '' OR d.base = ?5) ORDER BY v.embedding OPERATOR(`+c.pgvector+`.<=>) q.q LIMIT ?6`,
		vectorLiteral(len(q), func(i int) float32 { return q[i] }), ix.id, c.base, c.model, base, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var best []near
	for rows.Next() {
		var one near
		var raw []byte
		if err := rows.Scan(&one.id, &raw, &one.cosine); err != nil {
			return nil, err
		}
		if !(one.cosine > least) { // nor is what is none, of a passage all whose numbers are 0
			break
		}
		one.tag = tagOf(raw)
		best = append(best, one)
	}
	return best, rows.Err()
}

// found is how many passages of a base have embeddings, and the length of these.
func (c *cache) found(ctx context.Context, ix *index) (n, dims int, err error) {
	err = c.db.QueryRowContext(ctx, `SELECT count(*), coalesce(max(length(v.vector)) / 4, 0) FROM kb_vector v JOIN kb_chunk c ON c.hash = v.hash WHERE c.kb = ? AND v.base = ? AND v.model = ?`,
		ix.id, c.base, c.model).Scan(&n, &dims)
	return n, dims, err
}
