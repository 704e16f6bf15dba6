package card

import (
	"context"
	"encoding/json"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// About fetches what is published about a server that has a URL, through the network of its configuration; nil for a server that has
// none, or a socket for it.
func About(ctx context.Context, cfg config.Server) ([]Document, error) {
	if _, socket, err := config.Endpoint(cfg.URL); cfg.URL == "" || err == nil && socket != "" {
		return nil, nil
	}
	n, err := transport.NewNetwork(cfg)
	if err != nil {
		return nil, err
	}
	return Fetch(ctx, n.Documents(), n.URL()), nil
}

// SaidBy is what a server says: its handshake, and the lists that were asked for.
func SaidBy(s *session.Session) Said {
	st := s.Status()
	said := Said{Transport: st.Transport, Protocol: st.Version}
	if u, _, err := config.Endpoint(s.Config().URL); err == nil {
		said.URL = u
	}
	var info struct{ Name, Title, Version string }
	if json.Unmarshal(st.ServerInfo, &info) == nil {
		said.Name, said.Title, said.Version = info.Name, info.Title, info.Version
	}
	if st.Capabilities != nil {
		said.Capabilities = []string{}
		_ = jsonrpc.Members(st.Capabilities, func(name string, _ []byte) bool { // of what the handshake has read
			said.Capabilities = append(said.Capabilities, name)
			return true
		})
	}
	said.Tools = itemNames(s.Listing(offer.Tools))
	said.Resources = itemNames(s.Listing(offer.Resources))
	said.Prompts = itemNames(s.Listing(offer.Prompts))
	return said
}

// itemNames are the names of a list, nil where it was not loaded.
func itemNames(l offer.Listing) []string {
	if !l.Loaded || l.Err != nil {
		return nil
	}
	names := make([]string, 0, len(l.Items))
	for _, it := range l.Items {
		if l.Kind == offer.Resources {
			names = append(names, it.URI)
			continue
		}
		names = append(names, it.Name)
	}
	return names
}
