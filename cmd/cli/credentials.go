package cli

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/config"
)

// CredentialsSetting says where logins are kept.
var CredentialsSetting = settings.Setting{Flag: "credentials", Env: "MCPHUD_CREDENTIALS"}

// CredentialsFlag is the value of the flag that says where secrets are kept.
func CredentialsFlag(mode *string) pflag.Value {
	*mode = credstore.Auto
	return &flags.Choice{Value: mode, Allowed: credstore.Modes()}
}

// Credentials is where logins are kept. Nothing is read yet.
func Credentials() (auth.Store, error) { return credentialsAs(credstore.Auto) }

// credentialsAs is the store of the mode that is set, with another mode in the place of auto.
func credentialsAs(auto string) (auth.Store, error) {
	var mode string
	f, bare := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	bare.Var(CredentialsFlag(&mode), CredentialsSetting.Flag, "")
	if err := (settings.List{What: "mcphud", List: []settings.Setting{CredentialsSetting}, Flags: f, Bare: bare, Sources: settings.Sources{Env: os.Getenv}}).Resolve().Err(); err != nil {
		return nil, err
	}
	if mode == credstore.Auto {
		mode = auto
	}
	where, err := config.System()
	if err != nil {
		return nil, err
	}
	return credstore.Open(mode, where.StateDir()), nil
}
