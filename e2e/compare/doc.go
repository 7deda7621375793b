// Package compare holds what vault answers against what git, a straightforward
// scan and ripgrep say of the same repository. Its rules are written down anew
// here and share no code with what they check.
package compare
