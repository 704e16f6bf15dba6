package routes

import _ "embed"

// Schema is the JSON Schema (2020-12) of routing.json.
//
//go:embed routing.schema.json
var Schema []byte
