package kb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"github.com/mcphud/mcphud/session/base/store"
)

// pgSchema. words are the lexemes of a passage, which stay in its row, since ranking reads those of thousands, and size how many there are.
// kb_word are the words of a base, and how many passages have them.
var pgSchema = []string{
	`CREATE TABLE kb_base (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE, source TEXT NOT NULL, mean REAL NOT NULL DEFAULT 1);
	CREATE TABLE kb_file (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kb BIGINT NOT NULL REFERENCES kb_base, path TEXT NOT NULL, base TEXT NOT NULL,
		title TEXT NOT NULL, mtime BIGINT NOT NULL, size BIGINT NOT NULL, hash BYTEA NOT NULL, pass BIGINT NOT NULL, UNIQUE (kb, path));
	CREATE TABLE kb_chunk (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kb BIGINT NOT NULL REFERENCES kb_base, file BIGINT NOT NULL REFERENCES kb_file,
		line INTEGER NOT NULL, part INTEGER NOT NULL, last INTEGER NOT NULL, page INTEGER NOT NULL, heading TEXT NOT NULL, content TEXT NOT NULL,
		hash BYTEA NOT NULL, size INTEGER NOT NULL, words TSVECTOR NOT NULL) WITH (toast_tuple_target = 8160);
	CREATE INDEX kb_chunk_kb ON kb_chunk (kb);
	CREATE INDEX kb_chunk_file ON kb_chunk (file, line, part);
	CREATE INDEX kb_chunk_words ON kb_chunk USING gin (words);
	CREATE TABLE kb_word (kb BIGINT NOT NULL REFERENCES kb_base, word TEXT NOT NULL, docs INTEGER NOT NULL, PRIMARY KEY (kb, word))`,

	`ALTER TABLE kb_base ADD COLUMN made_of TEXT NOT NULL DEFAULT ''`,
}

const (
	// pgLanguage is the text search configuration where nobody chose one: it stems as SQLite's porter does.
	pgLanguage = "english"
	// vocabularyStep is how many passages one statement takes the words of.
	vocabularyStep = 2000
)

// postgres is an index by tsvector, with words like mistyped ones by pg_trgm where there is that.
type postgres struct {
	*index
	name     string
	language string
	trgm     string // the schema of pg_trgm, quoted, "" where it is not installed
}

func (p *postgres) open(ctx context.Context, source string) error {
	if err := p.db.Migrate(ctx, "kb", store.Steps{Postgres: pgSchema}); err != nil {
		return err
	}
	// A configuration that the database, the user or the URL names is meant; that of the installation comes from its locale.
	if err := p.db.QueryRowContext(ctx, `SELECT CASE WHEN source IN ('default', 'configuration file') THEN ? ELSE setting END FROM pg_settings WHERE name = 'default_text_search_config'`,
		pgLanguage).Scan(&p.language); err != nil {
		return err
	}
	if err := p.trigrams(ctx); err != nil {
		return err
	}
	source += " " + p.language
	return p.db.Exclusive(ctx, "kb", func(tx *sql.Tx) error {
		var was string
		if err := tx.QueryRowContext(ctx, `INSERT INTO kb_base (name, source) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id, source`,
			p.name, source).Scan(&p.id, &was); err != nil || was == source {
			return err
		}
		for _, q := range []string{
			`DELETE FROM kb_chunk WHERE kb = ?`, `DELETE FROM kb_file WHERE kb = ?`, `DELETE FROM kb_word WHERE kb = ?`,
		} {
			if _, err := tx.ExecContext(ctx, q, p.id); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE kb_base SET source = ? WHERE id = ?`, source, p.id)
		return err
	})
}

// trigrams finds pg_trgm, and installs it where we may. It can be done without.
func (p *postgres) trigrams(ctx context.Context) error {
	var err error
	if p.trgm, err = p.db.Extension(ctx, "pg_trgm"); err != nil || p.trgm == "" {
		return err
	}
	// Without the index a search for a mistyped word takes longer, which is all.
	_ = p.db.Exclusive(ctx, "kb", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS kb_word_trgm ON kb_word USING gin (word `+p.trgm+`.gin_trgm_ops)`)
		return err
	})
	return nil
}

