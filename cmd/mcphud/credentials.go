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
func credentials() (auth.Store, error) {
	var mode string
	f, bare := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	bare.Var(credentialsFlag(&mode), credentialsSetting.flag, "")
	if err := (settings{"mcphud", []setting{credentialsSetting}, f, bare, sources{env: os.Getenv}}).resolve().err(); err != nil {
		return nil, err
	}
	where, err := config.System()
	if err != nil {
		return nil, err
	}
	return credstore.Open(mode, where.StateDir()), nil
}
