package main

import (
	"fmt"
	"os"
	"strings"
)

// block is a part of a file without branches, as go tool cover has it.
type block struct {
	fromLine, fromCol, toLine, toCol, statements, count int
}

func (b block) has(m mutant) bool {
	after := m.line > b.fromLine || m.line == b.fromLine && m.col >= b.fromCol
	before := m.line < b.toLine || m.line == b.toLine && m.col < b.toCol
	return after && before
}

// cover is what tests ran, by file.
type cover map[string][]block

func readCover(file string) (cover, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := cover{}
	for line := range strings.Lines(string(raw)) {
		at := strings.LastIndexByte(line, ':')
		if at < 0 || strings.HasPrefix(line, "mode:") {
			continue
		}
		var b block
		_, err := fmt.Sscanf(line[at+1:], "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromCol, &b.toLine, &b.toCol, &b.statements, &b.count)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, line, err)
		}
		c[line[:at]] = append(c[line[:at]], b)
	}
	return c, nil
}

// passes reports that tests run what a mutant replaces, or may: what is outside of functions has no blocks.
func (c cover) passes(m mutant) bool {
	none := true
	for _, b := range c[m.imported] {
		if b.has(m) {
			if b.count > 0 {
				return true
			}
			none = false
		}
	}
	return none
}
