// Package fuzz calls what a server offers with values that its schemas allow, and with values that have one thing wrong, and looks at
// what comes back. The order of the calls follows from a seed. What fails is made small, kept in a folder, and can be tried again.
//
// It does not stand on pgregory.net/rapid, which is made for one property of one test: its seed, the number of runs and the time for
// shrinking are flags of the process, it ends at the first failure, cannot be cancelled, and shrinks the random bits that a value was
// drawn from. Here a run goes on after a failure, and a value is shrunk as the JSON that it is, with the schema at hand, by as few calls as
// possible: each of them may cost a timeout or the start of a server.
package fuzz
