//go:build !unix

package wrap

import "os"

// input reads an inherited file; reads cannot be cancelled.
type input struct{ f *os.File }

func newInput(f *os.File) *input { return &input{f} }

// Read reads.
func (in *input) Read(b []byte) (int, error) { return in.f.Read(b) }

func (in *input) cancel() {}

func (in *input) close() {}
