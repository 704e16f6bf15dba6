package mock

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
)

// Bounds of a comparison, for arguments of any size.
const (
	maxDepth  = 16
	maxItems  = 256
	maxCompar = 4096 // bytes of a text
)

// parse decodes arguments for a comparison; what does not decode is like nothing.
func parse(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// likeness says from 0 to 1 how much of two values is the same: shared members and places count most, then types, then how near the
// values are.
func likeness(a, b any) float64 { return similarity(a, b, 0) }

func similarity(a, b any, depth int) float64 {
	if depth > maxDepth {
		return 0
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return objects(a, b, depth)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return arrays(a, b, depth)
		}
	case string:
		if b, ok := b.(string); ok {
			return sameType + (1-sameType)*texts(a, b)
		}
	case json.Number:
		if b, ok := b.(json.Number); ok {
			return sameType + (1-sameType)*numbers(a, b)
		}
	case bool:
		if b, ok := b.(bool); ok {
			if a == b {
				return 1
			}
			return sameType
		}
	case nil:
		if b == nil {
			return 1
		}
	}
	return 0
}

// sameType is how alike two values are that share no more than their type.
const sameType = 0.25

func objects(a, b map[string]any, depth int) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	all, sum, n := len(b), 0.0, 0
	for k, v := range a {
		w, both := b[k]
		if !both {
			all++
			continue
		}
		if n++; n <= maxItems {
			sum += similarity(v, w, depth+1)
		}
	}
	return sum / float64(all)
}

func arrays(a, b []any, depth int) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	sum := 0.0
	for i := range min(len(a), len(b), maxItems) {
		sum += similarity(a[i], b[i], depth+1)
	}
	return sum / float64(max(len(a), len(b)))
}

// texts compares by the beginning and the end that two texts share, whatever their case.
func texts(a, b string) float64 {
	if a == b {
		return 1
	}
	a, b = strings.ToLower(a[:min(len(a), maxCompar)]), strings.ToLower(b[:min(len(b), maxCompar)])
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if long == 0 {
		return 0.9
	}
	head, tail := 0, 0
	for head < short && a[head] == b[head] {
		head++
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return 0.9 * float64(head+tail) / float64(long)
}

func numbers(a, b json.Number) float64 {
	if a == b {
		return 1
	}
	x, err1 := a.Float64()
	y, err2 := b.Float64()
	if err1 != nil || err2 != nil {
		return 0
	}
	if x == y {
		return 1
	}
	return 0.9 * max(0, 1-math.Abs(x-y)/(math.Abs(x)+math.Abs(y)))
}
