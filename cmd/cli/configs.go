package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// Tilde abbreviates the home folder in a path.
func Tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && len(home) > 1 {
		return "~/" + rest
	}
	return path
}

// NoServers is said where a verb has no server to work on.
const NoServers = "no servers found; mcphud reads mcphud.yaml, .mcp.json and the configs of other MCP clients, or --config FILE"

// WarnOf says on stderr what of a file could not be kept when it was replaced.
func (a *App) WarnOf(lost []string) {
	for _, l := range lost {
		a.Note("mcphud: warning: " + l)
	}
}

// Misplaced is the error of a shared flag that was given to a verb that connects to no server and has no use for it, nil for none.
func Misplaced(cmd *cobra.Command) error {
	if name := HiddenFlag(cmd); name != "" {
		return failure.UsageError("--"+name+" does not apply to "+cmd.CommandPath()+", which connects to no server", "see "+cmd.CommandPath()+" --help")
	}
	return nil
}

// Where is where configuration files are looked for.
func (a *App) Where() (config.Options, error) { return config.System(a.Options.Configs...) }

// EditFailure explains why an entry cannot be changed.
func EditFailure(err error) error {
	var why *config.EditError
	if errors.As(err, &why) {
		return &failure.Error{Kind: failure.Usage, Message: why.Error(), Err: err, Next: why.Next}
	}
	var bad config.Warning
	if errors.As(err, &bad) {
		return &failure.Error{Kind: failure.Usage, Message: bad.Error(), Err: err, Next: "mend the file, then try again"}
	}
	return err
}

// DefaultPins is the file of tool pins for a file of routes, "" without a state folder.
func DefaultPins(routes string) string {
	abs, err := filepath.Abs(routes)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(abs))
	return StateFile(filepath.Join("routers", hex.EncodeToString(sum[:8])+".json"))
}