func (p *postgres) made(ctx context.Context, at string) (before string, err error) {
	err = p.db.QueryRowContext(ctx, `UPDATE kb_base b SET made_of = ? FROM (SELECT id, made_of FROM kb_base WHERE id = ?) was WHERE b.id = was.id RETURNING was.made_of`,
		at, p.id).Scan(&before)
	return before, err
}

func (p *postgres) close() error { return nil }

func (p *postgres) insert(ctx context.Context, tx *sql.Tx, file int64, c chunk, words string, hash []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO kb_chunk (kb, file, line, part, last, page, heading, content, hash, size, words)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, length(v), v FROM to_tsvector(CAST(? AS regconfig), ?) v`,
		p.id, file, c.Line, c.Part, c.Last, c.Page, c.Heading, c.Content, hash, p.language, plain(c.Heading+" "+c.Content+" "+words))
	return err
}

// plain is the words of s as unicode61 has them, which PostgreSQL's parser then takes for nothing else: without accents, and no
// character that joins words to a path or an address.
func plain(s string) string {
	bare, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), s)
	if err != nil {
		bare = s
	}
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(bare, func(r rune) bool { return !letter(r) }) {
		if len(w) <= chunkSize { // a lexeme may have 2 kB
			b.WriteString(strings.ToLower(w))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// vocabulary makes kb_word again, and takes the mean size of a passage. Then the database is asked to tidy up: whoever searches
// next should not have to wait until it does so by itself.
func (p *postgres) vocabulary(ctx context.Context) error {
	if err := p.count(ctx); err != nil {
		return err
	}
	for _, q := range []string{`SELECT gin_clean_pending_list('kb_chunk_words')`, `SELECT gin_clean_pending_list(to_regclass('kb_word_trgm'))`, `ANALYZE kb_file, kb_chunk, kb_word`} {
		if _, err := p.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) count(ctx context.Context) error {
	return p.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM kb_word WHERE kb = ?`, p.id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE kb_base SET mean = greatest((SELECT avg(size) FROM kb_chunk WHERE kb = ?), 1) WHERE id = ?`, p.id, p.id); err != nil {
			return err
		}
		last := int64(0)
		for {
			var next sql.NullInt64
			if err := tx.QueryRowContext(ctx, `SELECT max(id) FROM (SELECT id FROM kb_chunk WHERE kb = ? AND id > ? ORDER BY id LIMIT ?) s`, p.id, last, vocabularyStep).Scan(&next); err != nil || !next.Valid {
				return err
			}
			some := fmt.Sprintf(`SELECT words FROM kb_chunk WHERE kb = %d AND id > %d AND id <= %d`, p.id, last, next.Int64)
			if _, err := tx.ExecContext(ctx, `INSERT INTO kb_word AS w (kb, word, docs) SELECT ?, word, ndoc FROM ts_stat(?) ON CONFLICT (kb, word) DO UPDATE SET docs = w.docs + excluded.docs`, p.id, some); err != nil {
				return err
			}
			last = next.Int64
		}
	})
}

func (p *postgres) docs(ctx context.Context, words []string) ([]int, error) {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = plain(w)
	}
	rows, err := p.db.QueryContext(ctx, `SELECT least(coalesce(max(k.docs), 0), ?) FROM unnest(CAST(? AS TEXT[])) WITH ORDINALITY AS q (word, nr)
		LEFT JOIN LATERAL unnest(to_tsvector(CAST(? AS regconfig), q.word)) l ON true LEFT JOIN kb_word k ON k.kb = ? AND k.word = l.lexeme GROUP BY q.nr ORDER BY q.nr`,
		maxDocs, all, p.language, p.id)
	if err != nil {
		return nil, err
	}
	var out []int
	err = func() error {
		defer rows.Close()
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				return err
			}
			out = append(out, n)
		}
		return rows.Err()
	}()
	for i, n := range out {
		if n > 0 || err != nil {
			continue
		}
		// A pass may have added it, which has not counted words yet.
		err = p.db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM kb_chunk WHERE kb = ? AND words @@ plainto_tsquery(CAST(? AS regconfig), ?) LIMIT ?) s`,
			p.id, p.language, all[i], maxDocs).Scan(&out[i])
	}
	return out, err
}

