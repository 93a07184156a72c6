package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

func (r *rig) listDir(path string, depth uint32) []*filesystempb.EntryInfo {
	r.t.Helper()
	answer, err := r.files.ListDir(r.t.Context(), connect.NewRequest(&filesystempb.ListDirRequest{Path: path, Depth: depth}))
	require.NoError(r.t, err)
	return answer.Msg.GetEntries()
}

func namesOf(entries []*filesystempb.EntryInfo) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.GetName())
	}
	return names
}

func TestListDirWalksInLexicalOrderToItsDepth(t *testing.T) {
	r := newRig(t)
	for _, dir := range []string{"d/b/x/y", "d/a", "d/c"} {
		require.NoError(t, os.MkdirAll(filepath.Join(r.home, dir), 0o755))
	}
	for _, file := range []string{"d/b/1", "d/a.txt", "d/\xff"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.home, file), nil, 0o644))
	}
	require.NoError(t, os.Symlink("d", filepath.Join(r.home, "link")))
	require.Equal(t, []string{"a", "a.txt", "b", "c", "\uFFFD"}, namesOf(r.listDir("d", 0)))
	require.Equal(t, []string{"a", "a.txt", "b", "1", "x", "c", "\uFFFD"}, namesOf(r.listDir("d", 2)))
	entries := r.listDir("link", 3)
	require.Equal(t, []string{"a", "a.txt", "b", "1", "x", "y", "c", "\uFFFD"}, namesOf(entries))
	require.Equal(t, filepath.Join(r.home, "link/b/x/y"), entries[5].GetPath())
}

func TestLinksDescribeTheirTargets(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.Mkdir(filepath.Join(r.home, "dir"), 0o750))
	require.NoError(t, os.Symlink("dir", filepath.Join(r.home, "one")))
	require.NoError(t, os.Symlink("one", filepath.Join(r.home, "two")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(r.home, "dangling")))
	require.NoError(t, os.Symlink("loop", filepath.Join(r.home, "loop")))
	two := r.stat("two")
	require.Equal(t, filesystempb.FileType_FILE_TYPE_DIRECTORY, two.GetType())
	require.EqualValues(t, 0o750, two.GetMode())
	require.Equal(t, "Lrwxrwxrwx", two.GetPermissions())
	require.Equal(t, filepath.Join(r.home, "dir"), two.GetSymlinkTarget())
	require.Equal(t, filesystempb.FileType_FILE_TYPE_UNSPECIFIED, r.stat("dangling").GetType())
	require.Equal(t, filepath.Join(r.home, "dangling"), r.stat("dangling").GetSymlinkTarget())
	got := r.rpc("filesystem.Filesystem/ListDir", `{"path":"loop"}`)
	require.Contains(t, compact(t, []byte(got.body)), `"code":"failed_precondition"`)
}

func (r *rig) stat(path string) *filesystempb.EntryInfo {
	r.t.Helper()
	answer, err := r.files.Stat(r.t.Context(), connect.NewRequest(&filesystempb.StatRequest{Path: path}))
	require.NoError(r.t, err)
	return answer.Msg.GetEntry()
}

func TestMakeDirMakesParents(t *testing.T) {
	r := newRig(t)
	answer, err := r.files.MakeDir(t.Context(), connect.NewRequest(&filesystempb.MakeDirRequest{Path: "a/b c/\u00e4"}))
	require.NoError(t, err)
	require.Equal(t, "drwxr-xr-x", answer.Msg.GetEntry().GetPermissions())
	require.DirExists(t, filepath.Join(r.home, "a/b c/\u00e4"))
}

