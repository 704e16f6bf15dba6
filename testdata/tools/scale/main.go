// Command scale says what bounds mcphud on more machines than one: what each thing costs, as TestBudgetCosts measured it, times how
// many there are, and a simulation of where calls wait.
//
//	go run ./testdata/tools/scale       prints the tables of the manual
package main

import (
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	c, err := measured()
	if err == nil {
		_, err = os.Stdout.WriteString(report(c))
	}
	if err != nil {
		log.Fatal(err)
	}
}
