package catalogue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"vault/platform/mcp"
)

// Key finds one stored view.
type Key struct {
	Installation int64
	// Set is SetHash of the readable repositories.
	Set [32]byte
	// Rev is Rev of the readable repositories.
	Rev string
}

// Records is where views outlive the process: the control database.
type Records interface {
	// SaveReaderSet notes that a caller reads exactly these repositories.
	SaveReaderSet(ctx context.Context, installation int64, hash []byte, ids []int64) error
	// View gives a stored view; ok is false when there is none.
	View(ctx context.Context, installation int64, hash []byte, contract, rev string) (body []byte, ok bool, err error)
	// StoreView keeps a view and drops the older ones of its set.
	StoreView(ctx context.Context, installation int64, hash []byte, contract, rev string, body []byte) error
}

// Built is a view as its builder answers: the finished bytes and the revision
// they were really made from, which may be newer than the one asked for.
type Built struct {
	Rev      string       `json:"rev"`
	Finished mcp.Finished `json:"finished"`
}

// Views reads and keeps finished views. It is safe for concurrent use.
type Views struct {
	contract string
	records  Records
	cache    *otter.Cache[Key, mcp.Finished]
	flight   singleflight.Group
}

// The views kept in memory: each is some 100 KB per set of repositories, and
// one that nobody asked for in an hour is let go.
const (
	maxViews  = 500
	viewsIdle = time.Hour
)

// NewViews makes the store of one contract version over records.
func NewViews(contract string, records Records) (*Views, error) {
	cache, err := otter.New(&otter.Options[Key, mcp.Finished]{
		MaximumSize:      maxViews,
		ExpiryCalculator: otter.ExpiryAccessing[Key, mcp.Finished](viewsIdle),
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of views: %w", err)
	}
	return &Views{contract: contract, records: records, cache: cache}, nil
}

// Finished gives the view under key, from memory, else from the records, else
// from build, whose answer is stored. ids are the members of the set.
func (v *Views) Finished(ctx context.Context, key Key, ids []int64, build func(context.Context) (Built, error)) (mcp.Finished, error) {
	if f, ok := v.cache.GetIfPresent(key); ok {
		return f, nil
	}
	flightKey := fmt.Sprintf("%d %x %s", key.Installation, key.Set, key.Rev)
	result := v.flight.DoChan(flightKey, func() (any, error) {
		// The work serves everyone who waits, so it outlives its first caller.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), buildTimeout)
		defer cancel()
		return v.load(ctx, key, ids, build)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(mcp.Finished), nil
	}
}

// buildTimeout bounds the making of one view, a waking instance included.
const buildTimeout = 40 * time.Second

func (v *Views) load(ctx context.Context, key Key, ids []int64, build func(context.Context) (Built, error)) (mcp.Finished, error) {
	if err := v.records.SaveReaderSet(ctx, key.Installation, key.Set[:], ids); err != nil {
		return nil, fmt.Errorf("keep the reader set: %w", err)
	}
	body, ok, err := v.records.View(ctx, key.Installation, key.Set[:], v.contract, key.Rev)
	if err != nil {
		return nil, fmt.Errorf("read the stored view: %w", err)
	}
	if ok {
		var f mcp.Finished
		if err := json.Unmarshal(body, &f); err != nil {
			return nil, fmt.Errorf("decode the stored view: %w", err)
		}
		v.cache.Set(key, f)
		return f, nil
	}
	built, err := build(ctx)
	if err != nil {
		return nil, err
	}
	// A builder that already stands further on answers for its own revision;
	// the answer is right for the caller and kept under what it was made from.
	key.Rev = built.Rev
	if err := v.Store(ctx, key, built.Finished); err != nil {
		return nil, err
	}
	return built.Finished, nil
}

// Store keeps a view of a known reader set in memory and in the records.
func (v *Views) Store(ctx context.Context, key Key, f mcp.Finished) error {
	body, err := encode(f)
	if err != nil {
		return fmt.Errorf("encode a view: %w", err)
	}
	if err := v.records.StoreView(ctx, key.Installation, key.Set[:], v.contract, key.Rev, body); err != nil {
		return fmt.Errorf("keep the view: %w", err)
	}
	v.cache.Set(key, f)
	return nil
}

// encode keeps the finished bytes as they are, which json.Marshal would not.
func encode(f mcp.Finished) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(f)
	return b.Bytes(), err
}
