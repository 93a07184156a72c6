package transporttest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func hostTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"random bytes differ":                   randDiffers,
		"now is now":                            nowIsNow,
		"the cache keeps, forgets and is ours":  cacheKeeps,
		"the store keeps blobs":                 storeKeeps,
		"the store takes any name":              storeNames,
		"the store lets nobody else read":       storeModes,
		"the lock is exclusive":                 lockExclusive,
		"the lock can be waited for with a ctx": lockCtx,
	}
}

func randDiffers(s *suite) {
	s.do(func(_ context.Context, h transport.Host) (any, error) {
		a, b := make([]byte, 16), make([]byte, 16)
		h.Rand(a)
		h.Rand(b)
		if string(a) == string(b) || string(a) == string(make([]byte, 16)) {
			return nil, errors.New("not random")
		}
		return nil, nil
	})
}

func nowIsNow(s *suite) {
	got := s.do(func(_ context.Context, h transport.Host) (any, error) { return h.Now(), nil })
	require.WithinDuration(s, time.Now(), got.(time.Time), time.Second)
}

func cacheKeeps(s *suite) {
	s.do(func(_ context.Context, h transport.Host) (any, error) {
		h.Cache().Put("a", 1)
		h.Cache().Put("b", 2)
		h.Cache().Delete("b")
		return nil, nil
	})
	require.Equal(s, []any{1, true, nil, false}, s.do(func(_ context.Context, h transport.Host) (any, error) {
		a, ok := h.Cache().Get("a")
		b, none := h.Cache().Get("b")
		return []any{a, ok, b, none}, nil
	}))
	s.do(func(_ context.Context, h transport.Host) (any, error) {
		for i := range 100_000 {
			h.Cache().Put(fmt.Sprint(i), i) // bounded, or a long life would fill the memory
		}
		return nil, nil
	})
}

func storeKeeps(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		st := h.Store()
		if names, err := st.List(ctx); err != nil || len(names) > 0 {
			return nil, fmt.Errorf("a fresh store has %v, %w", names, err)
		}
		if _, err := st.Get(ctx, "a"); !errors.Is(err, transport.ErrNotStored) {
			return nil, err
		}
		if err := st.Delete(ctx, "a"); !errors.Is(err, transport.ErrNotStored) {
			return nil, err
		}
		err := errors.Join(st.Put(ctx, "b", []byte("1")), st.Put(ctx, "a", []byte("1")), st.Put(ctx, "a", nil), st.Put(ctx, "a", []byte("22")))
		if err != nil {
			return nil, err
		}
		names, err := st.List(ctx)
		blob, gerr := st.Get(ctx, "a")
		if fmt.Sprintf("%v %s", names, blob) != "[a b] 22" {
			return nil, fmt.Errorf("%v %q %w", names, blob, errors.Join(err, gerr))
		}
		return nil, errors.Join(st.Delete(ctx, "a"), st.Delete(ctx, "b"))
	})
}

func storeNames(s *suite) {
	names := []string{"..", ".hidden", "a b", "a/b", "dir/../x", "文件", "x.json", "x.lock", strings.Repeat("n", 150)}
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		for _, n := range names {
			if err := h.Store().Put(ctx, n, []byte(n)); err != nil {
				return nil, fmt.Errorf("%s: %w", n, err)
			}
		}
		for _, n := range names {
			if b, err := h.Store().Get(ctx, n); string(b) != n {
				return nil, fmt.Errorf("%s: %q %w", n, b, err)
			}
		}
		got, err := h.Store().List(ctx)
		if len(got) != len(names) {
			return nil, fmt.Errorf("%v %w", got, err)
		}
		for _, n := range []string{"", strings.Repeat("n", 300)} {
			if h.Store().Put(ctx, n, nil) == nil {
				return nil, fmt.Errorf("took the name %q", n)
			}
		}
		return nil, nil
	})
}

func storeModes(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		unlock, err := h.Store().Lock(ctx, "a")
		if err != nil {
			return nil, err
		}
		defer unlock()
		return nil, h.Store().Put(ctx, "a", []byte("secret"))
	})
	err := filepath.Walk(s.store, func(path string, info os.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a lock that was just given up
			return nil
		}
		if err == nil {
			require.Zero(s, info.Mode().Perm()&0o077, path)
		}
		return err
	})
	require.NoError(s, err)
}

func lockExclusive(s *suite) {
	var holders atomic.Int32
	_, errs := s.callers(8, func(int) (context.Context, Func) {
		return s.ctx, func(ctx context.Context, h transport.Host) (any, error) {
			for range 3 {
				unlock, err := h.Store().Lock(ctx, "a")
				if err != nil {
					return nil, err
				}
				others := holders.Add(1) - 1
				err = h.Sleep(ctx, time.Millisecond)
				holders.Add(-1)
				unlock()
				if others > 0 || err != nil {
					return nil, fmt.Errorf("%d other holders, %w", others, err)
				}
			}
			return nil, nil
		}
	})
	require.NoError(s, errors.Join(errs...))
}

func lockCtx(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		unlock, err := h.Store().Lock(ctx, "a")
		if err != nil {
			return nil, err
		}
		other, err := h.Store().Lock(ctx, "b")
		if err != nil {
			return nil, err
		}
		other()
		limited, _, _ := h.Limit(ctx, transport.ClockRequest, short)
		if _, err := h.Store().Lock(limited, "a"); err != (transport.Timeout{Clock: transport.ClockRequest, After: short}) {
			return nil, fmt.Errorf("waiting gave %w", err)
		}
		unlock()
		again, err := h.Store().Lock(ctx, "a")
		if err == nil {
			again()
		}
		return nil, err
	})
}
