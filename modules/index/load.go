package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/sourcegraph/conc/pool"

	"vault/platform/git"
	"vault/platform/postgres"
)

const (
	// batchBytes and batchCount bound the texts that are stored at once.
	batchBytes = 4 << 20
	batchCount = 1000
	// storeAttempts bounds how often a batch is stored when another worker
	// stores the same texts at the same time.
	storeAttempts = 5
)

// want is one blob whose text is to be stored.
type want struct {
	oid  git.OID
	size int64 // -1: unknown
	note bool  // it is also read as a note
}

// item is a wanted blob on its way into the database.
type item struct {
	want
	id     int64 // of the stored blob; 0: none yet
	kind   Kind
	text   string
	hasDoc bool
	read   *reading
}

// fetchFunc gives the contents of blobs, in any order. One that it does not
// have is left out or given as missing.
type fetchFunc func(ctx context.Context, oids []git.OID, fn func(git.Blob) error) error

// errEnough ends a reading whose time is up.
var errEnough = errors.New("enough for one slice")

// loader stores the wanted texts of one repository.
type loader struct {
	index *Index
	repo  int64
	fetch fetchFunc
	// more is asked behind each batch; false ends the work early.
	more func() bool
	// stored is told after each batch how many texts were stored.
	stored func(ctx context.Context, n int) error
}

// load stores what is missing of the wanted texts, in batches that stay when
// the work ends early. left is how many are still missing then.
func (l *loader) load(ctx context.Context, wants []want) (left int, err error) {
	missing, err := l.index.missing(ctx, l.repo, wants)
	if err != nil {
		return 0, err
	}
	done := 0
	count := func(ctx context.Context, n int) error {
		done += n
		return l.stored(ctx, n)
	}
	err = l.run(ctx, missing, count)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return len(missing) - done, err
}

// run passes batches from the reader of contents to the writer of rows.
// Reading a batch into rows happens on all cores, while the next is fetched.
func (l *loader) run(ctx context.Context, missing []item, count func(context.Context, int) error) error {
	batches := make(chan []item, 1)
	ready := make(chan []item, 1)
	p := pool.New().WithContext(ctx).WithCancelOnError().WithFirstError()
	p.Go(func(ctx context.Context) error {
		defer close(batches)
		return l.collect(ctx, missing, batches)
	})
	p.Go(func(ctx context.Context) error {
		defer close(ready)
		for batch := range batches {
			readAll(batch)
			if err := send(ctx, ready, batch); err != nil {
				return err
			}
		}
		return nil
	})
	p.Go(func(ctx context.Context) error {
		for batch := range ready {
			if err := l.index.storeBatch(ctx, l.repo, batch); err != nil {
				return err
			}
			if err := count(ctx, len(batch)); err != nil {
				return err
			}
		}
		return nil
	})
	return p.Wait()
}

func send(ctx context.Context, to chan<- []item, batch []item) error {
	select {
	case to <- batch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// collect cuts what is missing into batches: first the blobs whose stored text
// only has to be read, then those to fetch.
func (l *loader) collect(ctx context.Context, missing []item, out chan<- []item) error {
	var fetch []item
	var stored []item
	for _, it := range missing {
		if it.id != 0 {
			stored = append(stored, it)
		} else {
			fetch = append(fetch, it)
		}
	}
	for chunk := range slices.Chunk(stored, batchCount/4) {
		if err := l.index.bodies(ctx, chunk); err != nil {
			return err
		}
		if err := send(ctx, out, chunk); err != nil {
			return err
		}
		if !l.more() {
			return nil
		}
	}
	return l.collectFetched(ctx, fetch, out)
}

// collectFetched fetches contents and sends them on in batches.
func (l *loader) collectFetched(ctx context.Context, fetch []item, out chan<- []item) error {
	byOID := make(map[git.OID]item, len(fetch))
	var oids []git.OID
	var batch []item
	for _, it := range fetch {
		if it.size > textLimit {
			it.kind = KindTooLarge
			batch = append(batch, it)
			continue
		}
		byOID[it.oid] = it
		oids = append(oids, it.oid)
	}
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		full := batch
		batch, size = nil, 0
		return send(ctx, out, full)
	}
	if len(oids) > 0 {
		err := l.fetch(ctx, oids, func(b git.Blob) error {
			it, ok := byOID[b.OID]
			if !ok || b.Missing {
				return nil
			}
			batch = append(batch, fill(it, b))
			size += len(b.Data)
			if size < batchBytes && len(batch) < batchCount {
				return nil
			}
			if err := flush(); err != nil {
				return err
			}
			if !l.more() {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return fmt.Errorf("fetch texts: %w", err)
		}
	}
	return flush()
}

// fill puts fetched content into an item.
func fill(it item, b git.Blob) item {
	if b.TooLarge {
		it.kind = KindTooLarge
		it.size = max(it.size, b.Size)
		return it
	}
	it.size = int64(len(b.Data))
	if it.kind = kindOf(b.Data); it.kind == KindText {
		it.text = string(b.Data)
	}
	return it
}

// readAll reads the notes of a batch on all cores.
func readAll(batch []item) {
	p := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0))
	for i := range batch {
		if it := &batch[i]; it.note && it.kind == KindText {
			p.Go(func() {
				r := read(it.text)
				it.read = &r
			})
		}
	}
	p.Wait()
}

// storeBatch stores a batch. Texts that another worker stored in the meantime
// are left as they are.
func (x *Index) storeBatch(ctx context.Context, repo int64, batch []item) error {
	for attempt := 1; ; attempt++ {
		err := x.insertBatch(ctx, repo, batch)
		if err == nil || !postgres.IsUnique(err) || attempt == storeAttempts {
			return err
		}
		if batch, err = x.stillMissing(ctx, repo, batch); err != nil {
			return err
		}
		if len(batch) == 0 {
			return nil
		}
	}
}

// stillMissing keeps of a batch what is not stored by now.
func (x *Index) stillMissing(ctx context.Context, repo int64, batch []item) ([]item, error) {
	wants := make([]want, len(batch))
	byOID := make(map[git.OID]item, len(batch))
	for i, it := range batch {
		wants[i] = it.want
		byOID[it.oid] = it
	}
	missing, err := x.missing(ctx, repo, wants)
	if err != nil {
		return nil, err
	}
	for i, m := range missing {
		it := byOID[m.oid]
		it.id, it.hasDoc = m.id, m.hasDoc
		missing[i] = it
	}
	return missing, nil
}

// uniqueWants joins wants of the same blob: it is read as a note if one of
// them says so.
func uniqueWants(wants []want) []want {
	at := make(map[git.OID]int, len(wants))
	out := make([]want, 0, len(wants))
	for _, w := range wants {
		i, ok := at[w.oid]
		if !ok {
			at[w.oid] = len(out)
			out = append(out, w)
			continue
		}
		out[i].note = out[i].note || w.note
		out[i].size = max(out[i].size, w.size)
	}
	return out
}