func TestMoveMakesParentsAndReplacesFiles(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "a"), []byte("new"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, "x/y"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "x/y/b"), []byte("old"), 0o644))
	answer, err := r.files.Move(t.Context(), connect.NewRequest(&filesystempb.MoveRequest{Source: "a", Destination: "x/y/b"}))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(r.home, "x/y/b"), answer.Msg.GetEntry().GetPath())
	_, err = r.files.Move(t.Context(), connect.NewRequest(&filesystempb.MoveRequest{Source: "x", Destination: "p/q/x"}))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(r.home, "p/q/x/y/b"))
	_, err = r.files.Move(t.Context(), connect.NewRequest(&filesystempb.MoveRequest{Source: "p", Destination: "p/q/in-itself"}))
	require.Equal(t, "invalid_argument", codeOf(err))
}

func TestCopyTreeKeepsWhatARenameKeeps(t *testing.T) {
	home := t.TempDir()
	source, destination := filepath.Join(home, "s"), filepath.Join(home, "d")
	require.NoError(t, os.MkdirAll(filepath.Join(source, "sub"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(source, "sub/f"), []byte("content"), 0o600))
	require.NoError(t, os.Symlink("../nowhere", filepath.Join(source, "link")))
	require.NoError(t, unix.Mkfifo(filepath.Join(source, "fifo"), 0o640))
	when := time.Unix(1700000000, 0)
	require.NoError(t, os.Chtimes(filepath.Join(source, "sub"), when, when))
	require.NoError(t, copyTree(source, destination))
	target, err := os.Readlink(filepath.Join(destination, "link"))
	require.NoError(t, err)
	require.Equal(t, "../nowhere", target)
	info, err := os.Stat(filepath.Join(destination, "sub"))
	require.NoError(t, err)
	require.Equal(t, when, info.ModTime())
	require.Equal(t, os.ModeDir|0o750, info.Mode())
	info, err = os.Stat(filepath.Join(destination, "sub/f"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	info, err = os.Lstat(filepath.Join(destination, "fifo"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeNamedPipe)
}

func TestMoveAcrossFileSystems(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a second file system")
	}
	r := newRig(t)
	other := filepath.Join(r.home, "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	if err := unix.Mount("tmpfs", other, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("mounting is not allowed here: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(other, unix.MNT_DETACH) })
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, "tree/sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "tree/sub/f"), []byte("x"), 0o640))
	_, err := r.files.Move(t.Context(), connect.NewRequest(&filesystempb.MoveRequest{Source: "tree", Destination: "other/tree"}))
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(r.home, "tree"))
	require.FileExists(t, filepath.Join(other, "tree/sub/f"))
}

func TestRemoveTakesTreesAndLinksButNotTargets(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, "tree/sub"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, "kept"), 0o755))
	require.NoError(t, os.Symlink("../kept", filepath.Join(r.home, "tree/link")))
	_, err := r.files.Remove(t.Context(), connect.NewRequest(&filesystempb.RemoveRequest{Path: "tree"}))
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(r.home, "tree"))
	require.DirExists(t, filepath.Join(r.home, "kept"))
}

// watching collects the events of a WatchDir as "TYPE name", with "+" for an entry.
type watching struct {
	t      *testing.T
	events chan string
	cancel func()
}

func (r *rig) watchDir(t *testing.T, request *filesystempb.WatchDirRequest) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := r.files.WatchDir(ctx, connect.NewRequest(request))
	require.NoError(t, err)
	require.True(t, stream.Receive(), "%v", stream.Err())
	require.NotNil(t, stream.Msg().GetStart())
	w := &watching{t: t, events: make(chan string, 10000), cancel: cancel}
	go func() {
		defer close(w.events)
		defer stream.Close()
		for stream.Receive() {
			if event := stream.Msg().GetFilesystem(); event != nil {
				w.events <- word(event)
			}
		}
	}()
	t.Cleanup(cancel)
	return w
}

func word(event *filesystempb.FilesystemEvent) string {
	text := strings.ToLower(strings.TrimPrefix(event.GetType().String(), "EVENT_TYPE_")) + " " + event.GetName()
	if event.GetEntry() != nil {
		text += "+"
	}
	return text
}

