package calls

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mcphud/mcphud/session/base/store"
)

// add writes calls in one transaction, and removes what is beyond the limits.
func (h *History) add(ctx context.Context, entries []entry) error {
	return h.write(ctx, func(tx *sql.Tx) error {
		for _, e := range entries {
			about, err := json.Marshal(e.Server)
			if err != nil {
				return err
			}
			if e.result != nil {
				if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO results VALUES (?, ?)`, e.Hash, pack(e.result)); err != nil {
					return err
				}
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO calls (at, took, identity, server, about, method, target, arguments, meta, timeout, secrets, verdict, code, message, size, hash)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				e.At.UnixMilli(), e.Took, e.Server.identity, e.Server.Name, string(about), e.Method, e.Target, pack(e.Arguments), pack(e.Meta), int64(e.Timeout),
				strings.Join(e.Secrets, "\n"), e.Verdict, e.Code, e.Message, e.Size, e.Hash)
			if err != nil {
				return err
			}
		}
		return h.prune(ctx, tx)
	})
}

// write runs f in a transaction.
func (h *History) write(ctx context.Context, f func(*sql.Tx) error) error {
	db, err := h.database(ctx, true)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return h.explainErr("write", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	// Of this connection: what is removed is overwritten.
	if _, err := tx.ExecContext(ctx, `PRAGMA secure_delete = ON`); err != nil {
		return h.explainErr("write", err)
	}
	if err := f(tx); err != nil {
		return h.explainErr("write", err)
	}
	if err := tx.Commit(); err != nil {
		return h.explainErr("write", err)
	}
	h.rev.Add(1)
	return nil
}

// expirable selects the calls that Limits apply to: those without a pin and a name.
const expirable = `pinned = 0 AND name = ''`

// prune removes the oldest calls beyond the limits, and results that no call has any more.
func (h *History) prune(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM calls WHERE `+expirable+` AND at < ?`, time.Now().Add(-h.limits.Age).UnixMilli()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE `+expirable+` ORDER BY id DESC LIMIT -1 OFFSET ?)`, h.limits.Calls); err != nil {
		return err
	}
	for {
		if err := sweep(ctx, tx); err != nil {
			return err
		}
		var total, left int64
		err := tx.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(length(body)), 0) FROM results)
			+ (SELECT coalesce(sum(coalesce(length(arguments), 0) + coalesce(length(meta), 0) + length(target)), 0) FROM calls), (SELECT count(*) FROM calls WHERE `+expirable+`)`).Scan(&total, &left)
		if err != nil || total <= h.limits.Bytes || left == 0 {
			return err
		}
		// an eighth at a time
		if _, err := tx.ExecContext(ctx, `DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE `+expirable+` ORDER BY id LIMIT ?)`, max(left/8, 1)); err != nil {
			return err
		}
	}
}

// sweep removes results that no call has.
func sweep(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM results WHERE hash NOT IN (SELECT hash FROM calls)`)
	return err
}

// ErrNone says that there is no such call.
var ErrNone = errors.New("there is no such call in the history")

// ErrName is that of a name that a call cannot have; the text says why.
var ErrName = errors.New("cannot be a name")

// updateCall updates one call.
func (h *History) updateCall(ctx context.Context, id int64, set string, args ...any) error {
	return h.write(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE calls SET `+set+` WHERE id = ?`, append(args, id)...)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err == nil && n == 0 {
			return ErrNone
		}
		return err
	})
}

// Pin keeps a call for good, or no longer.
func (h *History) Pin(ctx context.Context, id int64, pinned bool) error {
	return h.updateCall(ctx, id, `pinned = ?`, pinned)
}

// Annotate sets the note of a call, "" for none.
func (h *History) Annotate(ctx context.Context, id int64, note string) error {
	if len(note) > maxText {
		return fmt.Errorf("a note has at most %d bytes", maxText)
	}
	return h.updateCall(ctx, id, `note = ?`, note)
}

// Rename names a call, or takes its name away. A call with a name is kept for good.
func (h *History) Rename(ctx context.Context, id int64, name string) error {
	if err := CheckLabel(name); name != "" && err != nil {
		return err
	}
	if other, err := h.Named(ctx, name); name != "" && err == nil && other.ID != id {
		return fmt.Errorf("%q %w: it is that of call %d", name, ErrName, other.ID)
	}
	return h.updateCall(ctx, id, `name = ?`, name)
}

// CheckLabel says what is wrong with a name in the history: one word, and not a number, so that it also can be the name of a file.
func CheckLabel(name string) error {
	digits := true
	for i, r := range name {
		ok := r == '-' || r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if !ok || i == 0 && (r == '.' || r == '-') {
			return fmt.Errorf("%q %w: letters, digits, - _ and . are, and no - or . in front", name, ErrName)
		}
		digits = digits && unicode.IsDigit(r)
	}
	if digits || len(name) > 100 {
		return fmt.Errorf("%q %w: it has a letter, and at most 100 bytes", name, ErrName)
	}
	return nil
}

// Delete removes calls. Nothing of them is left in the file.
func (h *History) Delete(ctx context.Context, ids ...int64) error {
	err := h.write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			r, err := tx.ExecContext(ctx, `DELETE FROM calls WHERE id = ?`, id)
			if err != nil {
				return err
			}
			if n, err := r.RowsAffected(); err == nil && n == 0 {
				return fmt.Errorf("%w: %d", ErrNone, id)
			}
		}
		return sweep(ctx, tx)
	})
	if err != nil {
		return err
	}
	db, err := h.database(ctx, false)
	if err != nil || db == nil {
		return err
	}
	return h.explainErr("write", checkpoint(ctx, db))
}

// Clear removes all calls, or those of the servers of one name, also pinned ones, and says how many. Nothing of them is left in the
// file.
func (h *History) Clear(ctx context.Context, server string) (n int64, err error) {
	db, err := h.database(ctx, false)
	if err != nil || db == nil {
		return 0, err
	}
	err = h.write(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `DELETE FROM calls WHERE ? = '' OR server = ?`, server, server)
		if err != nil {
			return err
		}
		if n, err = r.RowsAffected(); err != nil {
			return err
		}
		return sweep(ctx, tx)
	})
	if err != nil {
		return 0, err
	}
	return n, h.explainErr("shrink", vacuum(ctx, db))
}

func vacuum(ctx context.Context, db *store.DB) error {
	if _, err := db.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	return checkpoint(ctx, db)
}

// checkpoint has nothing left of earlier pages beside the file. Where another process reads them it is that one's to do.
func checkpoint(ctx context.Context, db *store.DB) error {
	_, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// compressFrom is the size in bytes from which values are compressed.
const compressFrom = 4 << 10

// pack is a value as it is written: as it is, or compressed.
func pack(value []byte) []byte {
	if len(value) < compressFrom {
		return slices.Clip(value)
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil { // the level is valid
		return value
	}
	_, _ = w.Write(value) // to memory
	_ = w.Close()
	return b.Bytes()
}

// unpack reads what pack made. JSON does not begin like a compressed file.
func unpack(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("a value in the history is damaged: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, 2*maxResult))
	if err != nil {
		return nil, fmt.Errorf("a value in the history is damaged: %w", err)
	}
	return out, nil
}
