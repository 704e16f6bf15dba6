package described

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/mcpb"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
)

// Offer is a server that somebody described, and that may have to be told something before it can start.
type Offer struct {
	Name   string // for people
	Scope  string // what its secrets are kept under
	From   string // where the description is
	Inputs []setup.Input
	After  []registry.Instruction // what its publisher says to do once it is installed

	server func(setup.Values) (config.Server, error)
	bundle *mcpb.Bundle // nil where it is none
	ready  func() error
}

// Server is what starts or contacts it with these values.
func (o *Offer) Server(v setup.Values) (config.Server, error) { return o.server(v) }

// Missing are what the server that was made misses on this machine, as far as that is seen without starting anything.
func (o *Offer) Missing(s config.Server) []string {
	if o.bundle == nil {
		return nil
	}
	return o.bundle.Missing(s)
}

// Lacks are what the server that was made misses on this machine; a well-known runtime is asked for its version.
func (o *Offer) Lacks(ctx context.Context, s config.Server) []string {
	if o.bundle == nil {
		return nil
	}
	return o.bundle.Needs(ctx, s)
}

// Prepare puts what is started on this machine where there is something to put.
func (o *Offer) Prepare() error {
	if o.ready == nil {
		return nil
	}
	return o.ready()
}

// Entry is the description of a server, in a file or in a registry.
type Entry struct {
	registry.Entry
	From  string // the URL of the registry, or the file
	Scope string // what the secrets of the server are kept under
}

// Listed is what a registry says of a server.
func Listed(c *registry.Client, e registry.Entry) Entry { return Entry{e, c.Base(), c.Scope(e.Name)} }

// File is the server.json that a file is, without a Document if it is something else.
func File(name string) (e Entry) {
	if !strings.HasSuffix(name, ".json") {
		return e
	}
	b, err := files.Read(name, 1<<20)
	if err != nil {
		return e
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if d, err := registry.Parse(b); err == nil && (filepath.Base(name) == "server.json" || d.Packages != nil || d.Remotes != nil || strings.Contains(d.Schema, "server.schema.json")) {
		return Entry{registry.Entry{Document: d}, name, registry.FileScope(b)}
	}
	return e
}

// source is where a server comes from that was made in one way of its description.
func (e Entry) source(way registry.Candidate, v setup.Values) config.Source {
	return config.Source{File: e.From, Dialect: "server.json", Published: &config.Published{
		Name: e.Name, Version: e.Document.Version, Registry: e.From, Status: e.Status, Message: e.Message, Repository: e.Repository.URL, Warnings: way.WarningsFor(v),
	}}
}

// Way is one way to reach a server. A bundle is downloaded first; got, where it is not nil, is told how far that is.
func (h Host) Way(ctx context.Context, e Entry, way registry.Candidate, got func(n, of int64)) (*Offer, error) {
	if way.Bundle != nil {
		src := e.source(way, nil)
		file, err := h.Download(ctx, e.Name, way.Bundle, got)
		if err != nil {
			return nil, err
		}
		return h.bundle(file, &src)
	}
	return &Offer{Name: e.Name, Scope: e.Scope, From: e.From, Inputs: way.Inputs, After: way.After, server: func(v setup.Values) (config.Server, error) {
		s, err := way.Server(v)
		if s.Source = e.source(way, v); s.URL != "" {
			s.Proxy = h.Proxy
		}
		return s, err
	}}, nil
}

// Bundle is the server that a file bundles.
func (h Host) Bundle(path string) (*Offer, error) { return h.bundle(path, nil) }

// Open is a bundle that is checked, to look into it. Close it.
func Open(path string) (*mcpb.Bundle, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	b, err := mcpb.Open(path)
	if err != nil {
		next := "get it again from who made it"
		if file := (*fs.PathError)(nil); errors.As(err, &file) {
			next = "name a file that can be read"
		}
		return nil, &failure.Error{Kind: failure.Usage, Message: "cannot open the bundle: " + text.Clip(err.Error(), 500), Err: err, Next: next}
	}
	return b, nil
}

// bundle is the server of a file; published, where it is not nil, is what a registry says of it.
func (h Host) bundle(path string, published *config.Source) (_ *Offer, err error) {
	b, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }() // its manifest is read, and its content again once it is unpacked
	title, host := b.Manifest.Title(), h.Machine()
	if err := b.Refused(host); err != nil {
		return nil, &failure.Error{Kind: failure.SpawnFailed, Server: title, Message: err.Error(), Next: "look for another way to run it"}
	}
	return &Offer{
		// The name is whatever somebody wrote: what another bundle was told is not for this one.
		Name: title, Scope: "mcpb:" + b.SHA256, From: b.Path, Inputs: b.Inputs(host),
		server: func(v setup.Values) (config.Server, error) {
			s, err := b.Server(host, b.Dir(h.Bundles), v)
			if err == nil && published != nil {
				s.Source = *published
			}
			return s, err
		},
		bundle: b,
		ready: func() error {
			if err := h.unpack(b.Path, b.SHA256); err != nil {
				return &failure.Error{Kind: failure.SpawnFailed, Server: title, Message: "the bundle cannot be unpacked: " + text.Clip(err.Error(), 500), Err: err}
			}
			return nil
		},
	}, nil
}

// unpack unpacks the bundle that was read before, and no other.
func (h Host) unpack(path, digest string) (err error) {
	b, err := mcpb.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.SHA256 != digest {
		return errors.New("it was changed since it was opened; open it again")
	}
	_, err = b.Unpack(h.Bundles)
	return err
}
