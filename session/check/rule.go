package check

import "github.com/mcphud/mcphud/session/check/rules"

// Rule is what a finding is by: a row of one of the files of package rules.
type Rule = rules.Rule

// Severity is how much a finding matters.
type Severity = rules.Severity

// From least to most.
const (
	Info    = rules.Info
	Warning = rules.Warning
	Error   = rules.Error
)

// Confidence is how sure a finding is.
type Confidence string

// The empty one is Certain.
const (
	Certain  Confidence = "certain"  // seen
	Likely   Confidence = "likely"   // a person would agree most of the time
	Possible Confidence = "possible" // worth a look
)