func (p *postgres) alikes(ctx context.Context, words []string) ([][]string, error) {
	out, all := make([]*alike, len(words)), make([]string, len(words))
	for i, w := range words {
		all[i] = strings.TrimSpace(plain(w))
		out[i] = newAlike(all[i])
		if out[i] == nil {
			all[i] = ""
		}
	}
	query := `SELECT word FROM kb_word WHERE kb = ? AND length(word) BETWEEN length(q.word) - 2 AND length(q.word) + 2
		AND (left(word, 1) = left(q.word, 1) OR right(word, 1) = right(q.word, 1)) AND word !~ '[0-9]' LIMIT ?`
	most := vocabularyStep
	if p.trgm != "" {
		query = `SELECT word FROM kb_word WHERE kb = ? AND word OPERATOR(` + p.trgm + `.%) q.word AND word !~ '[0-9]' ORDER BY word OPERATOR(` + p.trgm + `.<->) q.word LIMIT ?`
		most = triSample
	}
	// Words of four letters that differ in one share a fifth of their trigrams: that is set before the words are looked up.
	rows, err := p.db.QueryContext(ctx, `SELECT q.nr, a.word FROM (SELECT set_config('pg_trgm.similarity_threshold', '0.2', true) AS set OFFSET 0) s
		CROSS JOIN LATERAL (SELECT word, nr FROM unnest(CAST(? AS TEXT[])) WITH ORDINALITY AS u (word, nr) WHERE s.set <> '' AND word <> '' OFFSET 0) q
		CROSS JOIN LATERAL (`+query+`) a`, all, p.id, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var nr int
		var word string
		if err := rows.Scan(&nr, &word); err != nil {
			return nil, err
		}
		out[nr-1].look(word)
	}
	return nearOf(out), rows.Err()
}

// find ranks by something like BM25: a word counts by its weight, by how often a passage has it, and in a short passage more.
func (p *postgres) find(ctx context.Context, terms []term, base string, limit int) ([]passage, error) {
	// What rare words a passage has decides. Only where there are none are all passages with a common one looked at.
	rare := false
	for _, t := range terms {
		rare = rare || t.docs > 0 && t.docs < maxDocs
	}
	var match, score []string
	args := []any{p.language}
	for _, t := range terms {
		words := t.near
		if len(words) == 0 {
			words = []string{t.word}
		}
		var one []string
		for _, w := range words {
			args = append(args, plain(w))
			how := `plainto_tsquery(CAST(?1 AS regconfig), ?%d)`
			if len(t.near) > 0 { // a lexeme already
				how = `plainto_tsquery('simple', ?%d)`
			}
			one = append(one, fmt.Sprintf(how, len(args)))
		}
		query := "(" + strings.Join(one, " || ") + ")"
		if !rare || t.docs < maxDocs {
			match = append(match, query)
		}
		// ts_rank is 0.61 for a word that a passage has once, and comes near 1; BM25 has 0.45 of what it comes near.
		score = append(score, fmt.Sprintf(`%g * greatest(0, ts_rank('{1,1,1,1}', c.words, %s) * 1.4 - 0.4)`, t.weight, query))
	}
	args = append(args, p.id, base, limit)
	n := len(args)
	rows, err := p.db.QueryContext(ctx, fmt.Sprintf(`SELECT `+columns+`, CAST(s.score AS FLOAT8) FROM (
			SELECT c.id, (1 + %g) * (1 + %g) / (1 + %g * (0.25 + 0.75 * c.size / b.mean)) * (%s) AS score
			FROM kb_chunk c JOIN kb_base b ON b.id = c.kb
			WHERE CAST(?1 AS regconfig) IS NOT NULL AND c.kb = ?%d AND c.words @@ (%s) AND (CAST(?%d AS TEXT) = '' OR EXISTS (SELECT 1 FROM kb_file f WHERE f.id = c.file AND f.base = ?%d))
			ORDER BY score DESC, c.id LIMIT ?%d
		) s JOIN kb_chunk c ON c.id = s.id JOIN kb_file d ON d.id = c.file WHERE s.score > 0 ORDER BY s.score DESC, c.id`,
		k1, k1, k1, strings.Join(score, " + "), n-2, strings.Join(match, " || "), n-1, n-1, n), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []passage
	for rows.Next() {
		var f passage
		if err := rows.Scan(append(f.targets(), &f.Score)...); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, rows.Err()
}
