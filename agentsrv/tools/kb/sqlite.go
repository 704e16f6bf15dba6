package kb

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/mcphud/mcphud/session/base/store"
)

// schema. kb_fts indexes the text of kb_chunk, which it does not store, and kb_tri has the vocabulary by trigrams, for
// mistyped words, the rarest trigrams first by kb_gram; these two are made again of kb_fts after each pass.
var schema = []string{
	`CREATE TABLE kb_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
	CREATE TABLE kb_file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, base TEXT NOT NULL, title TEXT NOT NULL,
		mtime INTEGER NOT NULL, size INTEGER NOT NULL, hash BLOB NOT NULL, pass INTEGER NOT NULL);
	CREATE TABLE kb_chunk (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES kb_file(id), line INTEGER NOT NULL,
		part INTEGER NOT NULL, last INTEGER NOT NULL, heading TEXT NOT NULL, content TEXT NOT NULL);
	CREATE INDEX kb_chunk_file ON kb_chunk (file, line, part);
	CREATE VIRTUAL TABLE kb_fts USING fts5(heading, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
	INSERT INTO kb_fts (kb_fts, rank) VALUES ('rank', 'bm25(3.0, 1.0)');
	CREATE VIRTUAL TABLE kb_vocab USING fts5vocab(kb_fts, 'row');
	CREATE TABLE kb_word (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, docs INTEGER NOT NULL);
	CREATE VIRTUAL TABLE kb_tri USING fts5(term, content='', contentless_delete=1, tokenize='trigram');
	CREATE VIRTUAL TABLE kb_trivocab USING fts5vocab(kb_tri, 'row');
	CREATE TABLE kb_gram (gram TEXT PRIMARY KEY, words INTEGER NOT NULL) WITHOUT ROWID;`,

	// FTS5 stems and cuts the text itself. parts has what its tokenizer leaves in one piece: names such as readFile, and
	// ideographs.
	`DROP TABLE kb_trivocab; DROP TABLE kb_tri; DROP TABLE kb_gram; DROP TABLE kb_word; DROP TABLE kb_vocab; DROP TABLE kb_fts;
	DROP TABLE kb_chunk; DELETE FROM kb_file;
	CREATE TABLE kb_chunk (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES kb_file(id), line INTEGER NOT NULL,
		part INTEGER NOT NULL, last INTEGER NOT NULL, heading TEXT NOT NULL, content TEXT NOT NULL, parts TEXT NOT NULL);
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
	CREATE TABLE kb_gram (gram TEXT PRIMARY KEY, words INTEGER NOT NULL) WITHOUT ROWID;`,

	`ALTER TABLE kb_chunk ADD COLUMN page INTEGER NOT NULL DEFAULT 0`,

	// kb is the same in all rows: each base has a file of its own. hash tells which embedding is a passage's.
	`DELETE FROM kb_chunk; DROP TABLE kb_file;
	CREATE TABLE kb_file (id INTEGER PRIMARY KEY, kb INTEGER NOT NULL, path TEXT NOT NULL, base TEXT NOT NULL, title TEXT NOT NULL,
		mtime INTEGER NOT NULL, size INTEGER NOT NULL, hash BLOB NOT NULL, pass INTEGER NOT NULL, UNIQUE (kb, path));
	ALTER TABLE kb_chunk ADD COLUMN hash BLOB NOT NULL DEFAULT x''`,
}

// sqlite is an index by FTS5.
type sqlite struct {
	*index
	search, count, gram, alike *sql.Stmt
}

func (s *sqlite) open(ctx context.Context, source string) error {
	if err := s.db.Migrate(ctx, "kb", store.Steps{SQLite: schema}); err != nil {
		return err
	}
	if err := s.belongs(ctx, source); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// belongs empties an index that was made of something else than what.
func (s *sqlite) belongs(ctx context.Context, what string) error {
	var was string
	err := s.db.QueryRowContext(ctx, `SELECT value FROM kb_meta WHERE name = 'source'`).Scan(&was)
	if err == nil && was == what {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
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

func (s *sqlite) prepare(ctx context.Context) (err error) {
	for _, p := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&s.search, `SELECT ` + columns + `, -f.rank
			FROM kb_fts f JOIN kb_chunk c ON c.id = f.rowid JOIN kb_file d ON d.id = c.file
			WHERE kb_fts MATCH ?1 AND (?2 = '' OR d.base = ?2) ORDER BY f.rank LIMIT ?3`},
		{&s.count, `SELECT count(*) FROM (SELECT 1 FROM kb_fts WHERE kb_fts MATCH ? LIMIT ?)`},
		{&s.gram, `SELECT words FROM kb_gram WHERE gram = ?`},
		{&s.alike, `SELECT term FROM kb_tri WHERE kb_tri MATCH ? ORDER BY rank LIMIT ?`},
	} {
		if *p.to, err = s.db.PrepareContext(ctx, p.query); err != nil {
			return err
		}
	}
	return nil
}

// made says that they were nowhere else: a file is emptied that was made of another folder, and is nobody else's.
func (s *sqlite) made(context.Context, string) (string, error) { return "", nil }

func (s *sqlite) close() error {
	var err error
	for _, p := range []*sql.Stmt{s.search, s.count, s.gram, s.alike} {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	return err
}

func (s *sqlite) insert(ctx context.Context, tx *sql.Tx, file int64, c chunk, words string, hash []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO kb_chunk (file, line, part, last, page, heading, content, parts, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		file, c.Line, c.Part, c.Last, c.Page, c.Heading, c.Content, words, hash)
	return err
}

// vocabulary makes kb_tri again from what kb_fts holds. Terms with digits, most of them numbers and hashes, stand for
// nothing that is mistyped.
func (s *sqlite) vocabulary(ctx context.Context) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
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

func (s *sqlite) docs(ctx context.Context, words []string) ([]int, error) {
	out := make([]int, len(words))
	for i, w := range words {
		if err := s.count.QueryRowContext(ctx, `"`+w+`"`, maxDocs).Scan(&out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *sqlite) find(ctx context.Context, terms []term, base string, limit int) (found []passage, err error) {
	var parts []string
	for _, t := range terms {
		words := t.near
		if len(words) == 0 {
			words = []string{t.word}
		}
		parts = append(parts, `"`+strings.Join(words, `" OR "`)+`"`)
	}
	rows, err := s.search.QueryContext(ctx, strings.Join(parts, " OR "), base, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p passage
		if err := rows.Scan(append(p.targets(), &p.Score)...); err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	return found, rows.Err()
}
