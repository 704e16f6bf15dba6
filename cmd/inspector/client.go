package inspector

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcphud/mcphud/session/config"
)

// clientFile is the Inspector's file of what it is to all servers.
type clientFile struct {
	Document struct {
		Enabled bool   `json:"enabled"`
		URL     string `json:"clientMetadataUrl"`
	} `json:"cimd"`
	Enterprise struct {
		Enabled  *bool     `json:"enabled"` // nil for true
		Provider *provider `json:"idp"`
	} `json:"enterpriseManagedAuth"`

	path string
}

// provider is the identity provider of a company.
type provider struct {
	Issuer       string `json:"issuer"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}

// client reads the client's file; empty where there is none.
func (r *Request) client() (c clientFile, err error) {
	c.path = strings.TrimSpace(r.ClientConfig)
	if c.path == "" {
		c.path = strings.TrimSpace(os.Getenv("MCP_CLIENT_CONFIG_PATH"))
	}
	if c.path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return c, nil // there is no such file
		}
		c.path = filepath.Join(home, ".mcp-inspector", "storage", "client.json")
	}
	b, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		return c, c.wrong(err.Error())
	}
	return c, nil
}

func (c clientFile) wrong(why string) error {
	return fail("client configuration " + c.path + ": " + why)
}

// Document is the URL of the client-id metadata document: of the command line, else of the client's file; "" for none.
func (r *Request) Document() (string, error) {
	if at := strings.TrimSpace(r.ClientMetadata); at != "" {
		return at, nil
	}
	c, err := r.client()
	if err != nil || !c.Document.Enabled {
		return "", err
	}
	if err := config.CheckClientMetadataURL(c.Document.URL); err != nil {
		return "", c.wrong("cimd.clientMetadataUrl: " + err.Error())
	}
	return c.Document.URL, nil
}

// manage makes the login at a server that its file calls enterpriseManaged one at the identity provider of the client's file.
func (r *Request) manage(o *config.OAuth) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	e := c.Enterprise
	if e.Provider == nil || e.Enabled != nil && !*e.Enabled {
		return fail("This server uses enterprise-managed authorization, and " + c.path + " names no identity provider. Set enterpriseManagedAuth.idp there: issuer, clientId and clientSecret, and not enabled to false.")
	}
	if u, err := url.Parse(e.Provider.Issuer); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return c.wrong("enterpriseManagedAuth.idp.issuer: it has to be an http or https URL")
	}
	if e.Provider.ClientID == "" {
		return c.wrong("enterpriseManagedAuth.idp.clientId: it is missing")
	}
	o.Grant, o.IDPIssuer, o.IDPClientID, o.IDPClientSecret = config.GrantEnterprise, e.Provider.Issuer, e.Provider.ClientID, e.Provider.ClientSecret
	return nil
}
