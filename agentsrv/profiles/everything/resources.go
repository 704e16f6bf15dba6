package everything

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const (
	staticText   = "test://static-text"
	staticBinary = "test://static-binary"
	watched      = "test://watched-resource"

	dataTemplate          = "test://template/{id}/data"
	dataPrefix, dataAfter = "test://template/", "/data"
)

// Resources are a text, a picture, one that changes, and the files of the skills.
func (f *Features) Resources() []server.ServerResource {
	const static = "This is the content of the static text resource."
	described := textResource(staticText, "static-text", "A text that never changes, with all that can be said of a resource", func() string { return static })
	for _, option := range []mcp.ResourceOption{
		mcp.WithResourceTitle("Static text"), mcp.WithResourceSize(int64(len(static))), mcp.WithResourceIcons(icon()),
		mcp.WithAnnotations([]mcp.Role{mcp.RoleUser, mcp.RoleAssistant}, 0.8, "2026-07-28T00:00:00Z"),
	} {
		option(&described.Resource)
	}
	return append([]server.ServerResource{
		described,
		{
			Resource: mcp.NewResource(staticBinary, "static-binary", mcp.WithResourceTitle("Static picture"), mcp.WithResourceDescription("A red pixel"), mcp.WithMIMEType("image/png")),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{mcp.BlobResourceContents{URI: staticBinary, MIMEType: "image/png", Blob: redPixel}}, nil
			},
		},
		textResource(watched, "watched-resource", "Changes with each call of test_trigger_resource_update; subscribe to it", func() string {
			return fmt.Sprintf("This resource has changed %d times.", f.dynamic.updates.Load())
		}),
	}, f.skillResources()...)
}

func textResource(uri, name, description string, content func() string) server.ServerResource {
	return server.ServerResource{
		Resource: mcp.NewResource(uri, name, mcp.WithResourceDescription(description), mcp.WithMIMEType("text/plain")),
		Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: content()}}, nil
		},
	}
}

// Templates are the one template, whose variable completes.
func (f *Features) Templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate(dataTemplate, "template-data", mcp.WithTemplateDescription("Data for an id; any id has some"), mcp.WithTemplateMIMEType("application/json")),
		Handler: func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, dataPrefix), dataAfter))
			if err != nil {
				return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: the id in %s is not percent-encoded: %w", r.Params.URI, err).With("field", "uri")
			}
			raw, err := json.Marshal(struct {
				ID       string `json:"id"`
				Template bool   `json:"templateTest"`
				Data     string `json:"data"`
			}{id, true, "Data for ID: " + id})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Params.URI, err)
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: string(raw)}}, nil
		},
	}}
}
