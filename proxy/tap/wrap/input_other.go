//go:build !unix

package wrap

import "os"

// input reads a file that this process was given, until its end or that of the process.
type input struct{ f *os.File }

func newInput(f *os.File) *input { return &input{f} }

// Read reads.
func (in *input) Read(b []byte) (int, error) { return in.f.Read(b) }

func (in *input) cancel() {}

func (in *input) close() {}
