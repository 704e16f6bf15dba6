package kb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/session/store"
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
}

// edition changes when chunks are cut differently, so that an index of before is made again.
const edition = "2"

// index is the tables above in one database.
type index struct {
	db  *store.DB
	own bool // db was opened here

	search, count, gram, alike *sql.Stmt
}

// file is one indexed file without its chunks.
type file struct {
	Path, Base, Title string
	MTime, Size       int64
	Hash              []byte
}

// openIndex opens the index of the folder dir in db, or in memory where db is nil. What db holds of another folder goes.
func openIndex(ctx context.Context, db *store.DB, dir string) (*index, error) {
	ix := &index{db: db}
	if db == nil || dir == "" {
		mem, err := store.Open("")
		if err != nil {
			return nil, fmt.Errorf("knowledge base: %w", err)
		}
		ix.db, ix.own = mem, true
	}
	err := ix.db.Migrate(ctx, "kb", schema...)
	if err == nil {
		err = ix.belongs(ctx, edition+" "+dir)
	}
	if err == nil {
		err = ix.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("knowledge base: open its index: %w", err), ix.close())
	}
	return ix, nil
}

// belongs empties an index that was made of something else than what.
func (ix *index) belongs(ctx context.Context, what string) error {
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
	for _, s := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&ix.search, `SELECT c.line, c.part, c.last, c.page, c.heading, c.content, d.path, d.base, d.title, snippet(kb_fts, 1, char(0x10FFFF), '', '…', 64), -f.rank
			FROM kb_fts f JOIN kb_chunk c ON c.id = f.rowid JOIN kb_file d ON d.id = c.file
			WHERE kb_fts MATCH ?1 AND (?2 = '' OR d.base = ?2) ORDER BY f.rank LIMIT ?3`},
		{&ix.count, `SELECT count(*) FROM (SELECT 1 FROM kb_fts WHERE kb_fts MATCH ? LIMIT ?)`},
		{&ix.gram, `SELECT words FROM kb_gram WHERE gram = ?`},
		{&ix.alike, `SELECT term FROM kb_tri WHERE kb_tri MATCH ? ORDER BY rank LIMIT ?`},
	} {
		if *s.to, err = ix.db.PrepareContext(ctx, s.query); err != nil {
			return err
		}
	}
	return nil
}

func (ix *index) tx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := ix.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// put replaces what the index holds of the given files, in one transaction.
func (ix *index) put(ctx context.Context, pass int64, files []file, chunks [][]chunk) error {
	return ix.tx(ctx, func(tx *sql.Tx) error {
		row, err := tx.PrepareContext(ctx, `INSERT INTO kb_chunk (file, line, part, last, page, heading, content, parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer row.Close()
		for i, f := range files {
			id, err := replaceFile(ctx, tx, pass, f)
			if err != nil {
				return err
			}
			for _, c := range chunks[i] {
				// The title and the path are searched with the parts: the heading is shown, and a title often begins it.
				parts := partsOf(c.Heading+" "+c.Content) + f.Title + " " + f.Path
				if _, err := row.ExecContext(ctx, id, c.Line, c.Part, c.Last, c.Page, c.Heading, c.Content, parts); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func replaceFile(ctx context.Context, tx *sql.Tx, pass int64, f file) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id FROM kb_file WHERE path = ?`, f.Path).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		res, err := tx.ExecContext(ctx, `INSERT INTO kb_file (path, base, title, mtime, size, hash, pass) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			f.Path, f.Base, f.Title, f.MTime, f.Size, f.Hash, pass)
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	case err != nil:
		return 0, err
	}
	if err := dropChunks(ctx, tx, id); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE kb_file SET base = ?, title = ?, mtime = ?, size = ?, hash = ?, pass = ? WHERE id = ?`,
		f.Base, f.Title, f.MTime, f.Size, f.Hash, pass, id)
	return id, err
}

func dropChunks(ctx context.Context, tx *sql.Tx, file int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM kb_chunk WHERE file = ?`, file)
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

func (ix *index) size(ctx context.Context) (files, chunks int, err error) {
	err = ix.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM kb_file), (SELECT count(*) FROM kb_chunk)`).Scan(&files, &chunks)
	if err != nil {
		return 0, 0, fmt.Errorf("knowledge base: count what is indexed: %w", err)
	}
	return files, chunks, nil
}

func (ix *index) close() error {
	var err error
	for _, s := range []*sql.Stmt{ix.search, ix.count, ix.gram, ix.alike} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if ix.own {
		err = errors.Join(err, ix.db.Close())
	}
	return err
}
