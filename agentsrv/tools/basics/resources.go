package basics

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	noteTemplate = "demo://note/{id}"
	notePrefix   = "demo://note/"
)

// Resources are the resources.
func (a *Set) Resources() []server.ServerResource {
	return []server.ServerResource{
		{
			Resource: mcp.NewResource(readmeURI, "readme", mcp.WithResourceDescription("What this server has, as markdown"), mcp.WithMIMEType("text/markdown")),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{mcp.TextResourceContents{URI: readmeURI, MIMEType: "text/markdown", Text: readme}}, nil
			},
		},
		{
			Resource: mcp.NewResource(logoURI, "logo", mcp.WithResourceDescription("A small picture"), mcp.WithMIMEType("image/png")),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{mcp.BlobResourceContents{URI: logoURI, MIMEType: "image/png", Blob: base64.StdEncoding.EncodeToString(logoPNG())}}, nil
			},
		},
	}
}

// Templates are the resource templates.
func (a *Set) Templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate(noteTemplate, "note", mcp.WithTemplateDescription("A note by its id; any id has one"), mcp.WithTemplateMIMEType("text/plain")),
		Handler: func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id, err := url.PathUnescape(strings.TrimPrefix(r.Params.URI, notePrefix))
			if err != nil {
				return nil, fmt.Errorf("note: %s: %w", r.Params.URI, err)
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: fmt.Sprintf("Note %s.\n", id)}}, nil
		},
	}}
}
