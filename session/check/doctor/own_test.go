package doctor

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestHome(t *testing.T) {
	for s, want := range map[string]string{
		"/home/me":                        "~",
		"in /home/me/x, and /home/me/y":   "in ~/x, and ~/y",
		"--dir=/home/me/x -I/home/me/inc": "--dir=~/x -I~/inc",
		"file:///home/me/x":               "file://~/x",
		"/home/me2/x /home/men":           "/home/me2/x /home/men",
		"/mnt/home/me/x":                  "/mnt/home/me/x",
		"PATH=/srv/home/me:/home/me/bin":  "PATH=/srv/home/me:~/bin",
	} {
		assert.Equalf(t, home(s, "/home/me"), want, "%s", s)
	}
}

func TestRangesOfVersions(t *testing.T) {
	for wanted, want := range map[string]bool{
		">=18": true, ">=  18": true, ">\t20": false, "<=18 || >=  21": false, " ^ 20 ": true, "18 - 20": true, "18  -  19": false, "~20.1": true,
		"~20.0": false, "20.x": true, "*": true, "": true, "lts/*": true, ">20": false, "<20.1.1": true,
	} {
		assert.Equalf(t, satisfies("20.1.0", wanted), want, "%q", wanted)
	}
}

func TestPlaceholders(t *testing.T) {
	for v, want := range map[string]bool{"your-key": true, "<token>": true, "Bearer YOUR_TOKEN": true, "our-team": false, "yours": false, "x": false} {
		assert.Equalf(t, placeholder(v), want, "%s", v)
	}
}
