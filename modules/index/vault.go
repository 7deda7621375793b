package index

import (
	"strings"

	"vault/modules/vaultdir"
	"vault/platform/git"
)

// inVault reports whether a path lies below .vault/.
func inVault(path string) bool { return strings.HasPrefix(path, vaultdir.Dir) }

// dirOf reads the .vault/ files in force.
func dirOf(name string, files []VaultFile) (*vaultdir.Repo, []vaultdir.Finding) {
	var in []vaultdir.File
	for _, f := range files {
		text := f.UsedText
		if text == nil {
			text = f.Text
		}
		if text == nil {
			in = append(in, vaultdir.File{Path: f.Path})
			continue
		}
		in = append(in, vaultdir.File{Path: f.Path, Text: *text})
	}
	if len(in) == 0 {
		return vaultdir.Plain(name), nil
	}
	return vaultdir.Load(name, in)
}

// findingsOf lists what is wrong with the .vault/ files as they stand at
// head, those in force instead of a broken one included.
func findingsOf(name string, files []VaultFile) []vaultdir.Finding {
	_, findings := dirOf(name, files)
	for _, f := range files {
		if f.UsedOID == f.OID || f.UsedText == nil {
			continue
		}
		text := ""
		if f.Text != nil {
			text = *f.Text
		}
		_, broken := vaultdir.CheckFile(f.Path, text)
		findings = append(findings, broken...)
	}
	return findings
}

// settle puts the version at head into force if it is good.
func (f *VaultFile) settle() (good bool) {
	if f.Text == nil {
		return false
	}
	if ok, _ := vaultdir.CheckFile(f.Path, *f.Text); !ok {
		return false
	}
	f.UsedOID, f.UsedText = f.OID, f.Text
	return true
}

// broken reports whether another version than that at head is in force, or
// none at all.
func (f *VaultFile) broken() bool { return f.UsedText == nil || f.UsedOID != f.OID }

// forget takes back which version is in force.
func (f *VaultFile) forget() { f.UsedOID, f.UsedText = git.Zero, nil }
