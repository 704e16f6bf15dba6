//go:build !linux

package confine_test

import "errors"

func attempt(string) error { return errors.ErrUnsupported }

const lacks = "MCPHUD_CONFINE_LACKS"

func withoutLandlock() int { return 1 }
