package kb

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/mcphud/mcphud/session/base/store"
)

// schema takes the place of the tables before it, which were of several kinds of database. kb_fts stems and cuts the text of kb_chunk, which it
// does not store; parts has what its tokenizer leaves in one piece: names such as readFile, and ideographs. hash tells which embedding is a
// passage's. kb_tri has the vocabulary by trigrams, for mistyped words, the rarest trigrams first by kb_gram; these two are made again
// of kb_fts after each pass.
const schema = `DROP TABLE IF EXISTS kb_trivocab; DROP TABLE IF EXISTS kb_tri; DROP TABLE IF EXISTS kb_gram; DROP TABLE IF EXISTS kb_vocab; DROP TABLE IF EXISTS kb_fts;
	DROP TABLE IF EXISTS kb_chunk; DROP TABLE IF EXISTS kb_file; DROP TABLE IF EXISTS kb_meta;
	CREATE TABLE kb_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
	CREATE TABLE kb_file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, base TEXT NOT NULL, title TEXT NOT NULL,
		mtime INTEGER NOT NULL, size INTEGER NOT NULL, hash BLOB NOT NULL, pass INTEGER NOT NULL);
	CREATE TABLE kb_chunk (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES kb_file(id), line INTEGER NOT NULL, part INTEGER NOT NULL,
		last INTEGER NOT NULL, page INTEGER NOT NULL, heading TEXT NOT NULL, content TEXT NOT NULL, parts TEXT NOT NULL, hash BLOB NOT NULL);
	CREATE INDEX kb_chunk_file ON kb_chunk (file, line, part);
	CREATE VIRTUAL TABLE kb_fts USING fts5(heading, content, parts, content='kb_chunk', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');
	CREATE TRIGGER kb_chunk_in AFTER INSERT ON kb_chunk BEGIN
		INSERT INTO kb_fts (rowid, heading, content, parts) VALUES (new.id, new.heading, new.content, new.parts);
	END;
	CREATE TRIGGER kb_chunk_out AFTER DELETE ON kb_chunk BEGIN
		INSERT INTO kb_fts (kb_fts, rowid, heading, content, parts) VALUES ('delete', old.id, old.heading, old.content, old.parts);
	END;
	CREATE VIRTUAL TABLE kb_vocab USING fts5vocab(kb_fts, 'row');
	CREATE VIRTUAL TABLE kb_tri USING fts5(term, tokenize='trigram');
	CREATE VIRTUAL TABLE kb_trivocab USING fts5vocab(kb_tri, 'row');
	CREATE TABLE kb_gram (gram TEXT PRIMARY KEY, words INTEGER NOT NULL) WITHOUT ROWID;`

// open makes the tables, and empties what they hold of another source.
func (ix *index) open(ctx context.Context, source string) error {
	if err := ix.db.Migrate(ctx, "kb_index", store.Steps{SQLite: []string{schema}}); err != nil {
		return err
	}
	if err := ix.resetSource(ctx, source); err != nil {
		return err
	}
	return ix.prepare(ctx)
}

// resetSource empties an index that was made of something else than what.
func (ix *index) resetSource(ctx context.Context, what string) error {
	var was string
	err := ix.db.QueryRowContext(ctx, `SELECT value FROM kb_meta WHERE name = 'source'`).Scan(&was)
	if err == nil && was == what {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return ix.tx(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{
			`DELETE FROM kb_chunk`, `DELETE FROM kb_file`, `DELETE FROM kb_tri`, `DELETE FROM kb_gram`,
		} {
			if _, err := tx.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO kb_meta VALUES ('source', ?)`, what)
		return err
	})
}

func (ix *index) prepare(ctx context.Context) (err error) {
	for _, p := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&ix.search, `SELECT ` + columns + `, -f.rank
			FROM kb_fts f JOIN kb_chunk c ON c.id = f.rowid JOIN kb_file d ON d.id = c.file
			WHERE kb_fts MATCH ?1 AND (?2 = '' OR d.base = ?2) ORDER BY f.rank LIMIT ?3`},
		{&ix.count, `SELECT count(*) FROM (SELECT 1 FROM kb_fts WHERE kb_fts MATCH ? LIMIT ?)`},
		{&ix.gram, `SELECT words FROM kb_gram WHERE gram = ?`},
		{&ix.similar, `SELECT term FROM kb_tri WHERE kb_tri MATCH ? ORDER BY rank LIMIT ?`},
	} {
		if *p.to, err = ix.db.PrepareContext(ctx, p.query); err != nil {
			return err
		}
	}
	return nil
}

// insert adds a passage of a file. words are what is searched beside its heading and content.
func (ix *index) insert(ctx context.Context, tx *sql.Tx, file int64, c chunk, words string, hash []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO kb_chunk (file, line, part, last, page, heading, content, parts, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		file, c.Line, c.Part, c.Last, c.Page, c.Heading, c.Content, words, hash)
	return err
}

// vocabulary makes kb_tri again from what kb_fts holds. Terms with digits, most of them numbers and hashes, stand for
// nothing that is mistyped.
func (ix *index) vocabulary(ctx context.Context) error {
	return ix.tx(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{
			`DELETE FROM kb_tri`,
			`INSERT INTO kb_tri (term) SELECT '_' || term || '_' FROM kb_vocab WHERE length(term) BETWEEN 3 AND 24 AND term NOT GLOB '*[0-9]*'`,
			`DELETE FROM kb_gram`,
			`INSERT INTO kb_gram (gram, words) SELECT term, doc FROM kb_trivocab`,
		} {
			if _, err := tx.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
}

// docs are how many passages have each word, at most maxDocs.
func (ix *index) docs(ctx context.Context, words []string) ([]int, error) {
	out := make([]int, len(words))
	for i, w := range words {
		if err := ix.count.QueryRowContext(ctx, `"`+w+`"`, maxDocs).Scan(&out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// find returns the passages that have any of the words, the best first, with the weight of what they have as their score.
func (ix *index) find(ctx context.Context, terms []term, base string, limit int) (found []passage, err error) {
	var parts []string
	for _, t := range terms {
		words := t.similar
		if len(words) == 0 {
			words = []string{t.word}
		}
		parts = append(parts, `"`+strings.Join(words, `" OR "`)+`"`)
	}
	rows, err := ix.search.QueryContext(ctx, strings.Join(parts, " OR "), base, limit)
	return store.Collect(rows, err, func(r *sql.Rows) (p passage, err error) {
		return p, r.Scan(append(p.targets(), &p.Score)...)
	})
}
