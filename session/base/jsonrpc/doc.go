// Package jsonrpc reads and writes JSON-RPC 2.0 frames (https://www.jsonrpc.org/specification) without unmarshalling them.
//
// An inspector must show what was on the wire, and a client must not spend seconds decoding a 50 MB result only to
// learn whose answer it is. So a frame is walked exactly once, by a validating scanner that allocates nothing, and every
// part of it is handed out as a sub-slice: ids keep their exact bytes, numbers their spelling, members their order.
//
// The scanner is strict where leniency is a known attack: envelope members given twice, or in another letter case
// (including the Unicode folds of s and k), make a frame invalid, because two readers would disagree about what it says.
//
// Where to begin:
//
//   - [Scan] says which message a frame is, and where its parts are.
//   - [Get], [GetString], [Members], [Elements] and [Walk] read values; [Valid] checks them.
//   - [NewRequest], [NewNotification], [NewResult] and [NewError] write frames.
//   - [Update] changes members of an object and leaves all other bytes as they are.
//   - [RequestError] is why a request is refused, with the codes and HTTP statuses of both protocol eras.
//
// Slices that are handed out have no room behind them, so that appending to one copies it and never overwrites the frame.
package jsonrpc
