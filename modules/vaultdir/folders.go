package vaultdir

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// readFolders turns the entries of folders into open, where no folder stands
// below another and "" is the root.
func (s *settings) readFolders(d *document) []Finding {
	var findings []Finding
	var open []string
	for i, entry := range s.Folders {
		folder, reason := cleanEntry(entry)
		if reason != "" {
			findings = append(findings, d.at(d.offset([]string{"folders", strconv.Itoa(i)}), RulePath, "this folder cannot be opened: %s", reason))
			continue
		}
		open = append(open, folder)
	}
	s.open = outermost(open)
	return findings
}

// cleanEntry brings a folder of the settings into normal form. "/" alone is
// the root.
func cleanEntry(entry string) (folder, reason string) {
	if entry == "/" {
		return "", ""
	}
	folder = strings.TrimSuffix(norm.NFC.String(entry), "/")
	return folder, judge(folder)
}

// outermost sorts folders and drops those that stand below another one.
func outermost(folders []string) []string {
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(a+"/", b+"/") })
	var kept []string
	for _, folder := range folders {
		if r := (&Repo{set: settings{open: kept}}); !r.below(folder) && !r.isOpenFolder(folder) {
			kept = append(kept, folder)
		}
	}
	if slices.Contains(kept, "") {
		return []string{""}
	}
	return kept
}

// pattern is one entry of exempt.
type pattern struct{ matcher *regexp.Regexp }

// readExempt compiles the entries of exempt.
func (s *settings) readExempt(d *document) []Finding {
	var findings []Finding
	for i, entry := range s.Exempt {
		p, reason := compilePattern(entry)
		if reason != "" {
			findings = append(findings, d.at(d.offset([]string{"exempt", strconv.Itoa(i)}), RulePath, "this entry cannot be used: %s", reason))
			continue
		}
		s.exempt = append(s.exempt, p)
	}
	return findings
}

// compilePattern makes a matcher of an entry: the file it names, or everything
// below the folder it names. A * stands for any characters within a part, a
// part ** for any number of parts, none included.
func compilePattern(entry string) (pattern, string) {
	folder, reason := cleanEntry(entry)
	if reason != "" {
		return pattern{}, reason
	}
	if folder == "" {
		return pattern{matcher: regexp.MustCompile("")}, ""
	}
	var b strings.Builder
	b.WriteString("^")
	parts := strings.Split(folder, "/")
	for i, part := range parts {
		switch {
		case part == "**" && i == len(parts)-1:
			b.WriteString(".+")
		case part == "**":
			b.WriteString("(?:[^/]+/)*")
		case strings.Contains(part, "**"):
			return pattern{}, `"**" stands for whole parts and cannot share one with other characters`
		default:
			b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(part), `\*`, "[^/]*"))
			if i < len(parts)-1 {
				b.WriteString("/")
			}
		}
	}
	b.WriteString("(?:/.*)?$")
	matcher, err := regexp.Compile(b.String())
	if err != nil {
		return pattern{}, "it is too large: " + unquoted(err.Error())
	}
	return pattern{matcher: matcher}, ""
}

// matches reports whether the pattern covers a path in NFC.
func (p pattern) matches(path string) bool { return p.matcher.MatchString(path) }
