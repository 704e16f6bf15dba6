package contract

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/importer"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const (
	callMethod = "tools/call"
	getMethod  = "prompts/get"
	readMethod = "resources/read"
)

// Recorded is a call that a client made, as a journal, HTTP archive or the history has it.
type Recorded struct {
	Server    string // our name for it, "" where nobody says
	Method    string // tools/call, prompts/get or resources/read
	Name      string // or URI
	Arguments []byte // nil for none
	Where     string // it is kept: in a file, and there the answer, or the request that has none
	Hidden    bool   // secrets were hidden before it was kept, as the history does
	// Answer is the result or the error, nil where none is kept. It is read when it is asked for, while Records.Call runs.
	Answer func() []byte

	sights []sight // by which Once knows it again; none of the history's, of which each record is a call
}

// Records reads recorded calls, one after the other. Its functions are called by Read and From, not at the same time.
type Records struct {
	Call    func(Recorded)
	Journal func(*journal.Journal) // a whole journal, before its calls; nil for nothing
	Files   int                    // that were read
	Broken  int                    // lines or files that could not be read

	err error // of who read them, see Recordings.Read
}

// Read reads the calls of a file, of each file of a folder, or of a history. Folders below are not read; a file of a folder that cannot be read
// counts as broken, and is an error only where no file can.
func (r *Records) Read(ctx context.Context, path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return r.file(ctx, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	read := 0
	for _, f := range entries {
		if !f.Type().IsRegular() {
			continue
		}
		if err := r.file(ctx, filepath.Join(path, f.Name())); err == nil {
			read++
		} else if ctx.Err() != nil {
			return err
		} else {
			r.Broken++
		}
	}
	if read == 0 {
		return fmt.Errorf("%s: no file in it holds recorded calls", path)
	}
	return nil
}

func (r *Records) file(ctx context.Context, path string) error {
	if database(path) {
		return r.history(ctx, path)
	}
	f, err := importer.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if err := f.Wait(ctx); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.Files++
	r.Broken += f.Progress().Bad
	return r.From(ctx, f.Journal, filepath.Base(path))
}

// From reads the calls of a journal: requests of the client, answered or not, in their order. name is what it is called in Recorded.Where.
func (r *Records) From(ctx context.Context, j *journal.Journal, name string) error {
	if r.Journal != nil {
		r.Journal(j)
	}
	j.Each(0, func(en *journal.Entry) bool {
		if en.Kind != journal.Request || en.Dir == journal.In || en.Method != callMethod && en.Method != getMethod && en.Method != readMethod {
			return ctx.Err() == nil
		}
		body, err := j.Body(en.Seq)
		params := jsonrpc.Get(body, "params")
		if err != nil || params == nil {
			r.Broken++
			return ctx.Err() == nil
		}
		c := Recorded{Server: en.Server, Method: en.Method, Name: jsonrpc.GetString(params, "name"), Arguments: jsonrpc.Get(params, "arguments"), Where: fmt.Sprintf("%s, entry %d", name, cmp.Or(en.Peer, en.Seq))}
		if en.Method == readMethod {
			c.Name, c.Arguments = jsonrpc.GetString(params, "uri"), nil
		}
		c.sights = sightsOf(en, r.Files, params, &c)
		peer := en.Peer
		c.Answer = func() []byte {
			if peer == 0 {
				return nil
			}
			body, err := j.Body(peer)
			if err != nil {
				return nil // it was dropped since
			}
			if result := jsonrpc.Get(body, "result"); result != nil {
				return result
			}
			return jsonrpc.Get(body, "error")
		}
		r.Call(c)
		return ctx.Err() == nil
	})
	return context.Cause(ctx)
}

// database reports whether a file is a history, by how files of SQLite begin; the name may be any.
func database(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 15)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "SQLite format 3"
}

// history reads the calls of a history, the latest first.
func (r *Records) history(ctx context.Context, path string) (err error) {
	h := calls.OpenHistory(path, calls.UsualLimits)
	defer func() {
		if bad := h.Close(); err == nil {
			err = bad
		}
	}()
	r.Files++
	for before := int64(0); ; {
		page, err := h.List(ctx, calls.Query{Before: before, Limit: 500})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, c := range page {
			answer := func() []byte {
				if !c.Kept {
					return nil
				}
				body, err := h.Result(ctx, c)
				if err != nil {
					return nil // as one that was not kept
				}
				return body
			}
			r.Call(Recorded{
				Server: c.Server.Name, Method: c.Method, Name: c.Target, Arguments: c.Arguments, Where: fmt.Sprintf("history, call %d", c.ID), Hidden: true, Answer: answer,
			})
			before = c.ID
		}
	}
}
