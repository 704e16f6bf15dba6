package auth

import (
	_ "embed"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/mcphud/mcphud/session/base/listen"
)

//go:embed client-metadata.json
var clientMetadata []byte

// ClientMetadata is the client-id metadata document that has to be served at id, an https URL, so that Options.Document can name
// it. https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/
func ClientMetadata(id string) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(clientMetadata, &doc); err != nil {
		return nil, err // a test reads it
	}
	doc["client_id"] = id
	return json.MarshalIndent(doc, "", "  ")
}

// isDocumented reports whether the metadata document has a redirect. The port of one on loopback is free (RFC 8252 section 7.3).
func isDocumented(redirect string) bool {
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" || listen.ReachOf(u) != listen.Machine || u.RawQuery != "" {
		return false
	}
	var doc struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.Unmarshal(clientMetadata, &doc) != nil {
		return false
	}
	u.Host = u.Hostname()
	return slices.Contains(doc.Redirects, u.String())
}
