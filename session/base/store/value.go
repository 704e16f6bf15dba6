package store

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// encode is an argument as PostgreSQL takes it, for whatever type it finds the argument to have: the format is 0 for text and 1 for
// bytes as they are.
func encode(v driver.Value) (raw []byte, format int16, err error) {
	switch v := v.(type) {
	case nil:
		return nil, 0, nil
	case string:
		return []byte(v), 0, nil
	case []byte:
		if v == nil {
			return nil, 1, nil
		}
		return v, 1, nil
	case int64:
		return strconv.AppendInt(nil, v, 10), 0, nil
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), 0, nil
	case bool:
		return strconv.AppendBool(nil, v), 0, nil
	case time.Time:
		return []byte(v.UTC().Format("2006-01-02 15:04:05.999999999Z07:00")), 0, nil
	case []string:
		return array(v), 0, nil
	}
	return nil, 0, fmt.Errorf("a %T cannot be stored", v)
}

// array is a list in PostgreSQL's text format.
func array(all []string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = `"` + escape.Replace(s) + `"`
	}
	return []byte("{" + strings.Join(quoted, ",") + "}")
}

// decode is a value in PostgreSQL's text format as database/sql wants it. Types that have no like in Go stay text.
func decode(oid uint32, raw []byte) (driver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	text := string(raw)
	switch oid {
	case 16: // bool
		return text == "t", nil
	case 20, 21, 23, 26: // int8, int2, int4, oid
		return strconv.ParseInt(text, 10, 64)
	case 700, 701: // float4, float8
		return strconv.ParseFloat(text, 64)
	case 17: // bytea
		return hex.DecodeString(strings.TrimPrefix(text, `\x`))
	case 1082: // date
		return time.Parse(time.DateOnly, text)
	case 1114: // timestamp
		return time.Parse("2006-01-02 15:04:05.999999999", text)
	case 1184: // timestamptz, in UTC
		return time.Parse("2006-01-02 15:04:05.999999999Z07", text)
	}
	return text, nil
}
