package inspector

import "strings"

// elsewhere are the options and methods of the Inspector that are not taken here, with the command of mcphud that does the same.
var elsewhere = map[string]string{
	"--strict":                   "mcphud check lint",
	"--verify":                   "mcphud skills verify",
	"--require-digests":          "mcphud skills verify",
	"--skill-catalog-max-skills": "mcphud skills verify",
	"--skill-catalog-max-bytes":  "mcphud skills verify",
	"--load":                     "mcphud bench",
	"--load-concurrency":         "mcphud bench",
	"--load-duration":            "mcphud bench",
	"--load-requests":            "mcphud bench",
	"--load-rate":                "mcphud bench",
	"--wait-for-auth":            "mcphud auth login",
	"--print-handoff":            "mcphud auth login",
	"--relogin":                  "mcphud auth logout",
	"--no-revoke":                "mcphud auth logout",
	"--list-stored-auth":         "mcphud auth status",
	"--rename":                   "mcphud servers edit",
	"servers/list":               "mcphud servers list",
	"servers/show":               "mcphud servers list",
	"servers/add":                "mcphud servers add",
	"servers/edit":               "mcphud servers edit",
	"servers/remove":             "mcphud servers remove",
}

// Elsewhere is the command of mcphud for an option or a method that is not taken here; "" for all others.
func Elsewhere(word string) string { return elsewhere[word] }

// pointed is the error of an option or a method that is not taken here, nil for others. An option may have its value behind an equals sign.
func pointed(word string) error {
	name, _, _ := strings.Cut(word, "=")
	if verb := elsewhere[name]; verb != "" {
		return fail(name + " is not taken by mcphud --cli: use " + verb + " (see " + verb + " --help)")
	}
	return nil
}
