package core

import (
	"context"
	"math"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// List lists a directory, depth levels deep (0 = 1). Errors: E4001 missing,
// E4003 not a directory.
func (f *Files) List(ctx context.Context, path string, depth int, o FileOptions) ([]Entry, error) {
	if err := f.check("path", path, o.User); err != nil {
		return nil, err
	}
	if depth < 0 || depth > math.MaxInt32 {
		return nil, fault.InvalidArgument("%s must be at least 1, not %d", fault.Option("depth"), depth)
	}
	if depth > 1 {
		if err := f.s.client.need(capability.FilesDepth); err != nil {
			return nil, err
		}
	}
	all, err := f.s.data.ListDir(ctx, path, o.User, uint32(max(depth, 1)))
	entries := make([]Entry, 0, len(all))
	for _, e := range all {
		if o.Irregular || e.Type != plane.TypeUnknown {
			entries = append(entries, e)
		}
	}
	return entries, f.failed(ctx, err)
}

// Stat describes a path. Errors: E4001 missing.
func (f *Files) Stat(ctx context.Context, path string, o FileOptions) (*Entry, error) {
	if err := f.check("path", path, o.User); err != nil {
		return nil, err
	}
	e, err := f.s.data.Stat(ctx, path, o.User)
	return e, f.failed(ctx, err)
}

// Exists tells whether a path exists.
func (f *Files) Exists(ctx context.Context, path string, o FileOptions) (bool, error) {
	_, err := f.Stat(ctx, path, o)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// MakeDir makes a directory and its parents; false when it exists already.
func (f *Files) MakeDir(ctx context.Context, path string, o FileOptions) (bool, error) {
	if err := f.check("path", path, o.User); err != nil {
		return false, err
	}
	_, err := f.s.data.MakeDir(ctx, path, o.User)
	if e := fault.As(err); e != nil && e.Code == fault.CodePathKind && e.Kind == fault.KindExists {
		return false, nil
	}
	return err == nil, f.failed(ctx, err)
}

// Move renames a path, making the destination's parents.
func (f *Files) Move(ctx context.Context, source, destination string, o FileOptions) (*Entry, error) {
	if err := f.check("source", source, o.User); err != nil {
		return nil, err
	}
	if err := checkPath("destination", destination); err != nil {
		return nil, err
	}
	e, err := f.s.data.Move(ctx, source, destination, o.User)
	return e, f.failed(ctx, err)
}

// Remove removes a path and everything below it; a missing one is no error.
func (f *Files) Remove(ctx context.Context, path string, o FileOptions) error {
	if err := f.check("path", path, o.User); err != nil {
		return err
	}
	return f.failed(ctx, f.s.data.Remove(ctx, path, o.User))
}
