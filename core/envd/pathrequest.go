package envd

import "github.com/agent-sandbox/agent-sandbox/core/plane"

// pathRequest is every request that holds a path, with depth for ListDir.
type pathRequest struct {
	path  string
	depth uint32
}

func (r pathRequest) AppendProto(b []byte) []byte {
	return appendUint(appendString(b, 1, r.path), 2, uint64(r.depth))
}

func (r pathRequest) AppendJSON(b []byte) ([]byte, error) {
	m := map[string]any{"path": r.path}
	if r.depth != 0 {
		m["depth"] = r.depth
	}
	return appendJSON(b, m)
}

// moveRequest is MoveRequest.
type moveRequest struct{ source, destination string }

func (r moveRequest) AppendProto(b []byte) []byte {
	return appendString(appendString(b, 1, r.source), 2, r.destination)
}

func (r moveRequest) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"source": r.source, "destination": r.destination})
}

// watchRequest is WatchDirRequest and CreateWatcherRequest.
type watchRequest struct{ plane.WatchSpec }

func (r watchRequest) AppendProto(b []byte) []byte {
	b = appendString(b, 1, r.Path)
	b = appendBool(b, 2, r.Recursive)
	b = appendBool(b, 3, r.IncludeEntry)
	return appendBool(b, 4, r.AllowNetworkMounts)
}

func (r watchRequest) AppendJSON(b []byte) ([]byte, error) {
	m := map[string]any{"path": r.Path}
	for name, set := range map[string]bool{"recursive": r.Recursive, "includeEntry": r.IncludeEntry, "allowNetworkMounts": r.AllowNetworkMounts} {
		if set {
			m[name] = true
		}
	}
	return appendJSON(b, m)
}

// watcherRequest names a polled watcher.
type watcherRequest struct{ id string }

func (r watcherRequest) AppendProto(b []byte) []byte { return appendString(b, 1, r.id) }

func (r watcherRequest) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"watcherId": r.id})
}
