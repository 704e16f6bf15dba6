// Package jsonrpc reads and writes JSON-RPC 2.0 frames without unmarshalling them.
//
// An inspector must show what was on the wire, and a client must not spend seconds decoding a 50 MB result only to
// learn whose answer it is. So a frame is walked exactly once, by a validating scanner that allocates nothing, and every
// part of it is handed out as a sub-slice: ids keep their exact bytes, numbers their spelling, members their order.
//
// The scanner is strict where leniency is a known attack: envelope members given twice, or in another letter case
// (including the Unicode folds of s and k), make a frame invalid, because two readers would disagree about what it says.
package jsonrpc
