package cli

import (
	"cmp"
	"os"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/serve/chat"
)

// ModelVariables are the variables that come before the settings of the language model.
var ModelVariables = map[string]string{
	"model.url": "MCPHUD_MODEL_URL", "model.name": "MCPHUD_MODEL", "model.proxy": "MCPHUD_MODEL_PROXY", "model.ca": "MCPHUD_MODEL_CA",
	"model.client_cert": "MCPHUD_MODEL_CLIENT_CERT", "model.client_key": "MCPHUD_MODEL_CLIENT_KEY",
}

// modelTime is how long an answer may take: a person waits for it and can cancel.
const modelTime = 10 * time.Minute

// Model is the language model that may answer sampling, by flags, else the environment, else config.yaml; nil without a URL.
func (a *App) Model() (*chat.Client, error) {
	u := a.Preferences().Model
	pick := func(flag, key, file string) string { return cmp.Or(flag, os.Getenv(ModelVariables[key]), file) }
	m := chat.Model{
		URL: pick(a.Options.ModelURL, "model.url", u.URL), Name: pick(a.Options.ModelName, "model.name", u.Name), Key: os.Getenv("MCPHUD_MODEL_KEY"),
		Timeout: modelTime, Via: u.Via,
	}
	if m.URL == "" {
		return nil, nil
	}
	for key, value := range map[string]*string{
		"model.proxy": &m.Via.Proxy, "model.ca": &m.Via.CA, "model.client_cert": &m.Via.ClientCert, "model.client_key": &m.Via.ClientKey,
	} {
		*value = pick("", key, *value)
	}
	c, err := chat.New(m)
	if err != nil {
		return nil, failure.Wrap(err, "", "the language model's API")
	}
	if m.Unverified() {
		a.Note("mcphud: warning: the certificate of the language model's API is not checked: anybody on the way can read and change what is sent")
	}
	return c, nil
}
