package sandbox

import (
	"bufio"
	"os"
	"runtime/debug"
	"time"
)

// workerArgument is the first argument of a worker, and workerEnv is set in its environment, so that a program which
// forgot to call WorkerMain cannot start itself over and over.
const (
	workerArgument = "__mcphud-sandbox-worker"
	workerEnv      = "MCPHUD_SANDBOX_WORKER"
)

// Exit codes of workers.
const (
	exitEnd   = 0 // the agent closed stdin
	exitBroke = 3 // something that should not happen
	exitLate  = 4 // the agent did not end a call in time
)

// overtime is how much longer than its timeout a worker lets code run: the agent kills it before, unless it hangs.
const overtime = 5 * time.Second

// IsWorker reports whether a program with these arguments (os.Args) was started as a worker; it must then call WorkerMain
// and do nothing else.
func IsWorker(args []string) bool { return len(args) > 1 && args[1] == workerArgument }

// WorkerMain runs code that comes in on stdin until that ends, also if code is running then, and exits.
func WorkerMain() {
	in, out := os.Stdin, os.Stdout
	debug.SetMaxStack(256 << 20)
	debug.SetGCPercent(50)
	if err := restrict(); err != nil {
		exitWith(err)
	}
	// The first engine of a process is slow; this one is made before anybody waits for it.
	evaluate(request{Code: "0", Memory: 64 << 20, Output: 1 << 10})
	if err := writeFrame(out, frameReady, nil); err != nil {
		exitWith(err)
	}
	requests := make(chan request)
	go receive(in, requests)
	for q := range requests {
		if err := writeFrame(out, frameStarted, nil); err != nil {
			exitWith(err)
		}
		late := time.AfterFunc(time.Duration(q.Timeout)*time.Millisecond+overtime, func() { os.Exit(exitLate) })
		var res outcome
		if q.PDF != nil {
			res = readPDF(q.PDF)
		} else {
			res = evaluate(q)
		}
		late.Stop()
		if err := writeFrame(out, frameDone, res); err != nil {
			exitWith(err)
		}
	}
}

// receive ends the process when stdin ends, whatever else it is doing: the agent is gone then.
func receive(in *os.File, requests chan<- request) {
	for r := bufio.NewReader(in); ; {
		var q request
		if err := readFrame(r, frameRun, &q); err != nil {
			os.Exit(exitEnd)
		}
		requests <- q
	}
}

func exitWith(err error) {
	_, _ = os.Stderr.WriteString("mcphud sandbox worker: " + err.Error() + "\n")
	os.Exit(exitBroke)
}
