package dev

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

var unnameable = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// RepositoryName gives the name under which a folder is served: its base
// name, without `.git`, with every character that GitHub does not allow in a
// name replaced by a dash.
func RepositoryName(folder string) string {
	name := strings.TrimSuffix(filepath.Base(folder), ".git")
	return unnameable.ReplaceAllString(name, "-")
}

// Folders pairs each folder, made absolute, with its name. Two folders of one
// name, or a name GitHub would not take, are an error.
func Folders(args []string) ([]Folder, error) {
	var list []Folder
	taken := map[string]string{}
	for _, arg := range args {
		path, err := filepath.Abs(arg)
		if err != nil {
			return nil, fmt.Errorf("find the folder %s: %w", arg, err)
		}
		name := RepositoryName(path)
		if path == string(filepath.Separator) || strings.Trim(name, ".") == "" {
			return nil, fmt.Errorf("the folder %s has no name that a repository can have; give its full path", arg)
		}
		if other, ok := taken[strings.ToLower(name)]; ok {
			return nil, fmt.Errorf("the folders %s and %s would both be the repository %s; rename one of them", other, path, name)
		}
		taken[strings.ToLower(name)] = path
		list = append(list, Folder{Path: path, Name: name})
	}
	return list, nil
}

// Folder is one served folder.
type Folder struct{ Path, Name string }
