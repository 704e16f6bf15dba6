package session_test

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
)

// TestD3_Contents: each kind of content, exact bytes of binary data, unknown kinds kept.
func TestD3_Contents(t *testing.T) {
	image := sha256.Sum256([]byte("image"))
	data := base64.StdEncoding.EncodeToString(image[:])
	result := []byte(`{"content":[{"type":"text","text":"a\n\"b\" \ud83d\ude00"},{"type":"image","data":"` + data + `","mimeType":"image/png","annotations":{"priority":1.0}},
		{"type":"audio","data":"` + data + `","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"u:1","mimeType":"t/x","text":"in"}},
		{"type":"resource","resource":{"uri":"u:2","blob":"` + data + `"}},{"type":"resource_link","uri":"u:3","name":"link"},
		{"type":"hologram","payload":9007199254740993},{"type":"image","data":"%%"},7],"structuredContent":{"n":1.0},"isError":true,"_meta":{"a":1}}`)
	r, err := offer.ParseResult(result)
	if err != nil || len(r.Contents) != 9 || !r.IsError || string(r.Structured) != `{"n":1.0}` || string(r.Meta) != `{"a":1}` {
		t.Fatalf("%+v %v", r, err)
	}
	c := r.Contents
	for i, want := range []offer.Content{
		{Type: "text", Text: "a\n\"b\" 😀"},
		{Type: "image", MIME: "image/png", Data: image[:]},
		{Type: "audio", MIME: "audio/wav", Data: image[:]},
		{Type: "resource", URI: "u:1", MIME: "t/x", Text: "in"},
		{Type: "resource", URI: "u:2", Data: image[:]},
		{Type: "resource_link", URI: "u:3", Name: "link"},
		{Type: "hologram"},
	} {
		got := c[i]
		if got.Type != want.Type || got.Text != want.Text || got.MIME != want.MIME || got.URI != want.URI || got.Name != want.Name || string(got.Data) != string(want.Data) || got.Flaw != nil {
			t.Errorf("%d: %+v", i, got)
		}
	}
	if string(c[6].Raw) != `{"type":"hologram","payload":9007199254740993}` || string(c[1].Annotations) != `{"priority":1.0}` {
		t.Errorf("%s %s", c[6].Raw, c[1].Annotations)
	}
	if c[7].Flaw == nil || c[8].Flaw == nil {
		t.Error("broken pieces are not flagged")
	}
	if !offer.IsError(result) || string(offer.StructuredContent(result)) != `{"n":1.0}` || offer.IsError([]byte(`{"isError":false}`)) || offer.StructuredContent([]byte(`{}`)) != nil {
		t.Error("IsError or StructuredContent")
	}
}

func TestD3_PromptsAndResources(t *testing.T) {
	c, err := offer.Contents([]byte(`{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"assistant","content":{"type":"resource","resource":{"uri":"u","text":"x"}}}]}`))
	if err != nil || len(c) != 2 || c[0].Role != "user" || c[0].Text != "hi" || c[0].Type != "text" || c[1].URI != "u" || c[1].Type != "resource" {
		t.Fatalf("%+v %v", c, err)
	}
	c, err = offer.Contents([]byte(`{"contents":[{"uri":"u","text":"x","mimeType":"a/b"},{"uri":"v","blob":"AAE="}]}`))
	if err != nil || len(c) != 2 || c[0].Type != "text" || c[1].Type != "blob" || len(c[1].Data) != 2 {
		t.Fatalf("%+v %v", c, err)
	}
	for _, bad := range []string{`[]`, `{"content":{}}`, `{"content":[`} {
		if _, err := offer.Contents([]byte(bad)); failure.KindOf(err) != failure.Protocol {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
