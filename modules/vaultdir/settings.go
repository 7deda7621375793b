package vaultdir

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/go-playground/validator/v10"
)

// Where the files stand that this package reads.
const (
	Dir              = ".vault/"
	SettingsPath     = Dir + "settings.jsonc"
	InstructionsPath = Dir + "instructions.md"
)

// settings is settings.jsonc with its defaults filled in. The schema checks
// each value's shape; the tags here check what a schema cannot say.
type settings struct {
	Format            int        `json:"format"`
	Role              string     `json:"role"`
	Name              string     `json:"name"`
	Prompts           []Prompt   `json:"prompts" validate:"unique=Name"`
	Resources         []Resource `json:"resources" validate:"unique=Path"`
	Summary           string     `json:"summary"`
	Folders           []string   `json:"folders"`
	TypeField         string     `json:"typeField"`
	SummaryField      string     `json:"summaryField" validate:"nefield=TypeField"`
	Untyped           Severity   `json:"untyped"`
	FrontmatterSchema Severity   `json:"frontmatterSchema"`
	Exempt            []string   `json:"exempt"`
	DefaultType       string     `json:"defaultType"`
	Order             []string   `json:"order" validate:"unique"`
	Overview          *Overview  `json:"overview"`

	open   []string // Folders as paths, none below another; "" is the root
	exempt []pattern
}

// Prompt is a prompt the repository offers: a text with places for arguments.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Arguments   []Argument `json:"arguments"`
	// File is where the text stands, below .vault/prompts/.
	File string `json:"file"`
}

// Argument is one argument of a Prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Resource is a note the repository offers by itself.
type Resource struct {
	// Path is in the form CleanPath gives.
	Path        string `json:"path"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Overview says which frontmatter fields a list shows with each note.
type Overview struct {
	// Topic is the field that holds a note's topic; "" for none.
	Topic string `json:"topic"`
	// Fields are shown after Topic, in this order.
	Fields []string `json:"fields"`
}

func defaults() settings {
	return settings{
		Folders:           []string{"/"},
		TypeField:         "type",
		SummaryField:      "summary",
		Untyped:           Hint,
		FrontmatterSchema: Hint,
		open:              []string{""},
	}
}

// CheckSettings checks the text of a settings.jsonc by itself: syntax, keys,
// values, paths. ok says that this version may come into force. The
// repository's name on GitHub is compared by Load, not here.
func CheckSettings(text string) (ok bool, findings []Finding) {
	_, findings = readSettings(text)
	return good(findings), findings
}

// readSettings gives the settings in text; they are whole only when the
// findings are good.
func readSettings(text string) (settings, []Finding) {
	s := defaults()
	d, findings := parseDocument(SettingsPath, text)
	if d == nil {
		return s, findings
	}
	findings = d.duplicates()
	violations, err := d.checkSchema()
	if err != nil {
		return s, append(findings, *d.whole(RuleSyntax, "the settings could not be checked: %s", unquoted(err.Error())))
	}
	findings = append(findings, violations...)
	if good(findings) {
		findings = append(findings, s.decode(d)...)
	}
	sortFindings(findings)
	return s, findings
}

// decode fills s from a document that fits the schema, and checks what the
// schema cannot.
func (s *settings) decode(d *document) []Finding {
	if err := json.Unmarshal(d.standard(), s); err != nil {
		return []Finding{*d.whole(RuleValue, "the settings could not be read: %s", unquoted(err.Error()))}
	}
	findings := s.checkTags(d)
	findings = append(findings, s.readFolders(d)...)
	findings = append(findings, s.readExempt(d)...)
	findings = append(findings, s.readResources(d)...)
	return append(findings, s.readSummary(d)...)
}

// checkTags runs the rules of the struct's tags.
func (s *settings) checkTags(d *document) []Finding {
	var failed validator.ValidationErrors
	err := validator.New().Struct(s)
	if err == nil {
		return nil
	}
	if !errors.As(err, &failed) {
		return []Finding{*d.whole(RuleValue, "the settings could not be checked: %s", unquoted(err.Error()))}
	}
	var findings []Finding
	for _, f := range failed {
		key := strings.ToLower(f.Field()[:1]) + f.Field()[1:]
		message := "%q names the same thing twice"
		if f.Tag() == "nefield" {
			message = "%q may not be the field that holds the type"
		}
		findings = append(findings, d.at(d.offset([]string{key}), RuleValue, message, key))
	}
	return findings
}

// readResources brings the resources' paths into normal form and refuses those
// no tool could read.
func (s *settings) readResources(d *document) []Finding {
	var findings []Finding
	visible := &Repo{set: *s}
	for i := range s.Resources {
		clean, problem := visible.judgeArgument(s.Resources[i].Path, KindFile)
		if problem != nil {
			place := d.offset([]string{"resources", strconv.Itoa(i), "path"})
			findings = append(findings, d.at(place, RulePath, "%s", problem.Msg))
			continue
		}
		s.Resources[i].Path = clean
	}
	return findings
}

// readSummary reports a summary that is not shown as it is written. Too long a
// one is the schema's finding.
func (s *settings) readSummary(d *document) []Finding {
	clean := oneLine(s.Summary)
	if clean == s.Summary {
		s.Summary = cutLine(clean, SummaryLimit)
		return nil
	}
	s.Summary = cutLine(clean, SummaryLimit)
	f := d.at(d.offset([]string{"summary"}), RuleText, "the summary is shown on one line, without control and bidirectional characters and needless blanks")
	f.Severity = Warning
	return []Finding{f}
}
