package task

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// kvVersion is of what a header says. A replica refuses records of later ones.
const kvVersion = 1

// Results up to inlineMax are with the record, those up to valueMax beside it, and larger ones in the object store.
const (
	inlineMax = 4 << 10
	valueMax  = 256 << 10
)

// header is a record in a bucket: JSON in one line, and after that the result if it is small. All replicas have all headers in
// memory.
type header struct {
	V         int                        `json:"v"`
	ID        string                     `json:"id"`
	Tool      string                     `json:"tool"`
	Principal string                     `json:"principal,omitempty"`
	Tenant    string                     `json:"tenant,omitempty"`
	Session   string                     `json:"session,omitempty"`
	Created   int64                      `json:"created"` // this and the times below: milliseconds since 1970
	Updated   int64                      `json:"updated"`
	Expires   int64                      `json:"expires"`
	Modern    bool                       `json:"modern,omitempty"`
	Origin    string                     `json:"origin"`
	State     state                      `json:"state"`
	Message   string                     `json:"message,omitempty"`
	ToolError bool                       `json:"toolError,omitempty"`
	Error     *jsonrpc.Error             `json:"error,omitempty"`
	Inputs    map[string]json.RawMessage `json:"inputs,omitempty"`
	Size      int64                      `json:"size,omitempty"`
	Place     uint64                     `json:"place,omitempty"`  // the first revision, 0 in that
	Result    string                     `json:"result,omitempty"` // where it is: "inline", a key, or an object
	Object    bool                       `json:"object,omitempty"` // it is an object
	Log       bool                       `json:"log,omitempty"`    // there is one
}

// headerOf is what is kept of r, without the result and where that is.
func headerOf(r *record) *header {
	return &header{
		V: kvVersion, ID: r.ID, Tool: r.Tool, Principal: r.Owner.Principal, Tenant: r.Owner.Tenant, Session: r.Owner.Session,
		Created: r.Created.UnixMilli(), Updated: r.Updated.UnixMilli(), Expires: r.Expires.UnixMilli(),
		Modern: r.Modern, Origin: r.Origin, State: r.State, Message: r.Message, ToolError: r.ToolError, Error: r.Error, Inputs: r.Inputs,
	}
}

// record is h without what is beside it.
func (h *header) record() *record {
	return &record{
		ID: h.ID, Tool: h.Tool, Owner: owner{h.Principal, h.Tenant, h.Session},
		Created: time.UnixMilli(h.Created), Updated: time.UnixMilli(h.Updated), Expires: time.UnixMilli(h.Expires),
		Modern: h.Modern, Origin: h.Origin, State: h.State, Message: h.Message, ToolError: h.ToolError, Error: h.Error, Inputs: h.Inputs,
	}
}

// usage is what the record counts for its tenant.
func (h *header) usage() usage {
	return usage{tasks: 1, bytes: h.Size, open: boolInt(!h.State.isTerminal())}
}

// errNewer is the error of a record that this version cannot read in full.
var errNewer = fmt.Errorf("the task was written by a newer version of the agent: upgrade this replica%w", jsonrpc.Hidden(kit.ErrUnreadable))

// decode is the header in a value, and the result behind it.
func decode(value []byte) (h *header, inline []byte, err error) {
	line, inline, _ := bytes.Cut(value, []byte("\n"))
	h = &header{}
	if err := json.Unmarshal(line, h); err != nil {
		return nil, nil, fmt.Errorf("the task's record is not valid JSON: %w%w", err, jsonrpc.Hidden(kit.ErrUnreadable))
	}
	if h.V > kvVersion {
		return h, inline, errNewer
	}
	return h, inline, nil
}

// encode is decode's inverse.
func encode(h *header, inline []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if inline == nil {
		return line, nil
	}
	return append(append(line, '\n'), inline...), nil
}

// The keys of a bucket. Replicas watch what begins with "s.".
func stateKey(id string) string         { return "s." + id }
func logKey(id string) string           { return "l." + id }
func presenceKey(replica string) string { return "p." + replica }

// store puts a result where its size belongs, under a name of its own, since another replica may have another one.
func (k *kvTable) store(ctx context.Context, h *header, result []byte) (inline []byte, err error) {
	switch {
	case result == nil:
		return nil, nil
	case len(result) <= inlineMax:
		h.Result = "inline"
		return result, nil
	}
	h.Result, h.Object = "v."+h.ID+"."+rand.Text(), len(result) > valueMax
	kv, _, objects := k.handles()
	if h.Object {
		err = natsconn.PutObject(ctx, objects, h.Result, result)
	} else {
		_, err = kv.Put(ctx, h.Result, result)
	}
	return nil, err
}

// readResult reads the result of h: by its size it is inline behind the header, in a key of its own, or in the object store.
func (k *kvTable) readResult(ctx context.Context, h *header, inline []byte) ([]byte, error) {
	kv, _, objects := k.handles()
	switch {
	case h.Result == "":
		return nil, nil
	case h.Result == "inline":
		return inline, nil
	case h.Object:
		return natsconn.GetObject(ctx, objects, h.Result)
	}
	e, err := kv.Get(ctx, h.Result)
	if err != nil {
		return nil, err
	}
	return e.Value(), nil
}

// removeParts removes the result and log that are stored beside a record. What it cannot remove expires with the bucket's own TTL.
func (k *kvTable) removeParts(ctx context.Context, h *header) {
	_, _, objects := k.handles()
	switch {
	case h.Object:
		_ = objects.Delete(ctx, h.Result)
	case h.Result != "" && h.Result != "inline":
		k.erase(ctx, h.Result)
	}
	if h.Log {
		k.erase(ctx, logKey(h.ID))
	}
}

// erase removes a value, or what its deletion left, without a trace.
func (k *kvTable) erase(ctx context.Context, key string) {
	kv, stream, _ := k.handles()
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject("$KV."+kv.Bucket()+"."+key)); err != nil {
		k.log.Debug("tasks: a value of the bucket is left for later", "key", key, "err", err)
	}
}

// removeOrphans removes large results older than age whose records are gone: replicas that were killed leave some.
func (k *kvTable) removeOrphans(ctx context.Context, age time.Duration) error {
	_, _, objects := k.handles()
	all, err := objects.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, o := range all {
		_, rest, _ := strings.Cut(o.Name, ".")
		id, _, _ := strings.Cut(rest, ".")
		if _, there := k.index.get(id); there || k.now().Sub(o.ModTime) < age {
			continue
		}
		if err := objects.Delete(ctx, o.Name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return err
		}
	}
	return nil
}

// isNotFound reports whether an error says that a key is not in the bucket.
func isNotFound(err error) bool { return errors.Is(err, jetstream.ErrKeyNotFound) }
