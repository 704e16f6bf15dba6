package calls

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Query selects calls.
type Query struct {
	Identity string // of a server; "" for all
	Server   string // the name of servers; "" for all
	Method   string
	Target   string
	Search   string // words that are in the call: its target, arguments, names, note, message
	Pinned   bool   // only those that are pinned or have a name
	Before   int64  // id that they are older than; 0 for none
	Limit    int    // 0 for all
}

const callColumns = `id, at, took, about, method, target, arguments, meta, timeout, secrets, verdict, code, message, size, hash,
	EXISTS (SELECT 1 FROM results r WHERE r.hash = calls.hash), name, note, pinned, identity`

// List returns calls, the newest first.
func (h *History) List(ctx context.Context, q Query) ([]Call, error) {
	db, err := h.readDB(ctx)
	if err != nil || db == nil {
		return nil, err
	}
	where, args := []string{"1"}, []any{}
	is := func(column, value string) {
		if value != "" {
			where, args = append(where, column+" = ?"), append(args, value)
		}
	}
	is("identity", q.Identity)
	is("server", q.Server)
	is("method", q.Method)
	is("target", q.Target)
	if q.Pinned {
		where = append(where, `NOT (`+expirable+`)`)
	}
	if q.Before > 0 {
		where, args = append(where, "id < ?"), append(args, q.Before)
	}
	for _, word := range strings.Fields(q.Search) {
		where = append(where, `(target || ' ' || server || ' ' || name || ' ' || note || ' ' || message || ' ' || verdict || ' ' || coalesce(arguments, '')) LIKE ? ESCAPE '\'`)
		args = append(args, "%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(word)+"%")
	}
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := db.QueryContext(ctx, `SELECT `+callColumns+` FROM calls WHERE `+strings.Join(where, " AND ")+` ORDER BY id DESC LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, h.explainErr("read", err)
	}
	defer rows.Close()
	var out []Call
	for rows.Next() {
		c, err := scan(rows.Scan)
		if err != nil {
			return nil, h.explainErr("read", err)
		}
		out = append(out, c)
	}
	return out, h.explainErr("read", rows.Err())
}

// Item is what a call is of: a tool by its name, a prompt, or a resource by its URI.
type Item struct{ Method, Target string }

// Counts are how many calls of each item a server had, those included that wait to be written; rev is the history's at that time.
func (h *History) Counts(ctx context.Context, identity string) (counts map[Item]int, rev uint64, err error) {
	if err := h.awaitWritten(ctx); err != nil {
		return nil, 0, err
	}
	rev = h.Rev()
	db, err := h.readDB(ctx)
	if err != nil || db == nil {
		return nil, rev, err
	}
	rows, err := db.QueryContext(ctx, `SELECT method, target, count(*) FROM calls WHERE identity = ? GROUP BY method, target`, identity)
	if err != nil {
		return nil, rev, h.explainErr("read", err)
	}
	defer rows.Close()
	counts = map[Item]int{}
	for rows.Next() {
		var of Item
		var n int
		if err := rows.Scan(&of.Method, &of.Target, &n); err != nil {
			return nil, rev, h.explainErr("read", err)
		}
		counts[of] = n
	}
	return counts, rev, h.explainErr("read", rows.Err())
}

// readDB opens the database to read from; nil if nothing was kept yet.
func (h *History) readDB(ctx context.Context) (interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, error,
) {
	if h == nil {
		return nil, nil
	}
	db, err := h.database(ctx, false)
	if db == nil {
		return nil, err
	}
	return db, err
}

func scan(get func(...any) error) (c Call, err error) {
	var at, timeout int64
	var about, secrets string
	var args, meta []byte
	err = get(&c.ID, &at, &c.Took, &about, &c.Method, &c.Target, &args, &meta, &timeout, &secrets, &c.Verdict, &c.Code, &c.Message, &c.Size, &c.Hash,
		&c.Kept, &c.Name, &c.Note, &c.Pinned, &c.Server.identity)
	if err != nil {
		return c, err
	}
	c.At, c.Timeout = Time{time.UnixMilli(at)}, time.Duration(timeout)
	if secrets != "" {
		c.Secrets = strings.Split(secrets, "\n")
	}
	if err := json.Unmarshal([]byte(about), &c.Server); err != nil {
		return c, err
	}
	if c.Arguments, err = unpack(args); err != nil {
		return c, err
	}
	c.Meta, err = unpack(meta)
	return c, err
}

// selectOne returns the newest call that a condition selects, or ErrNone.
func (h *History) selectOne(ctx context.Context, where string, args ...any) (Call, error) {
	db, err := h.readDB(ctx)
	if err != nil {
		return Call{}, err
	}
	if db == nil {
		return Call{}, ErrNone
	}
	c, err := scan(db.QueryRowContext(ctx, `SELECT `+callColumns+` FROM calls WHERE `+where+` ORDER BY id DESC LIMIT 1`, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return c, ErrNone
	}
	return c, h.explainErr("read", err)
}

// Get is the call with an id.
func (h *History) Get(ctx context.Context, id int64) (Call, error) {
	return h.selectOne(ctx, `id = ?`, id)
}

// Named is the call with a name.
func (h *History) Named(ctx context.Context, name string) (Call, error) {
	return h.selectOne(ctx, `name = ?`, name)
}

// Find is the call with an id or a name, as text, or the newest one for "last".
func (h *History) Find(ctx context.Context, word string) (c Call, err error) {
	if id, wrong := strconv.ParseInt(word, 10, 64); wrong == nil {
		c, err = h.Get(ctx, id)
	} else if c, err = h.Named(ctx, word); errors.Is(err, ErrNone) && word == "last" {
		c, err = h.selectOne(ctx, `1`)
	}
	if errors.Is(err, ErrNone) {
		err = fmt.Errorf("%w: %s", ErrNone, strconv.Quote(word))
	}
	return c, err
}

// Previous is the newest older call of the same target at the same server.
func (h *History) Previous(ctx context.Context, c Call) (Call, error) {
	return h.selectOne(ctx, `identity = ? AND method = ? AND target = ? AND id < ?`, c.Server.identity, c.Method, c.Target, c.ID)
}

// Result is the result of a call, its secrets hidden; nil where it had none, or it is not kept.
func (h *History) Result(ctx context.Context, c Call) ([]byte, error) {
	db, err := h.readDB(ctx)
	if err != nil || db == nil {
		return nil, err
	}
	var body []byte
	err = db.QueryRowContext(ctx, `SELECT body FROM results WHERE hash = ?`, c.Hash).Scan(&body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, h.explainErr("read", err)
	}
	return unpack(body)
}

// Names are the names that calls have.
func (h *History) Names(ctx context.Context) ([]string, error) {
	calls, err := h.List(ctx, Query{Pinned: true})
	var out []string
	for _, c := range calls {
		if c.Name != "" {
			out = append(out, c.Name)
		}
	}
	return out, err
}
