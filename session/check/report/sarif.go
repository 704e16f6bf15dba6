package report

import (
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/check"
)

// Where SARIF readers find the schema of the file, and what wrote it.
const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	home        = "https://github.com/mcphud/mcphud"
)

// The objects of SARIF 2.1.0 that are written, with the members that are.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
type (
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifRule struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Short    sarifText      `json:"shortDescription"`
		Full     *sarifText     `json:"fullDescription,omitempty"`
		Help     sarifText      `json:"help"`
		HelpURI  string         `json:"helpUri,omitempty"`
		Default  sarifLevel     `json:"defaultConfiguration"`
		Property map[string]any `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Start         string              `json:"startTimeUtc"`
		End           string              `json:"endTimeUtc"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifArtifact struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifLogical struct {
		Name      string `json:"name,omitempty"`
		Qualified string `json:"fullyQualifiedName"`
		Kind      string `json:"kind"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifResult struct {
		Rule string `json:"ruleId"`
		// Index is nil for what is fixed: its rule may be none of those that ran. 0 is the first rule's, so that it must not go as empty.
		Index        *int               `json:"ruleIndex,omitempty"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints sarifFingerprints  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Baseline     string             `json:"baselineState,omitempty"`
		Property     *sarifProperties   `json:"properties,omitempty"`
	}
	sarifProperties struct {
		Sure     check.Confidence `json:"sure"`
		Evidence string           `json:"evidence,omitempty"`
		Repro    string           `json:"reproduce,omitempty"`
		Clients  []string         `json:"clients,omitempty"`
	}
	sarifFingerprints struct {
		Ours  string `json:"mcphud/v1"`
		Their string `json:"primaryLocationLineHash"`
	}
)

// sarif writes a run for each server.
func (p *junitWriter) sarif() {
	p.put(`{"$schema":"`, sarifSchema, `","version":"2.1.0","runs":[`)
	p.each(func(i int) {
		if i > 0 {
			p.put(",")
		}
		p.run()
	})
	p.put("]}\n")
}

// run writes one run, a result after the other. Findings of a baseline that are fixed are results too, absent ones: code scanning closes them by that.
func (p *junitWriter) run() {
	rules := p.o.Rules
	index := map[string]int{}
	for i, r := range rules {
		index[r.ID] = i
	}
	for i := range p.r.Findings {
		if f := &p.r.Findings[i]; f.ID != "" {
			if _, ok := index[f.ID]; !ok { // ruleIndex needs each rule in the list; which grows as a copy, since the array is the caller's
				index[f.ID] = len(rules)
				rules = append(rules[:len(rules):len(rules)], ruleOf(*f))
			}
		}
	}
	driver := sarifDriver{Name: p.r.Tool.Name, Version: p.r.Tool.Version, URI: home, Rules: make([]sarifRule, len(rules))}
	for i, r := range rules {
		driver.Rules[i] = sarifRuleOf(r)
	}
	run := sarifInvocation{
		Successful: !p.r.Interrupted, Start: p.r.Began.UTC().Format(time.RFC3339),
		End: p.r.Began.Add(time.Duration(p.r.Millis * float64(time.Millisecond))).UTC().Format(time.RFC3339),
	}
	for _, s := range p.r.Sections {
		if s.Error != "" {
			run.Successful = false
			run.Notifications = append(run.Notifications, sarifNotification{"error", message(s.Name + " was not finished: " + line(s.Error))})
		}
	}
	p.put(`{"tool":{"driver":`)
	p.value(driver)
	// What is before the last slash is the category: without one of its own each server's run would replace the one before it in code scanning.
	p.put(`},"automationDetails":{"id":`)
	p.value("mcphud/" + line(p.r.Server.Name) + "/")
	p.put(`},"invocations":[`)
	p.value(run)
	p.put(`],"columnKind":"utf16CodeUnits","results":[`)
	sep := "\n"
	for i := range p.r.Findings {
		f := &p.r.Findings[i]
		r := p.sarifResult(f)
		n := index[f.ID]
		r.Index = &n
		p.put(sep)
		p.value(r)
		sep = ",\n"
	}
	if b := p.r.Baseline; b != nil {
		for _, k := range b.Fixed {
			var at check.Place // a baseline has it as text: kind, name and pointer
			at.Kind, at.Name, _ = strings.Cut(k.Place, " ")
			at.Name, _, _ = strings.Cut(at.Name, " ")
			p.put(sep)
			p.value(sarifResult{
				Rule: k.Rule, Level: level(k.Severity), Message: message(k.Place + ": " + k.Message), Baseline: "absent",
				Locations: []sarifLocation{p.location(at, k.Place)}, Fingerprints: fingerprints(k.Fingerprint),
			})
			sep = ",\n"
		}
	}
	p.put("\n]}")
}

