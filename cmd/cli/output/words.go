package output

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Ms is a duration in milliseconds, as JSON has it.
func Ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// OrNull is raw, or null where there is none.
func OrNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// Identity is a serverInfo object in a line: title, name and version.
func Identity(raw json.RawMessage) string {
	var i struct{ Name, Title, Version string }
	if json.Unmarshal(raw, &i) != nil || i.Name == "" && i.Title == "" {
		return string(raw)
	}
	name := i.Name
	if i.Title != "" && i.Title != i.Name {
		name = i.Title + " (" + i.Name + ")"
	}
	return strings.TrimSpace(name + " " + i.Version)
}

// ShortDate is a time as lists print it, "" for none.
func ShortDate(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.DateTime)
}

// DropEmptyColumn removes column i if no row has anything in it.
func DropEmptyColumn(rows [][]string, i int) [][]string {
	for _, r := range rows {
		if r[i] != "" {
			return rows
		}
	}
	for j, r := range rows {
		rows[j] = slices.Delete(r, i, i+1)
	}
	return rows
}
