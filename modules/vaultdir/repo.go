package vaultdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vault/platform/fault"
)

// Rev identifies the text of a .vault/ folder that is in force: two folders of
// the same files have the same Rev. It is "" where there is no .vault/.
type Rev string

// File is one file of a .vault/ folder: its path in the repository, such as
// ".vault/settings.jsonc", and its text.
type File struct{ Path, Text string }

// Repo is what one repository's .vault/ folder says, checked and complete. It
// never changes; everything it gives out is the caller's own.
type Repo struct {
	set          settings
	repoName     string
	rev          Rev
	instructions string
	closed       string // why nothing is open; "" when something is
}

// Plain gives a repository without .vault/: all of it open, every setting at
// its default. repoName is GitHub's name of the repository.
func Plain(repoName string) *Repo {
	return &Repo{set: defaults(), repoName: repoName}
}

// Load reads the files of a repository's .vault/ folder. repoName is GitHub's
// name of the repository. For each path files holds the version in force, the
// last one CheckFile called good; where no version ever was good it holds the
// current one, and then a settings.jsonc closes the repository (Repo.Closed).
// No files at all give Plain.
func Load(repoName string, files []File) (*Repo, []Finding) {
	r := Plain(repoName)
	if len(files) == 0 {
		return r, nil
	}
	r.rev = revOf(files)
	byPath := make(map[string]string, len(files))
	for _, f := range files {
		byPath[f.Path] = f.Text
	}
	_, configured := byPath[SettingsPath]
	findings := strayFiles(files, configured)
	if configured {
		findings = append(findings, r.loadSettings(byPath[SettingsPath])...)
	} else {
		findings = append(findings, r.withoutSettings(files))
	}
	if text, ok := byPath[InstructionsPath]; ok {
		findings = append(findings, r.loadInstructions(text)...)
	}
	sortFindings(findings)
	return r, findings
}

// CheckFile checks one file of a .vault/ folder by itself. ok says that this
// version may come into force.
func CheckFile(path, text string) (ok bool, findings []Finding) {
	switch path {
	case SettingsPath:
		return CheckSettings(text)
	case InstructionsPath:
		_, findings = readInstructions(text)
		return good(findings), findings
	}
	return true, nil
}

// revOf hashes files independently of their order. Lengths stand before the
// texts, so that no two folders share one hash.
func revOf(files []File) Rev {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	h := sha256.New()
	for _, f := range sorted {
		fmt.Fprintf(h, "%d %s%d %s", len(f.Path), f.Path, len(f.Text), f.Text)
	}
	return Rev(hex.EncodeToString(h.Sum(nil)))
}

func (r *Repo) loadSettings(text string) []Finding {
	s, findings := readSettings(text)
	if !good(findings) {
		r.close(firstError(findings))
		return findings
	}
	r.set = s
	if s.Name != r.repoName {
		findings = append(findings, nameFinding(text, s.Name, r.repoName))
	}
	return findings
}

func nameFinding(text, name, repoName string) Finding {
	f := Finding{Path: SettingsPath}
	if d, _ := parseDocument(SettingsPath, text); d != nil {
		f = d.at(d.offset([]string{"name"}), RuleName, "")
	}
	f.Severity, f.Rule = Warning, RuleName
	f.Message = fmt.Sprintf("the name is %s, and the repository is called %s; the repository's name counts", fault.Quote(name), fault.Quote(repoName))
	return f
}

func firstError(findings []Finding) Finding {
	return findings[slices.IndexFunc(findings, func(f Finding) bool { return f.Severity == Error })]
}

// close shuts the repository because of an error in its settings.
func (r *Repo) close(because Finding) {
	place := fault.Quote(because.Path)
	if because.Line > 0 {
		place = fmt.Sprintf("%s, line %d", place, because.Line)
	}
	r.closed = fmt.Sprintf("the repository %s is closed until its settings are mended (%s: %s)",
		fault.Quote(r.repoName), place, because.Message)
	r.set.open = nil
}

// misnamed are file names that were evidently meant to be settings.jsonc.
var misnamed = []string{"settings.json", "settings.json5", "settings.yaml", "settings.yml", "settings.toml", "settings.jsonc"}

