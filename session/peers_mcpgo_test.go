package session_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/mcpgo"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// everyPeer is every pinned server, over every transport that it has.
func everyPeer(t *testing.T) []config.Server {
	return append(peertest.All(t), peertest.EverythingHTTP(t).Server, peertest.EverythingSSE(t).Server, peertest.GoSDKEverythingHTTP(t).Server)
}

// decode is what mcp-go's types keep of the items of a list.
func decode[T any](t *testing.T, l offer.Listing) []T {
	t.Helper()
	out := []T{}
	for _, it := range l.Items {
		var v T
		if err := json.Unmarshal(it.Raw, &v); err != nil {
			t.Fatalf("%s: %v", it.Raw, err)
		}
		out = append(out, v)
	}
	return out
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// mcp-go's typed client over a session sees on every server what the session saw.
func TestPeerMCPGosClientAgrees(t *testing.T) {
	for _, cfg := range everyPeer(t) {
		t.Run(cfg.Name, func(t *testing.T) {
			s, _ := open(t, cfg)
			c := client.NewClient(mcpgo.Client(s), client.WithSession())
			require.NoError(t, c.Start(t.Context()))
			compared := 0
			agree := func(kind offer.Kind, typed func() (any, error), ours func(offer.Listing) any) {
				t.Helper()
				if !s.Supports(kind.Method()) {
					return
				}
				l, err := s.List(t.Context(), kind)
				require.NoError(t, err)
				theirs, err := typed()
				require.NoError(t, err)
				got, want := encode(t, theirs), encode(t, ours(l)) // templates hold pointers, which never equal
				if got != want {
					t.Errorf("%s differ:\nmcp-go  %s\nsession %s", kind, got, want)
				}
				compared += len(l.Items)
			}
			agree(offer.Tools, func() (any, error) {
				r, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
				if err != nil {
					return nil, err
				}
				return r.Tools, nil
			}, func(l offer.Listing) any { return decode[mcp.Tool](t, l) })
			agree(offer.Resources, func() (any, error) {
				r, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
				if err != nil {
					return nil, err
				}
				return r.Resources, nil
			}, func(l offer.Listing) any { return decode[mcp.Resource](t, l) })
			agree(offer.Templates, func() (any, error) {
				r, err := c.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
				if err != nil {
					return nil, err
				}
				return r.ResourceTemplates, nil
			}, func(l offer.Listing) any { return decode[mcp.ResourceTemplate](t, l) })
			agree(offer.Prompts, func() (any, error) {
				r, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
				if err != nil {
					return nil, err
				}
				return r.Prompts, nil
			}, func(l offer.Listing) any { return decode[mcp.Prompt](t, l) })
			if compared == 0 {
				t.Error("nothing was compared")
			}
			assert.NoError(t, c.Close())
		})
	}
}

// Over mcp-go's own transports a session gets the same bytes as over ours.
func TestPeerMCPGosTransportsAgree(t *testing.T) {
	for _, cfg := range everyPeer(t) {
		t.Run(cfg.Name, func(t *testing.T) {
			ours, _ := open(t, cfg)
			cfg.Protocol = ours.Status().Version // mcp-go's errors hide the HTTP status that detection goes by
			m := session.NewManager(session.Options{Dial: func(cfg config.Server) (transport.Transport, bool) {
				tr, err := mcpgoTransport(cfg)
				assert.NoError(t, err)
				return mcpgo.From(tr), err == nil
			}})
			t.Cleanup(func() { _, _ = m.Close(), ours.Disconnect() }) // mcp-go reports that a server ended by a signal
			theirs, err := m.Register(cfg)
			require.NoError(t, err)
			require.NoError(t, theirs.Connect(t.Context()))
			compared := 0
			for _, kind := range []offer.Kind{offer.Tools, offer.Resources, offer.Templates, offer.Prompts} {
				if ours.Supports(kind.Method()) != theirs.Supports(kind.Method()) {
					t.Errorf("%s are supported over one transport only", kind)
				}
				if !ours.Supports(kind.Method()) {
					continue
				}
				a, err := ours.List(t.Context(), kind)
				require.NoError(t, err)
				b, err := theirs.List(t.Context(), kind)
				require.NoError(t, err)
				compared += len(a.Items)
				if !bytes.Equal(a.JSON(), b.JSON()) {
					t.Errorf("%s differ:\nours   %s\nmcp-go %s", kind, a.JSON(), b.JSON())
				}
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

func mcpgoTransport(cfg config.Server) (mcptransport.Interface, error) {
	switch cfg.Transport {
	case config.HTTP:
		return mcptransport.NewStreamableHTTP(cfg.URL)
	case config.SSE:
		return mcptransport.NewSSE(cfg.URL)
	}
	var env []string
	for k, v := range cfg.Env {
		env = append(env, k+"="+v)
	}
	return mcptransport.NewStdio(cfg.Command, env, cfg.Args...), nil
}
