package stack

import _ "embed"

// Schema is the JSON Schema (2020-12) of mcphud.stack.yaml.
//
//go:embed stack.schema.json
var Schema []byte
