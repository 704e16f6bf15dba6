package config

import _ "embed"

// Schema is the JSON Schema (2020-12) of mcphud.yaml and mcp.yaml.
//
//go:embed mcphud.schema.json
var Schema []byte
