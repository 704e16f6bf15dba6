// Command inventory lists the modules that are part of mcphud, for those who get it as a binary: a notice with the texts of their
// licences, and a bill of materials in CycloneDX's format.
//
//	inventory notice FILE            writes the notice of every system that mcphud is released for
//	inventory sbom BINARY FILE       writes the bill of materials of a binary
package main

import (
	"bytes"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	var out bytes.Buffer
	var file string
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "notice":
		file, err = args[1], notice(&out, "github.com/mcphud/mcphud/cmd/mcphud")
	case len(args) == 3 && args[0] == "sbom":
		file, err = args[2], sbom(&out, args[1])
	default:
		log.Fatal("usage: inventory notice FILE | inventory sbom BINARY FILE")
	}
	if err != nil {
		log.Fatal(err)
	}
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, out.Bytes()) {
		return
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
