package main

import (
	"debug/buildinfo"
	"io"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom writes the modules of a binary, as the go command recorded them in it, with their checksums and licences.
func sbom(w io.Writer, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	self := component(&info.Main)
	self.Type = cdx.ComponentTypeApplication
	parts := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Licenses: &cdx.Licenses{{License: &cdx.License{ID: "BSD-3-Clause"}}},
	}}
	refs := []string{"std"}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		c := component(d)
		dir, err := moduleDir(d.Path, d.Version)
		if err != nil {
			return err
		}
		texts, err := licences(dir)
		if err != nil {
			return err
		}
		c.Licenses = attached(texts)
		parts, refs = append(parts, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &self}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// component describes a module. The checksum is that of go.sum, which is none of a file: it is a property.
func component(m *debug.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url, Scope: cdx.ScopeRequired}
	if m.Sum != "" {
		c.Properties = &[]cdx.Property{{Name: "cdx:go:module:sum", Value: m.Sum}}
	}
	return c
}

// attached are licences as their modules have them. Which of the known ones a text is, is for the reader to say.
func attached(texts []string) *cdx.Licenses {
	var list cdx.Licenses
	for _, t := range texts {
		title, _, _ := strings.Cut(t, "\n")
		list = append(list, cdx.LicenseChoice{License: &cdx.License{Name: strings.TrimSpace(title), Text: &cdx.AttachedText{Content: t, ContentType: "text/plain"}}})
	}
	return &list
}
