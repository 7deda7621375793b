package installations

import (
	"regexp"
	"strings"

	"vault/platform/fault"
)

var namePattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)

// reserved are the first path segments that the front uses or may come to use
// for itself.
var reserved = map[string]bool{
	".well-known": true, "admin": true, "api": true, "assets": true, "authorize": true, "callback": true,
	"consent": true, "docs": true, "favicon.ico": true, "guide": true, "health": true, "healthz": true,
	"hub": true, "login": true, "logout": true, "mcp": true, "metrics": true, "oauth": true, "readyz": true,
	"register": true, "revoke": true, "robots.txt": true, "setup": true, "sse": true, "static": true,
	"status": true, "token": true, "webhook": true, "www": true,
}

// CheckName judges the name that an installation is to be served under.
func CheckName(name string) error {
	switch {
	case name == "":
		return fault.Invalid("the installation has no name yet").On("name").
			Fix("Give it one with --name: it becomes the last part of the address that assistants add")
	case reserved[strings.ToLower(name)]:
		return fault.Invalid("the name %s is one that the service uses itself", fault.Quote(name)).On("name").
			Fix("Choose another name, such as the organisation's own")
	case !namePattern.MatchString(name):
		return fault.Invalid("%s cannot be a name", fault.Quote(name)).On("name").
			Fix("Use 1 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends")
	}
	return nil
}
