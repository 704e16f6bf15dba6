package store

import (
	"database/sql/driver"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestPlaceholders(t *testing.T) {
	plain := []driver.NamedValue{{Ordinal: 1}, {Ordinal: 2}}
	for query, want := range map[string]string{
		`SELECT 1`:                                     `SELECT 1`,
		`a = ? AND b = ?`:                              `a = $1 AND b = $2`,
		`a = ?1 AND b = ?2 OR c = ?1`:                  `a = $1 AND b = $2 OR c = $1`,
		`a = ?3 AND b = ?`:                             `a = $3 AND b = $4`,
		`a = ?12`:                                      `a = $12`,
		`a = '?' AND b = 'it''s ?' AND c = ?`:          `a = '?' AND b = 'it''s ?' AND c = $1`,
		`a = '\' AND b = ?`:                            `a = '\' AND b = $1`,
		`a = E'\'?' AND b = ?`:                         `a = E'\'?' AND b = $1`,
		`a = e'\\' AND b = ?`:                          `a = e'\\' AND b = $1`,
		`"what?" = ?`:                                  `"what?" = $1`,
		"a = ? -- or ?\nAND b = ?":                     "a = $1 -- or ?\nAND b = $2",
		`a = ? /* ? /* ? */ ? */ AND b = ?`:            `a = $1 /* ? /* ? */ ? */ AND b = $2`,
		`DO $$ BEGIN ? END $$; a = ?`:                  `DO $$ BEGIN ? END $$; a = $1`,
		`DO $x$ ? $$ ? $x$; a = ?`:                     `DO $x$ ? $$ ? $x$; a = $1`,
		`a = $1 AND b = '$' AND a$b = 1`:               `a = $1 AND b = '$' AND a$b = 1`,
		`a @> b AND a @@ c AND a @@tenants AND @other`: `a @> b AND a @@ c AND a @@tenants AND @other`,
		`a = ? AND b = 'no end ?`:                      `a = $1 AND b = 'no end ?`,
		`a = ? /* no end ?`:                            `a = $1 /* no end ?`,
		`a = ? -- no end ?`:                            `a = $1 -- no end ?`,
		`a = ? $$ no end ?`:                            `a = $1 $$ no end ?`,
		`é? = ? AND "ü?"`:                              `é$1 = $2 AND "ü?"`,
	} {
		if got, _ := numberPlaceholders(query, plain); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestNamedArguments(t *testing.T) {
	named := []driver.NamedValue{{Name: "none", Ordinal: 1, Value: "n"}, {Name: "tenant", Ordinal: 2, Value: "t"}, {Name: "type", Ordinal: 3, Value: "y"}, {Ordinal: 4, Value: "4"}}
	for query, want := range map[string]string{
		`a = @type OR b = @tenant AND c = @type`:         `a = $1 OR b = $2 AND c = $1 yt`,
		`a = ?4 OR b = @tenant AND c = ?4`:               `a = $1 OR b = $2 AND c = $1 4t`,
		`a = @tenants AND 'me@type' AND b = "@type" = ?`: `a = @tenants AND 'me@type' AND b = "@type" = $1 n`,
		`a @> b AND a @@ c AND a @@tenants AND @other`:   `a @> b AND a @@ c AND a @@tenants AND @other `,
	} {
		got, args := numberPlaceholders(query, named)
		got += " "
		for _, a := range args {
			got += a.Value.(string)
		}
		assert.Equalf(t, got, want, "%s", query)
	}
}
