// Package bench measures how a server behaves under load: requests that arrive at a constant rate, or from a number of clients that each
// wait for their answer.
//
// At a constant rate the latency of a request counts from when it was due, whether or not there was anybody free to send it: a server
// that stands still for half a second makes all requests late that were due meanwhile, not only those that were sent. Tools that wait for
// an answer before they send the next request leave those out, which is called coordinated omission.
package bench
