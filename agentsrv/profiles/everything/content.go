package everything

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// redPixel is a PNG of one red pixel, silence a WAV of one sample (PCM, mono, 16 bits, 8 kHz); both base64.
	redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence  = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
)

// icon is a picture that clients may show beside a name.
func icon() mcp.Icon {
	return mcp.Icon{Src: "data:image/png;base64," + redPixel, MIMEType: "image/png", Sizes: []string{"1x1"}}
}

func contentTools() []server.ServerTool {
	shown := tool("test_image_content", "Image", "Shows a result of one image, a red pixel as PNG; it is the tool's icon, too.", answerWith(mcp.NewImageContent(redPixel, "image/png")))
	shown.Tool.Icons = []mcp.Icon{icon()}
	shown.Tool.Meta = &mcp.Meta{AdditionalFields: map[string]any{"mcphud/example": "any value may stand here"}}
	return []server.ServerTool{
		tool("test_simple_text", "Simple text", "Shows a result of one text block.", answerWith(
			mcp.NewTextContent("This is a simple text response for testing."))),
		shown,
		tool("test_audio_content", "Audio", "Shows a result of one sound, a sample of silence as WAV.", answerWith(
			mcp.NewAudioContent(silence, "audio/wav"))),
		tool("test_embedded_resource", "Embedded resource", "Shows a result that carries a resource's text with it.", answerWith(
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."}))),
		tool("test_resource_link", "Resource link", "Shows a result that points to a resource, to be read on demand.", answerWith(
			mcp.NewResourceLink(staticText, "static-text", "A text that never changes", "text/plain"))),
		tool("test_multiple_content_types", "Several kinds of content", "Shows text, an image and an embedded resource in one result.", answerWith(
			mcp.NewTextContent("Multiple content types test:"),
			mcp.NewImageContent(redPixel, "image/png"),
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`}))),
		tool("test_error_handling", "Tool error", "Shows a result with isError set.", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
		}),
	}
}

// answerWith answers every call with the same content.
func answerWith(content ...mcp.Content) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}
