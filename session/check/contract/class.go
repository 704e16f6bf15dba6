package contract

// Class is what a change means for those who use a server, from the worst to the harmless. Which class a rule has says rules/contract.yaml; the
// words are those of the file and of reports.
type Class string

// The classes.
const (
	Security   Class = "security"         // what protects a person became weaker
	Breaking   Class = "breaking"         // calls or readers that work now may fail
	Behaviour  Class = "behaviour change" // a model may do something else with it
	Review     Class = "review"           // nobody can say without knowing the server
	Compatible Class = "compatible"       // whoever works now goes on working
)

// Classes are all of them, the worst first.
func Classes() []Class { return []Class{Security, Breaking, Behaviour, Review, Compatible} }
