package widget

import (
	"bytes"
	"encoding/binary"
)

// pngSignature is what a PNG begins with.
const pngSignature = "\x89PNG\r\n\x1a\n"

// pixelsOf is a PNG with the chunks that its pixels come from: the critical ones and tRNS. image/png refuses a picture
// whose colour profile or comment has a wrong checksum; browsers show it, and servers do send such pictures. Anything
// but a PNG with something to leave out comes back as it is.
func pixelsOf(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte(pngSignature)) {
		return data
	}
	const frame = 12 // length, type and checksum of a chunk
	out := make([]byte, 0, len(data))
	out = append(out, pngSignature...)
	for rest := data[len(pngSignature):]; len(rest) > 0; {
		if len(rest) < frame {
			return append(out, rest...)
		}
		n := uint64(binary.BigEndian.Uint32(rest)) + frame
		if n > uint64(len(rest)) {
			return append(out, rest...) // cut short: decoding says where
		}
		kind := rest[4:8]
		if critical := kind[0]&0x20 == 0; critical || string(kind) == "tRNS" {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out
}
