package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// setting is one configuration value handed over in the environment.
type setting struct{ key, value string }

// environment is what a git process sees: nothing of ours but PATH. Helpers
// that git would ask for secrets or show text with are switched off, and
// replace refs and grafts do not change what an object is. The name is for
// reflogs only; without one git asks the network for this machine's.
func (r *Runner) environment(c call) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + r.home,
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=" + filepath.Join(r.home, "none"),
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_ALLOW_PROTOCOL=" + c.protocol,
		"GIT_AUTHOR_NAME=vault", "GIT_AUTHOR_EMAIL=vault@localhost",
		"GIT_COMMITTER_NAME=vault", "GIT_COMMITTER_EMAIL=vault@localhost",
	}
	if c.dir != "" {
		env = append(env, "GIT_DIR="+c.dir)
	} else {
		env = append(env, "GIT_DIR=/dev/null")
	}
	if c.protocol == "" {
		env = append(env, "GIT_NO_LAZY_FETCH=1")
	}
	env = append(env, c.env...)
	return append(env, configEnv(r.settings(c))...)
}

func (r *Runner) settings(c call) []setting {
	list := commonSettings()
	for _, dir := range c.safe {
		list = append(list, setting{"safe.directory", dir})
	}
	return append(list, c.config...)
}

// configEnv writes settings as git reads them from the environment; they
// outrank every file, the repository's included.
func configEnv(list []setting) []string {
	env := make([]string, 0, 2*len(list)+1)
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(list)))
	for i, s := range list {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}

// commonSettings are in force for every process.
//
// uploadpack.packObjectsHook is not among them because an empty value makes
// upload-pack run an empty command; since git 2.38 it is read from protected
// configuration only, of which there is none here.
func commonSettings() []setting {
	return []setting{
		// Nothing a repository names is run.
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"core.alternateRefsCommand", ""},
		{"core.attributesFile", "/dev/null"},
		{"core.excludesFile", "/dev/null"},
		{"core.askPass", ""},
		{"core.pager", "cat"},
		{"credential.helper", ""},
		{"log.showSignature", "false"},
		{"protocol.file.allow", "never"},
		{"protocol.ext.allow", "never"},
		{"submodule.recurse", "false"},
		{"fetch.recurseSubmodules", "false"},
		// Nothing runs behind our back.
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"receive.autogc", "false"},
		{"fetch.writeCommitGraph", "false"},
		// Derived files do not stand in for objects: a crafted commit graph
		// could lie about trees and parents.
		{"core.commitGraph", "false"},
		// Answers do not depend on the repository's taste.
		{"core.quotePath", "false"},
		{"core.abbrev", "no"},
		{"color.ui", "false"},
		{"diff.renames", "true"},
		{"diff.renameLimit", "1000"},
		{"diff.algorithm", "myers"},
		{"diff.indentHeuristic", "true"},
		{"diff.ignoreSubmodules", "none"},
		{"diff.noprefix", "false"},
		{"diff.mnemonicPrefix", "false"},
		{"diff.relative", "false"},
		{"diff.context", "3"},
		{"diff.interHunkContext", "0"},
		{"diff.suppressBlankEmpty", "false"},
		{"diff.orderFile", "/dev/null"},
		{"log.mailmap", "false"},
		{"log.follow", "false"},
		{"log.abbrevCommit", "false"},
		{"log.date", "default"},
		{"log.decorate", "false"},
		{"i18n.logOutputEncoding", "UTF-8"},
		// Memory stays bounded on packs made to exhaust it.
		{"core.bigFileThreshold", "32m"},
		{"core.packedGitLimit", "256m"},
		{"core.packedGitWindowSize", "16m"},
		{"core.deltaBaseCacheLimit", "48m"},
		{"pack.windowMemory", "64m"},
		{"pack.threads", "2"},
	}
}

// fsckSettings check transferred objects and let every finding through as a
// warning, since old public histories have some. What stays fatal is what git
// cannot read at all. Section is fetch or receive.
func fsckSettings(section string) []setting {
	list := []setting{{"transfer.fsckObjects", "true"}, {section + ".fsckObjects", "true"}}
	for _, id := range strings.Fields(fsckFindings) {
		list = append(list, setting{section + ".fsck." + id, "warn"})
	}
	return list
}

// fsckFindings are the findings that end a transfer unless told otherwise, as
// of git 2.39 (git help fsck, "FSCK MESSAGES"): errors, and warnings too, since
// a transfer is checked strictly.
const fsckFindings = `
	badDate badDateOverflow badEmail badName badObjectSha1 badParentSha1 badTimezone
	badTree badTreeSha1 badType duplicateEntries
	missingAuthor missingCommitter missingEmail missingNameBeforeEmail missingObject
	missingSpaceBeforeDate missingSpaceBeforeEmail missingTag missingTagEntry missingTree
	missingType missingTypeEntry multipleAuthors treeNotSorted unknownType
	zeroPaddedDate gitmodulesMissing gitmodulesBlob gitmodulesLarge gitmodulesName
	gitmodulesSymlink gitmodulesUrl gitmodulesPath gitmodulesUpdate
	emptyName fullPathname hasDot hasDotdot hasDotgit nullSha1 zeroPaddedFilemode nulInCommit
	gitattributesMissing gitattributesLarge gitattributesLineLength gitattributesBlob`
