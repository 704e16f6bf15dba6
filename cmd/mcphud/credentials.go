package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/config"
)

// credentialsSetting says where logins are kept.
var credentialsSetting = setting{flag: "credentials", env: "MCPHUD_CREDENTIALS"}

func credentialsFlag(mode *string) pflag.Value {
	*mode = credstore.Auto
	return &choice{mode, credstore.Modes()}
}

// credentials is where logins are kept. Nothing is read yet.
func credentials() (auth.Store, error) { return credentialsAs(credstore.Auto) }

// keptInputs is where secrets are kept that servers ask for. Who says "keychain" does not mean plain text.
func keptInputs() (credstore.Inputs, error) {
	s, err := credentialsAs(credstore.Keychain)
	return credstore.Inputs{Store: s}, err
}

// credentialsAs is the store of the mode that is set, with another mode in the place of auto.
func credentialsAs(auto string) (auth.Store, error) {
	var mode string
	f, bare := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	bare.Var(credentialsFlag(&mode), credentialsSetting.flag, "")
	if err := (settings{"mcphud", []setting{credentialsSetting}, f, bare, sources{env: os.Getenv}}).resolve().err(); err != nil {
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
