package ui

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/views/servers"
)

// bundlesDir is where bundles are unpacked.
func bundlesDir() (string, error) {
	dir := cacheDir()
	if dir == "" {
		return "", &failure.Error{Kind: failure.Usage, Message: "there is no folder to unpack the bundle in", Next: "set XDG_CACHE_HOME or HOME"}
	}
	return filepath.Join(dir, "bundles"), nil
}

// PublishedHost is where what is published is kept on this machine.
func PublishedHost(a *cli.App) (described.Host, error) {
	cache, err := bundlesDir()
	if err != nil {
		return described.Host{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return described.Host{Bundles: cache, Home: home, Proxy: a.Options.Proxy}, nil
}

// OnPath reports whether a program is installed.
func OnPath(command string) bool {
	_, err := exec.LookPath(command)
	return err == nil
}

// AddRegistry gives a command the flag that names a registry.
func AddRegistry(f *pflag.FlagSet) *string {
	return f.String("registry", "", "look servers up in the registry at `URL` (default "+registry.Official+"); MCPHUD_REGISTRY, registry.url of config.yaml")
}

// RegistryAt is the registry that a flag names, else the environment, else config.yaml.
func RegistryAt(a *cli.App, flag string) (*registry.Client, error) {
	base := cmp.Or(flag, os.Getenv("MCPHUD_REGISTRY"))
	if base == "" {
		where, err := config.System()
		if err != nil {
			return nil, err
		}
		set := userconfig.Default()
		if dir := where.ConfigDir(); dir != "" {
			if set, err = userconfig.Load(filepath.Join(dir, "config.yaml")); err != nil {
				return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file"}
			}
		}
		base = cmp.Or(set.RegistryURL, registry.Official)
	}
	if err := config.CheckProxy(a.Options.Proxy); err != nil {
		return nil, failure.UsageError("--proxy "+err.Error(), "see mcphud help network")
	}
	return registry.Open(config.Server{URL: base, Proxy: a.Options.Proxy, CA: a.Options.CA}, nil)
}

// RegistryCache is the list of a registry that is kept on disk.
func RegistryCache(c *registry.Client) *registry.Cache {
	return registry.OpenCache(cacheDir(), c.Base())
}

// cacheDir is mcphud's folder for what can be fetched again, "" where there is none.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mcphud")
}

// Published is where the UI finds servers that others have published.
func Published(a *cli.App) *servers.Published {
	return &servers.Published{
		Open: func() (*registry.Client, *registry.Cache, error) {
			c, err := RegistryAt(a, a.Options.Registry)
			if err != nil {
				return nil, nil, err
			}
			return c, RegistryCache(c), nil
		},
		Host: func() (described.Host, error) { return PublishedHost(a) },
		Look: OnPath,
		Recall: func(ctx context.Context, scope string) (map[string]string, error) {
			kept, err := cli.KeptInputs()
			if err != nil {
				return nil, err
			}
			return kept.Recall(ctx, scope)
		},
		Keep: func(ctx context.Context, scope string, in []setup.Input, values map[string]string) error {
			kept, err := cli.KeptInputs()
			if err != nil {
				return err
			}
			return kept.Keep(ctx, scope, in, values)
		},
	}
}
