package lint

import "regexp/syntax"

// explodes returns the first part of a pattern that is repeated without bound and consists of nothing else than a repetition without bound,
// but for what can be empty: a value can then be split between the two in as many ways as 2 to the power of its length. "" if none is, or
// the pattern is not one of Go's.
func explodes(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil { // with look-around, say: of what it cannot take apart it says nothing
		return ""
	}
	return nestedRepeat(re)
}

// nestedRepeat is explodes of a pattern that was parsed.
func nestedRepeat(re *syntax.Regexp) string {
	if isUnbounded(re) && repeats(re.Sub[0]) {
		return re.String()
	}
	for _, sub := range re.Sub {
		if s := nestedRepeat(sub); s != "" {
			return s
		}
	}
	return ""
}

// isUnbounded reports whether re repeats something without bound.
func isUnbounded(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0
}

// repeats reports whether re can match what one repetition without bound in it matches, and no more.
func repeats(re *syntax.Regexp) bool {
	switch {
	case isUnbounded(re):
		return true
	case re.Op == syntax.OpCapture || re.Op == syntax.OpQuest:
		return repeats(re.Sub[0])
	case re.Op == syntax.OpAlternate:
		for _, sub := range re.Sub {
			if repeats(sub) {
				return true
			}
		}
	case re.Op == syntax.OpConcat:
		// In (a+b)+ the b says where each part ends, so that there is one way to split a value; in (a+b?)+ it does not.
		for i, sub := range re.Sub {
			if !repeats(sub) {
				continue
			}
			alone := true
			for j, other := range re.Sub {
				alone = alone && (j == i || empty(other))
			}
			if alone {
				return true
			}
		}
	}
	return false
}

// empty reports whether re matches the empty text.
func empty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || empty(re.Sub[0])
	case syntax.OpPlus, syntax.OpCapture:
		return empty(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !empty(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if empty(sub) {
				return true
			}
		}
	}
	return false
}
