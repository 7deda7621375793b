package index

import (
	"context"
	"runtime"
	"time"

	"github.com/sourcegraph/conc/pool"
)

const (
	// walkTime bounds a search that no index helps with.
	walkTime = 10 * time.Second
	// firstChunk and lastChunk are how many notes are looked at before it is
	// asked whether there are enough hits: few at first, since most searches
	// are soon done.
	firstChunk = 32
	lastChunk  = 512
	// walkNotes is how many notes without a hit are walked through before the
	// search index is asked for all there are, and walkLimit how many there
	// may be left to walk through instead. A thousand take about eight
	// milliseconds.
	walkNotes = 400
	walkLimit = 2000
	// walkShare is how many notes can be walked through while the index finds
	// one.
	walkShare = 10
)

// SearchQuery says what Search looks for.
type SearchQuery struct {
	// Repos names the repositories; none means every complete one.
	Repos []string
	// Query is the text to find, or a regular expression of RE2 syntax if
	// Regex is set. Letter case counts when it holds an upper-case letter.
	Query string
	Regex bool
	// Folder keeps notes below a folder, a path in NFC without a final slash;
	// "" is the root. File keeps one note, by its stored path.
	Folder, File string
	// Offset hits are left out, and at most Limit are given.
	Offset, Limit int
}

// Match is one line that matches.
type Match struct {
	// Repo is the repository's name and Path the path in it.
	Repo, Path string
	// Line is the line's number, from 1.
	Line int
	// Text is the line without its end, or 300 characters of it around the
	// match; Shortened says which.
	Text      string
	Shortened bool
}

// SearchResult is a page of hits.
type SearchResult struct {
	// Matches are by repository name, path and line; each line comes once.
	Matches []Match
	// HasMore says that more follow after this page.
	HasMore bool
	// Stopped says that the time was up: no index helps with this query, and
	// notes behind StoppedAt were not looked at.
	Stopped   bool
	StoppedAt Match
}

// Search finds lines. It runs repository by repository, so that those that the
// caller cannot read cost nothing.
func (s *Snapshot) Search(ctx context.Context, q SearchQuery) (SearchResult, error) {
	p, err := compile(q.Query, q.Regex)
	if err != nil {
		return SearchResult{}, err
	}
	repos, err := s.readable(q.Repos)
	if err != nil {
		return SearchResult{}, err
	}
	c := &collector{skip: q.Offset, room: q.Limit, deadline: time.Now().Add(s.index.walk)}
	for _, r := range repos {
		if err := s.searchRepo(ctx, r, q, p, c); err != nil {
			return SearchResult{}, err
		}
		if c.result.HasMore || c.result.Stopped {
			break
		}
	}
	return c.result, nil
}

// collector gathers hits until there are enough.
type collector struct {
	skip, room int
	deadline   time.Time
	result     SearchResult
}

// add takes a hit; false says that there are enough.
func (c *collector) add(m Match) bool {
	switch {
	case c.skip > 0:
		c.skip--
	case c.room > 0:
		c.room--
		c.result.Matches = append(c.result.Matches, m)
	default:
		c.result.HasMore = true
		return false
	}
	return true
}

// left is how many more hits can be of use.
func (c *collector) left() int { return c.skip + c.room + 1 }

// candidate is a note that may match.
type candidate struct {
	path string
	text string
}

// candidates gives notes in path order, some at a time. more is false behind
// the last.
type candidates interface {
	next(ctx context.Context, s step) (list []candidate, more bool, err error)
	// walks says that it reads every note, which takes time that grows with
	// the repository.
	walks() bool
	// at is the path up to which notes were given.
	at() string
}

// step says how a search goes on.
type step struct {
	size int // how many notes to look at
	// notes were looked at so far, of which candidates held what is looked up;
	// there were hits, and wanted more are of use.
	notes, candidates, hits, wanted int
}

// dense reports whether so many notes hold what is looked up that the search
// index, which unpacks each of them, is no faster than a walk.
func (s step) dense() bool { return s.candidates*walkShare > s.notes }

// far reports whether the hits so far say that very many notes are still to
// be walked through.
func (s step) far() bool {
	return s.hits > 0 && s.notes/s.hits*s.wanted > walkLimit && !s.dense()
}

// collect looks at candidates until there are enough hits. The next ones are
// fetched while the current ones are looked at.
func collect(ctx context.Context, from candidates, p pattern, c *collector, repo string) error {
	type fetched struct {
		list []candidate
		more bool
		at   string
		err  error
	}
	next := step{size: firstChunk}
	fetch := func(s step) fetched {
		list, more, err := from.next(ctx, s)
		return fetched{list: list, more: more, at: from.at(), err: err}
	}
	current := fetch(next)
	for {
		if current.err != nil {
			return current.err
		}
		next.notes += next.size
		next.candidates += len(current.list)
		next.size = min(2*next.size, lastChunk)
		var ahead chan fetched
		if current.more && next.notes > firstChunk {
			ahead = make(chan fetched, 1)
			go func(s step) { ahead <- fetch(s) }(next)
		}
		before := c.left()
		enough := look(current.list, p, c, repo)
		next.hits, next.wanted = next.hits+before-c.left(), c.left()
		at := current.at
		switch {
		case ahead != nil:
			// The query that runs is waited for: ending it early would end
			// the whole snapshot.
			current = <-ahead
		case current.more && !enough:
			current = fetch(next)
		default:
			return nil
		}
		if enough {
			return nil
		}
		if from.walks() && time.Now().After(c.deadline) {
			c.result.Stopped, c.result.StoppedAt = true, Match{Repo: repo, Path: at}
			return nil
		}
	}
}

// look matches candidates on all cores and takes their hits in order. It
// reports whether there are enough.
func look(list []candidate, p pattern, c *collector, repo string) (enough bool) {
	most := c.left()
	hits := make([][]lineHit, len(list))
	find := func(i int) {
		p.lines(list[i].text, func(h lineHit) bool {
			hits[i] = append(hits[i], h)
			return len(hits[i]) < most
		})
	}
	if len(list) <= firstChunk {
		for i := range list {
			find(i)
		}
	} else {
		workers := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0))
		const share = 16
		for from := 0; from < len(list); from += share {
			workers.Go(func() {
				for i := from; i < min(from+share, len(list)); i++ {
					find(i)
				}
			})
		}
		workers.Wait()
	}
	for i, found := range hits {
		for _, h := range found {
			text, shortened := h.shown()
			if !c.add(Match{Repo: repo, Path: list[i].path, Line: h.number, Text: text, Shortened: shortened}) {
				return true
			}
		}
	}
	return false
}
