// Package tap lets other processes watch the traffic of a router or of a wrapped server.
//
// A [Producer] copies each entry and serves it on a Unix socket of its own. [Join] finds all producers of this user and merges
// their entries into one journal. wrap is such a producer for a command of somebody else's client, running finds the servers of this machine.
//
// # The stream
//
// A reader connects and only reads. The stream is a sequence of messages: one byte that says what it is, the lengths of
// head and body as big-endian uint32, the head (JSON), the body (bytes as they were on the wire, secrets masked as the
// journal's file masks them).
//
//	h  hello, the first message: [Hello]
//	e  one entry, its metadata in the head
//	d  entries were dropped here because the reader was too slow: {"dropped": N}
//	l  the history from before the reader connected is complete; what follows is live
//
// A reader skips unknown messages and unknown members of heads. The version in the hello changes when that is not enough.
package tap