// withoutSettings deals with a folder that has no settings.jsonc: one that has
// it under another name closes the repository, since what it was to keep
// closed is not known.
func (r *Repo) withoutSettings(files []File) Finding {
	for _, f := range files {
		base, inDir := strings.CutPrefix(f.Path, Dir)
		if inDir && slices.Contains(misnamed, strings.ToLower(base)) {
			finding := Finding{Path: f.Path, Severity: Error, Rule: RuleFile, Message: "the settings must be in settings.jsonc; a file of this name is not read"}
			r.close(finding)
			return finding
		}
	}
	return Finding{
		Path: SettingsPath, Severity: Warning, Rule: RuleFile,
		Message: "there is no settings.jsonc; the whole repository is open, as without .vault/",
	}
}

// strayFiles reports files directly in .vault/ whose names are nearly those
// that are read. Others, a README for instance, are nobody's business. Where
// there are no settings, withoutSettings reports the misnamed ones.
func strayFiles(files []File, configured bool) []Finding {
	var findings []Finding
	known := []string{path.Base(SettingsPath), path.Base(InstructionsPath)}
	for _, f := range files {
		base := strings.TrimPrefix(f.Path, Dir)
		if slices.Contains(known, base) || strings.Contains(base, "/") {
			continue
		}
		if !configured && slices.Contains(misnamed, strings.ToLower(base)) {
			continue
		}
		if near, ok := Nearest(base, known); ok {
			findings = append(findings, Finding{
				Path: f.Path, Severity: Warning, Rule: RuleFile,
				Message: fmt.Sprintf("a file of this name is not read; did you mean %s?", near),
			})
		}
	}
	return findings
}

// Rev identifies the .vault/ text this was made of.
func (r *Repo) Rev() Rev { return r.rev }

// RepoName is GitHub's name of the repository.
func (r *Repo) RepoName() string { return r.repoName }

// Closed gives the sentence, without a final full stop, that says why nothing
// of the repository is open, and whether that is so.
func (r *Repo) Closed() (reason string, closed bool) { return r.closed, r.closed != "" }

// Summary is the repository's line in the tool list: one line of at most
// SummaryLimit characters, "" for none.
func (r *Repo) Summary() string { return r.set.Summary }

// Instructions is what an assistant is told about the repository: at most
// InstructionsLimit characters of Markdown whose headings are of level three
// or lower and which leaves no block open; "" for none.
func (r *Repo) Instructions() string { return r.instructions }

// Folders lists the open folders by name, each with a slash at its end; "/"
// alone is the whole repository. A closed repository has none.
func (r *Repo) Folders() []string {
	list := make([]string, len(r.set.open))
	for i, folder := range r.set.open {
		list[i] = folder + "/"
	}
	return list
}

// TypeField is the frontmatter field that holds a note's type.
func (r *Repo) TypeField() string { return r.set.TypeField }

// SummaryField is the frontmatter field that sums a note or a folder up.
func (r *Repo) SummaryField() string { return r.set.SummaryField }

// Untyped is how a note without a type is reported: Hint or Error.
func (r *Repo) Untyped() Severity { return r.set.Untyped }

// FrontmatterSchema is how a note that breaks its type's schema is reported:
// Hint or Warning.
func (r *Repo) FrontmatterSchema() Severity { return r.set.FrontmatterSchema }

// DefaultType is the type of a new note that names none; "" for none.
func (r *Repo) DefaultType() string { return r.set.DefaultType }

// Order lists the special tools that come first, in this order.
func (r *Repo) Order() []string { return slices.Clone(r.set.Order) }

// Overview says which fields a list shows with each note; nil for none.
func (r *Repo) Overview() *Overview {
	if r.set.Overview == nil {
		return nil
	}
	return &Overview{Topic: r.set.Overview.Topic, Fields: slices.Clone(r.set.Overview.Fields)}
}

// Prompts lists the prompts the repository offers.
func (r *Repo) Prompts() []Prompt {
	list := slices.Clone(r.set.Prompts)
	for i := range list {
		list[i].Arguments = slices.Clone(list[i].Arguments)
	}
	return list
}

// Resources lists the notes the repository offers by themselves.
func (r *Repo) Resources() []Resource { return slices.Clone(r.set.Resources) }

// Exempt reports whether no type rule applies to the file at a stored path:
// every README.md, and what the settings exempt.
func (r *Repo) Exempt(file string) bool {
	file = norm.NFC.String(file)
	if path.Base(file) == "README.md" {
		return true
	}
	return slices.ContainsFunc(r.set.exempt, func(p pattern) bool { return p.matches(file) })
}
