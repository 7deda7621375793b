package schema

import _ "embed"

// Settings is the JSON Schema (draft-07) of a repository's
// .vault/settings.jsonc.
//
//go:embed settings.schema.json
var Settings []byte