// until collects events up to the last one named.
func (w *watching) until(last string) []string {
	w.t.Helper()
	var all []string
	timeout := time.After(5 * time.Second)
	for {
		select {
		case event := <-w.events:
			all = append(all, event)
			if event == last {
				return all
			}
		case <-timeout:
			require.Fail(w.t, "no event "+last, "%v", all)
		}
	}
}

func TestWatchTellsWhatHappened(t *testing.T) {
	r := newRig(t)
	w := r.watchDir(t, &filesystempb.WatchDirRequest{Path: r.home, Recursive: true, IncludeEntry: true})
	at := func(name string) string { return filepath.Join(r.home, name) }
	// The entry of an event is looked up when it is sent: wait before the next step.
	f, err := os.OpenFile(at("f"), os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	require.Equal(t, []string{"create f+"}, w.until("create f+"))
	_, err = f.WriteString("x")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, []string{"write f+"}, w.until("write f+"))
	require.NoError(t, os.Chmod(at("f"), 0o600))
	require.Equal(t, []string{"chmod f+"}, w.until("chmod f+"))
	require.NoError(t, os.Rename(at("f"), at("g")))
	require.Equal(t, []string{"rename f", "create g+"}, w.until("create g+"))
	require.NoError(t, os.Remove(at("g")))
	require.Equal(t, []string{"remove g"}, w.until("remove g"))
	require.NoError(t, os.MkdirAll(at("a/b/c"), 0o755))
	require.NoError(t, os.WriteFile(at("a/b/c/file"), []byte("x"), 0o644))
	got := w.until("create a/b/c/file+")
	require.Equal(t, []string{"create a+", "create a/b+", "create a/b/c+", "create a/b/c/file+"}, got)
}

func TestRecursiveWatchNeitherMissesNorRepeatsCreates(t *testing.T) {
	r := newRig(t)
	w := r.watchDir(t, &filesystempb.WatchDirRequest{Path: r.home, Recursive: true})
	var want []string
	for i := range 60 {
		dir := filepath.Join(string(rune('A'+i%26))+strings.Repeat("x", i), "b", "c")
		require.NoError(t, os.MkdirAll(filepath.Join(r.home, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(r.home, dir, "touched"), nil, 0o644))
		want = append(want, "create "+filepath.Dir(filepath.Dir(dir)), "create "+filepath.Dir(dir), "create "+dir, "create "+dir+"/touched")
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "last"), nil, 0o644))
	got := w.until("create last")
	got = slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, "create") || s == "create last" })
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got)
}

func TestWatchFollowsDirectoriesThatMove(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, "old/sub"), 0o755))
	w := r.watchDir(t, &filesystempb.WatchDirRequest{Path: r.home, Recursive: true})
	require.NoError(t, os.Rename(filepath.Join(r.home, "old"), filepath.Join(r.home, "new")))
	require.Equal(t, []string{"rename old", "create new"}, w.until("create new"))
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "new/sub/f"), nil, 0o644))
	require.Equal(t, []string{"create new/sub/f"}, w.until("create new/sub/f"))
	require.NoError(t, os.Rename(filepath.Join(r.home, "new"), filepath.Join(outside, "gone")))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "gone/sub/unseen"), nil, 0o644))
	w.until("rename new")
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "end"), nil, 0o644))
	require.Equal(t, []string{"create end"}, w.until("create end"))
}

func TestNewBearerOfAMovedNameIsWatched(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	w := r.watchDir(t, &filesystempb.WatchDirRequest{Path: r.home, Recursive: true})
	for range 20 {
		require.NoError(t, os.Mkdir(filepath.Join(r.home, "d"), 0o755))
		require.NoError(t, os.Rename(filepath.Join(r.home, "d"), filepath.Join(outside, "d")))
		require.NoError(t, os.Mkdir(filepath.Join(r.home, "d"), 0o755))
		w.until("rename d")
		w.until("create d")
		require.NoError(t, os.WriteFile(filepath.Join(r.home, "d/f"), nil, 0o644))
		w.until("create d/f")
		require.NoError(t, os.RemoveAll(filepath.Join(r.home, "d")))
		require.NoError(t, os.RemoveAll(filepath.Join(outside, "d")))
		w.until("remove d")
	}
}

