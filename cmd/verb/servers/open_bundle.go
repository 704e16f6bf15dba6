package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/mcpb"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui/safe"
)

// openBundle opens the server that a file bundles.
func (a *app) openBundle(ctx context.Context, path string, f *openFlags) error {
	if f.pack > 0 || f.remote {
		return failure.UsageError("a bundle has no packages and no remotes", "leave --package and --remote out")
	}
	host, err := ui.PublishedHost(a.App)
	if err != nil {
		return err
	}
	if f.list {
		return a.listBundle(path, host)
	}
	o, err := host.Bundle(path)
	if err != nil {
		return err
	}
	return a.openOffer(ctx, o, f)
}

// BundleReport is what is in a bundle, as JSON.
type BundleReport struct {
	File      string        `json:"file"`
	SHA256    string        `json:"sha256"`
	Size      int64         `json:"size"`
	Unpacked  int64         `json:"unpacked"`
	Signed    bool          `json:"signed"` // nobody verified by whom
	Manifest  string        `json:"manifestVersion"`
	Name      string        `json:"name"`
	Version   string        `json:"version"`
	Author    string        `json:"author,omitempty"`
	Type      string        `json:"type"`
	Platforms []string      `json:"platforms,omitempty"`
	Inputs    []bundleInput `json:"inputs"`
	Server    any           `json:"server"` // what it would run, {NAME} for what is asked for; null if nothing
	Problems  []string      `json:"problems"`
	Entries   []mcpb.Entry  `json:"entries"`
}

type bundleInput struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Secret   bool   `json:"secret"`
	Default  string `json:"default,omitempty"` // the bundle's own
}

// listBundle prints what is in a bundle and what it would run.
func (a *app) listBundle(path string, where described.Host) (err error) {
	b, err := described.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	host := where.Machine()
	m := &b.Manifest
	r := BundleReport{
		File: b.Path, SHA256: b.SHA256, Size: b.Size, Unpacked: b.Unpacked, Signed: b.Signature > 0, Manifest: m.Version, Name: m.Name, Version: m.Release,
		Author: m.Author.Name, Type: m.Server.Type, Platforms: m.Compatibility.Platforms, Inputs: []bundleInput{}, Problems: []string{}, Entries: b.Entries,
	}
	in := b.Inputs(host)
	values := setup.Values{}
	for _, i := range in {
		values[i.Name] = []string{"{" + i.Name + "}"}
		r.Inputs = append(r.Inputs, bundleInput{i.Name, i.Required, i.Secret, i.Default})
	}
	s, err := b.Server(host, b.Dir(where.Bundles), values)
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	} else {
		r.Server = s.Masked()
		r.Problems = append(r.Problems, b.Missing(s)...)
	}
	p := a.Printer()
	return p.Show(output.Foreign{Value: r}, func(t *output.Text) {
		signed := "no"
		if r.Signed {
			signed = "yes, and not verified here"
		}
		rows := [][2]string{
			{"bundle", m.Title() + " " + m.Release},
			{"about", text.FirstLine(m.Description)},
			{"author", m.Author.Name},
			{"repository", m.Repository.URL},
			{"sha256", b.SHA256},
			{"signed", signed},
			{"manifest", m.Version + ", " + m.Server.Type},
		}
		if r.Server != nil {
			for _, f := range config.Describe(s) {
				if slices.Contains([]string{"runs", "in", "env"}, f.Label) {
					rows = append(rows, [2]string{f.Label, f.Value})
				}
			}
		}
		for _, i := range in {
			rows = append(rows, [2]string{"asks for", strings.TrimSpace(i.Name + "  " + aboutInput(i))})
		}
		for _, p := range r.Problems {
			rows = append(rows, [2]string{"problem", p})
		}
		rows = append(rows, [2]string{"content", fmt.Sprintf("%s, %s unpacked", text.Count(len(b.Entries), "entry", "entries"), text.Bytes(b.Unpacked))})
		for i := range rows {
			rows[i][1] = safe.Line(rows[i][1], 0)
		}
		t.Fields(rows...)
		var list [][]string
		for _, e := range b.Entries {
			kind := ""
			if e.Exec {
				kind = "executable"
			}
			list = append(list, []string{e.Name, text.Bytes(e.Size), kind})
		}
		t.Table(p.Width, list)
	})
}
