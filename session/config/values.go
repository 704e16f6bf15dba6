package config

// Value is one member of a settings file that is a flat object of numbers, booleans and strings.
type Value struct {
	Key  string
	Text string // a string's content; a number or boolean as it is written
	Line int    // 1-based
	Col  int    // 1-based, in bytes
}

// ReadValues reads path, JSON (with comments) or YAML, as one object of plain values, in file order. Members that are no
// plain values are left out with a warning that has their line, as is the first of two with one name. The error is an
// *os.PathError, or a Warning for a file that could not be read as such an object.
func ReadValues(path string) ([]Value, []Warning, error) {
	b, err := readFile(path, maxYAML)
	if err != nil {
		return nil, nil, err
	}
	d, err := parse(path, b)
	if err != nil {
		return nil, nil, err
	}
	if k := d.root.kind(); k != object {
		if k == null { // nothing but comments
			return nil, nil, nil
		}
		line, col := d.root.pos()
		return nil, nil, Warning{File: path, Line: line, Col: col, Malformed: true, Message: "is " + string(k) + "; it must be an object such as {port: 7000}"}
	}
	var values []Value
	for _, m := range d.root.members() {
		switch k := m.value.kind(); k {
		case str, scalar:
			values = append(values, Value{Key: m.key, Text: m.value.text(), Line: m.line, Col: m.col})
		case null:
		default:
			d.warnAt(m.line, m.col, "%q is %s; it must be a number, true, false or a string", clip(m.key), k)
		}
	}
	return values, d.warnings, nil
}
