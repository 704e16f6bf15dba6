package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
)

// contractFlags are what the section contract takes.
type contractFlags struct {
	lock     string
	accept   bool
	evidence []string
	calls    contract.Recordings // that evidence names, for all sections
}

// ownHistory is the word for the calls that mcphud itself kept.
const ownHistory = "history"

// errNotHere is why a section has nothing to do here, unless it is named.
var errNotHere = errors.New("nothing to do here")

func (f *contractFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.lock, "lock", "", "contract: the lock `FILE`; "+contract.FileName+" of the project unless it is given")
	cmd.Flags().BoolVar(&f.accept, "accept", false, "contract: write what the server offers now to the lock, and say what changed")
	cmd.Flags().StringArrayVar(&f.evidence, "evidence", nil, "contract, safety: check the calls that clients made, as recorded in a `FILE` (journal, HAR), in each file of a folder, or in "+ownHistory+"; may be repeated")
}

// make reads the lock, before anything is compared.
func (f *contractFlags) make(context.Context, *cli.Link) (check.Section, error) {
	file := f.lock
	if file == "" {
		file = report.FindLock(".")
	}
	if err := f.recorded(); err != nil {
		return nil, err
	}
	s, err := contract.Open(file, f.accept, &f.calls)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, fs.ErrNotExist) && f.lock == "" && len(f.evidence) == 0:
		return nil, fmt.Errorf("%w: %w", errNotHere, failure.UsageError("there is no "+file, "make one: mcphud check contract --accept"))
	case errors.Is(err, fs.ErrNotExist) && f.lock == "": // the calls are checked against what there is now
		return &contract.Section{File: file, Lock: &contract.Lock{}, Evidence: &f.calls, NoLock: true}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.UsageError("there is no lock: "+file, "make one: mcphud check contract --accept --lock "+file)
	}
	return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file, or write it anew with --accept after you removed it"}
}

// recorded finds the files with recorded calls.
func (f *contractFlags) recorded() error {
	var files []string
	for _, e := range f.evidence {
		if _, err := os.Stat(e); e == ownHistory && errors.Is(err, fs.ErrNotExist) {
			e = cli.StateFile("calls.db")
		}
		if _, err := os.Stat(e); err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "--evidence: " + err.Error(), Err: err, Next: "name a journal, an HTTP archive, or a folder of them"}
		}
		files = append(files, e)
	}
	f.calls.Files = files
	return nil
}
