package kb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// edition changes when chunks are cut differently, so that an index of before is made again.
const edition = "4"

// index is the files and passages of one knowledge base in a database of SQLite, by FTS5.
type index struct {
	db     *store.DB
	ownsDB bool   // db was opened here, and close closes it
	folder string // of that database, which goes with it, "" where it is in memory or not our own
	unlock func() error

	search, count, gram, similar *sql.Stmt
}

// term is a word of a query.
type term struct {
	word    string
	docs    int      // passages that have it, at most maxDocs
	similar []string // words of the vocabulary that are searched for instead, where no passage has the word
	weight  float64
}

// passage is a row of the index that a search found.
type passage struct {
	id      int64
	part    int
	heading string
	hash    []byte
	Hit
}

// file is one indexed file without its chunks.
type file struct {
	Path, Base, Title string
	MTime, Size       int64
	Hash              []byte
}

// openIndex opens the index of the folder dir in db, and empties what db holds of another folder. An index that db cannot hold is this process's
// own: in memory without a db or a folder, in a temporary file where db is PostgreSQL.
func openIndex(ctx context.Context, db *store.DB, dir string) (ix *index, err error) {
	ix = &index{db: db}
	switch {
	case db == nil || dir == "":
		ix.db, err = store.Open("")
	case db.Dialect() == store.Postgres:
		err = ix.openScratch()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("knowledge base: %w", err), ix.close())
	}
	ix.ownsDB = ix.db != db
	if err := ix.open(ctx, edition+" "+dir); err != nil {
		return nil, errors.Join(fmt.Errorf("knowledge base: open its index: %w", err), ix.close())
	}
	return ix, nil
}

// scratch begins the names of folders for indexes that end with their process, and scratchFile is what these hold.
const scratch, scratchFile = "mcphud-kb-", "index.db"

func (ix *index) openScratch() (err error) {
	if ix.folder, err = os.MkdirTemp("", scratch); err != nil {
		return err
	}
	path := filepath.Join(ix.folder, scratchFile)
	if ix.unlock, err = store.Claim(path, "a running agent"); err != nil {
		return err
	}
	removeStale(path)
	ix.db, err = store.Open(path)
	return err
}

// removeStale removes the folders of processes that were killed, which have the text of all documents. own is the file of this one: where that
// is not locked, no other is either.
func removeStale(own string) {
	var taken *store.Taken
	if _, err := store.Claim(own, ""); !errors.As(err, &taken) {
		return
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), scratch+"*", scratchFile+".lock")) // fails for a bad pattern only
	for _, lock := range left {
		dir := filepath.Dir(lock)
		if at, err := os.Lstat(dir); err != nil || time.Since(at.ModTime()) < time.Minute || unixsocket.Private(dir) != nil { // another user's, or being made
			continue
		}
		if unlock, err := store.Claim(strings.TrimSuffix(lock, ".lock"), ""); err == nil {
			_ = errors.Join(unlock(), os.RemoveAll(dir)) // the next process tries again
		}
	}
}

func (ix *index) close() (err error) {
	for _, p := range []*sql.Stmt{ix.search, ix.count, ix.gram, ix.similar} {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	if ix.ownsDB {
		err = errors.Join(err, ix.db.Close())
	}
	if ix.unlock != nil {
		err = errors.Join(err, ix.unlock())
	}
	if ix.folder != "" {
		err = errors.Join(err, os.RemoveAll(ix.folder))
	}
	return err
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
		for i, f := range files {
			id, err := ix.replaceFile(ctx, tx, pass, f)
			if err != nil {
				return err
			}
			for _, c := range chunks[i] {
				// The title and the path are searched with the parts: the heading is shown, and a title often begins it.
				words := partsOf(c.Heading+" "+c.Content) + f.Title + " " + f.Path
				sum := sha256.Sum256([]byte(embeddingText(f.Title, c.Heading, c.Content)))
				if err := ix.insert(ctx, tx, id, c, words, sum[:hashSize]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (ix *index) replaceFile(ctx context.Context, tx *sql.Tx, pass int64, f file) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO kb_file (path, base, title, mtime, size, hash, pass) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET base = excluded.base, title = excluded.title, mtime = excluded.mtime, size = excluded.size, hash = excluded.hash, pass = excluded.pass
		RETURNING id`, f.Path, f.Base, f.Title, f.MTime, f.Size, f.Hash, pass).Scan(&id)
	if err != nil {
		return 0, err
	}
	return id, dropChunks(ctx, tx, id)
}

func dropChunks(ctx context.Context, tx *sql.Tx, file int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM kb_chunk WHERE file = ?`, file)
	return err
}

// storedFile is what the index has of a file.
func (ix *index) storedFile(ctx context.Context, path string) (f file, ok bool, err error) {
	err = ix.db.QueryRowContext(ctx, `SELECT mtime, size, hash FROM kb_file WHERE path = ?`, path).Scan(&f.MTime, &f.Size, &f.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return f, false, nil
	}
	return f, err == nil, err
}

// markSeen marks a file whose content is as before as seen by a pass.
func (ix *index) markSeen(ctx context.Context, pass int64, f file) error {
	_, err := ix.db.ExecContext(ctx, `UPDATE kb_file SET pass = ?, mtime = ?, size = ? WHERE path = ?`, pass, f.MTime, f.Size, f.Path)
	return err
}

// removeUnseen removes the files that the pass did not see.
func (ix *index) removeUnseen(ctx context.Context, pass int64) (gone int, err error) {
	for {
		var id int64
		err := ix.db.QueryRowContext(ctx, `SELECT id FROM kb_file WHERE pass <> ? LIMIT 1`, pass).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return gone, nil
		}
		if err == nil {
			err = ix.tx(ctx, func(tx *sql.Tx) error {
				if err := dropChunks(ctx, tx, id); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, `DELETE FROM kb_file WHERE id = ?`, id)
				return err
			})
		}
		if err != nil {
			return gone, err
		}
		gone++
	}
}

func (ix *index) size(ctx context.Context) (files, chunks int, err error) {
	err = ix.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM kb_file), (SELECT count(*) FROM kb_chunk)`).Scan(&files, &chunks)
	if err != nil {
		return 0, 0, fmt.Errorf("knowledge base: count what is indexed: %w", err)
	}
	return files, chunks, nil
}

// columns are those of a passage, of kb_chunk c and kb_file d, in the order of targets.
const columns = `c.id, c.line, c.part, c.last, c.page, c.heading, c.content, c.hash, d.path, d.base, d.title`

func (p *passage) targets() []any {
	return []any{&p.id, &p.Line, &p.part, &p.LastLine, &p.Page, &p.heading, &p.Content, &p.hash, &p.Path, &p.Base, &p.Title}
}
