package cost

// From which numbers on the rules speak.
const (
	heavyList        = 25_000 // tokens of all tools
	heavyTool        = 2000
	quarterOf        = 5 // tools are as many at least where one may be said to take a quarter
	quarterTokens    = 500
	longDescription  = 500
	longParameter    = 150
	longInstructions = 500
	largeEnum        = 100 // values
	largeEnumTokens  = 300
	longExamples     = 100
	repeatedAt       = 3   // places with the same description
	repeatedSaves    = 100 // tokens
	repeatedSchema   = 60  // tokens of a schema that is there more than once
	idleTokens       = 50  // tokens of titles or keywords that say nothing
)
