// Package tap lets other processes watch what a router or a wrapped server carries.
//
// Whoever carries traffic is a [Producer]: it hands over each entry, which costs a copy, and serves it on a Unix socket of
// its own. [Join] finds all producers of this user and merges what they say into one journal.
//
// # The stream
//
// A reader connects and only reads. The stream is a sequence of messages: one byte that says what it is, the lengths of
// head and body as big-endian uint32, the head (JSON), the body (bytes as they were on the wire, secrets masked as the
// journal's file masks them).
//
//	h  hello, the first message: [Hello]
//	e  one entry, its metadata in the head
//	d  the next entries are gone since the reader was too slow: {"dropped": N}
//	l  all that was kept from before the reader came was sent; what follows is live
//
// A reader skips messages that it does not know, and members of heads that it does not know. The version in the hello
// changes when that is not enough.
package tap