// sarifRuleOf is a rule as a descriptor. Those of safety have a security-severity, by which code scanning shows them as vulnerabilities.
func sarifRuleOf(r *check.Rule) sarifRule {
	out := sarifRule{
		ID: r.ID, Name: strings.ReplaceAll(r.ID, "/", "-"), Short: message(r.Title), HelpURI: r.Source, Default: sarifLevel{level(r.Severity)},
		Property: map[string]any{"tags": []string{"mcp", sectionOf(r.ID)}},
	}
	if r.Why != "" {
		full := message(r.Why)
		out.Full = &full
	}
	help := r.Title
	for _, more := range []struct{ head, s string }{{"Why: ", r.Why}, {"Fix: ", r.Fix}, {"Source: ", r.Source}} {
		if more.s != "" {
			help += "\n\n" + more.head + more.s
		}
	}
	out.Help = sarifText{help, help} // rules are written by us
	if sectionOf(r.ID) == "safety" { // high from 7.0, medium from 4.0, low below: none is critical, since whether it is an attack nobody knows
		out.Property["tags"] = []string{"mcp", "safety", "security"}
		out.Property["security-severity"] = map[check.Severity]string{check.Error: "8.0", check.Warning: "5.5", check.Info: "2.0"}[r.Severity]
	}
	return out
}

// sarifResult is a finding as a result. One that is ignored for a reason is suppressed, one that a baseline has is unchanged.
func (p *junitWriter) sarifResult(f *check.Finding) sarifResult {
	text := f.Place.String() + ": " + f.Message
	if f.Fix != "" {
		text += ". Fix: " + f.Fix
	}
	r := sarifResult{
		Rule: f.ID, Level: level(f.Severity), Message: message(text), Fingerprints: fingerprints(f.Fingerprint),
		Locations: []sarifLocation{p.locationOf(f)},
		Property:  &sarifProperties{f.Sure, f.Evidence, f.Repro, f.Clients},
	}
	if p.r.Baseline != nil {
		r.Baseline = "new"
	}
	switch f.Ignored {
	case "":
	case check.InBaseline:
		r.Baseline = "unchanged"
	default:
		r.Suppressions = []sarifSuppression{{"external", "accepted", f.Ignored}}
	}
	return r
}

// location is where a place is: in the artifact, and by its name.
func (p *junitWriter) location(at check.Place, text string) sarifLocation {
	a := p.o.Artifact
	// %SRCROOT% is the root of the repository, wherever it was checked out; a whole URI is below nothing.
	physical := sarifPhysical{Artifact: sarifArtifact{URI: a.uri(), BaseID: "%SRCROOT%"}, Region: sarifRegion{a.line(at.Name, p.r.Server.Name)}}
	if strings.HasPrefix(physical.Artifact.URI, "file:") {
		physical.Artifact.BaseID = ""
	}
	// The nearest of the kinds that SARIF has (3.33.7).
	kind := map[string]string{check.OfServer: "module", check.OfTool: "function", check.OfPrompt: "function", check.OfCall: "function"}[at.Kind]
	if kind == "" {
		kind = "resource"
	}
	return sarifLocation{physical, []sarifLogical{{Name: line(at.Name), Qualified: line(p.r.Server.Name + "/" + strings.ReplaceAll(text, " ", "/")), Kind: kind}}}
}

// locationOf is where a finding is: in the file that it names, else where its place is.
func (p *junitWriter) locationOf(f *check.Finding) sarifLocation {
	at := p.location(f.Place, f.Place.String())
	if f.File != "" {
		own := Artifact{Path: f.File}
		at.Physical = sarifPhysical{Artifact: sarifArtifact{URI: own.uri(), BaseID: "%SRCROOT%"}, Region: sarifRegion{max(f.Line, 1)}}
		if strings.HasPrefix(at.Physical.Artifact.URI, "file:") {
			at.Physical.Artifact.BaseID = ""
		}
	}
	return at
}

// fingerprints have ours twice: the second name is what code scanning goes by, which else would take the line, that several findings
// share.
func fingerprints(ours string) sarifFingerprints { return sarifFingerprints{ours, ours + ":1"} }

// level is a severity in SARIF's words.
func level(s check.Severity) string {
	switch {
	case s >= check.Error:
		return "error"
	case s == check.Warning:
		return "warning"
	}
	return "note"
}

// message is s as a plain text message: without placeholders (SARIF 3.11.5) and links (3.11.6).
func message(s string) sarifText {
	s = strings.ReplaceAll(strings.ReplaceAll(line(s), "{", "{{"), "}", "}}")
	return sarifText{Text: strings.ReplaceAll(s, "](", "] (")}
}