func TestFlatWatchStaysFlat(t *testing.T) {
	r := newRig(t)
	w := r.watchDir(t, &filesystempb.WatchDirRequest{Path: r.home})
	require.NoError(t, os.Mkdir(filepath.Join(r.home, "d"), 0o755))
	w.until("create d")
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "d/f"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "end"), nil, 0o644))
	require.Equal(t, []string{"create end"}, w.until("create end"))
}

func TestWatchEndsAtItsTimeout(t *testing.T) {
	r := newRig(t)
	got := r.stream("filesystem.Filesystem/WatchDir", `{"path":"~"}`, "Connect-Timeout-Ms", "200")
	require.Equal(t, []string{`{"start":{}}`, `{"error":{"code":"deadline_exceeded","message":"context deadline exceeded"}}`}, got)
}

func TestWatchIsFreedWhenItsClientLeaves(t *testing.T) {
	r := newRig(t)
	before := openFiles(t)
	for range 20 {
		r.watchDir(t, &filesystempb.WatchDirRequest{Path: r.home, Recursive: true}).cancel()
	}
	require.Eventually(t, func() bool {
		r.server.Client().CloseIdleConnections()
		return openFiles(t) <= before+2
	}, 5*time.Second, 50*time.Millisecond)
}

func TestPolledWatcherDrainsAndIsRemoved(t *testing.T) {
	r := newRig(t)
	made, err := r.files.CreateWatcher(t.Context(), connect.NewRequest(&filesystempb.CreateWatcherRequest{Path: r.home, IncludeEntry: true}))
	require.NoError(t, err)
	id := made.Msg.GetWatcherId()
	require.Regexp(t, `^w[a-z0-9]{20}$`, id)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "f"), nil, 0o644))
	poll := func() []string {
		answer, err := r.files.GetWatcherEvents(t.Context(), connect.NewRequest(&filesystempb.GetWatcherEventsRequest{WatcherId: id}))
		require.NoError(t, err)
		var all []string
		for _, event := range answer.Msg.GetEvents() {
			all = append(all, word(event))
		}
		return all
	}
	var got []string
	require.Eventually(t, func() bool { got = poll(); return len(got) > 0 }, 3*time.Second, 10*time.Millisecond)
	require.Equal(t, []string{"create f+"}, got)
	require.Empty(t, poll())
	_, err = r.files.RemoveWatcher(t.Context(), connect.NewRequest(&filesystempb.RemoveWatcherRequest{WatcherId: id}))
	require.NoError(t, err)
	_, err = r.files.RemoveWatcher(t.Context(), connect.NewRequest(&filesystempb.RemoveWatcherRequest{WatcherId: id}))
	require.Equal(t, "not_found", codeOf(err))
}

func TestAbandonedWatcherIsFreed(t *testing.T) {
	r := newRig(t)
	r.d.watchers.patience = 50 * time.Millisecond
	before := openFiles(t)
	made, err := r.files.CreateWatcher(t.Context(), connect.NewRequest(&filesystempb.CreateWatcherRequest{Path: r.home}))
	require.NoError(t, err)
	time.Sleep(200 * time.Millisecond)
	_, err = r.files.GetWatcherEvents(t.Context(), connect.NewRequest(&filesystempb.GetWatcherEventsRequest{WatcherId: made.Msg.GetWatcherId()}))
	require.Equal(t, "not_found", codeOf(err))
	require.LessOrEqual(t, openFiles(t), before+2)
}
