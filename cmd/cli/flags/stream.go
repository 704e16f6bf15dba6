package flags

import (
	"fmt"
	"io"
)

// ReadAll reads r to its end, up to limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	return b, err
}
