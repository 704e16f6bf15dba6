package jsonrpc

import (
	"crypto/rand"
	"encoding/hex"
)

// UUID is a random UUID, RFC 9562 version 4: for ids that must be unique and cannot be guessed.
func UUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:], b[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}
