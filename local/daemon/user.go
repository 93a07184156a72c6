package daemon

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// User is one account inside the sandbox.
type User struct {
	Name     string
	UID, GID int
	// Home and Shell as in /etc/passwd.
	Home, Shell string
	// Groups are the supplementary group ids; nil is none.
	Groups []int
}

// UserDB knows the accounts of the sandbox.
type UserDB interface {
	// Lookup finds an account by name; any error means there is none.
	Lookup(name string) (User, error)
	// NameOf and GroupOf name an id, in decimal when it has no name.
	NameOf(uid int) string
	GroupOf(gid int) string
	// OwnerOf is whom files made for the user belong to; -1, -1 leaves them as made.
	OwnerOf(User) (uid, gid int)
}

// ErrUnknownUser is returned by PasswdDB for a name that has no account.
var ErrUnknownUser = errors.New("unknown user")

// PasswdDB is a UserDB over files in the format of passwd(5) and group(5). They
// are read when needed and again after each change. Make it with NewPasswdDB.
type PasswdDB struct {
	passwd, group accountFile
}

// NewPasswdDB reads accounts from two files, which need not exist yet.
func NewPasswdDB(passwd, group string) *PasswdDB {
	return &PasswdDB{passwd: accountFile{path: passwd}, group: accountFile{path: group}}
}

// Lookup implements UserDB.
func (db *PasswdDB) Lookup(name string) (User, error) {
	for _, f := range db.passwd.lines() {
		if len(f) < 7 || f[0] != name {
			continue
		}
		uid, err1 := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if err1 != nil || err2 != nil {
			continue
		}
		return User{Name: name, UID: uid, GID: gid, Home: f[5], Shell: f[6], Groups: db.groupsOf(name)}, nil
	}
	return User{}, ErrUnknownUser
}

func (db *PasswdDB) groupsOf(name string) []int {
	var groups []int
	for _, f := range db.group.lines() {
		if len(f) < 4 || !listed(f[3], name) {
			continue
		}
		if gid, err := strconv.Atoi(f[2]); err == nil {
			groups = append(groups, gid)
		}
	}
	return groups
}

func listed(members, name string) bool {
	for member := range strings.SplitSeq(members, ",") {
		if member == name {
			return true
		}
	}
	return false
}

// NameOf implements UserDB.
func (db *PasswdDB) NameOf(uid int) string { return db.passwd.nameOf(uid) }

// GroupOf implements UserDB.
func (db *PasswdDB) GroupOf(gid int) string { return db.group.nameOf(gid) }

// OwnerOf implements UserDB: the user itself, if the daemon may give files away.
func (db *PasswdDB) OwnerOf(u User) (uid, gid int) {
	if os.Geteuid() != 0 {
		return -1, -1
	}
	return u.UID, u.GID
}

// accountFile is a colon-separated file, parsed again when it changes.
type accountFile struct {
	path  string
	mu    sync.Mutex
	seen  fileVersion
	rows  [][]string
	names map[int]string
}

type fileVersion struct {
	inode    uint64
	size     int64
	modified time.Time
}

func (a *accountFile) lines() [][]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh()
	return a.rows
}

func (a *accountFile) nameOf(id int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh()
	if name, ok := a.names[id]; ok {
		return name
	}
	return strconv.Itoa(id)
}

func (a *accountFile) refresh() {
	info, err := os.Stat(a.path)
	if err != nil {
		a.seen, a.rows, a.names = fileVersion{}, nil, nil
		return
	}
	version := fileVersion{size: info.Size(), modified: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		version.inode = st.Ino
	}
	if version == a.seen {
		return
	}
	content, err := os.ReadFile(a.path)
	if err != nil {
		return
	}
	a.seen = version
	a.parse(content)
}

func (a *accountFile) parse(content []byte) {
	a.rows, a.names = nil, make(map[int]string)
	for line := range bytes.Lines(content) {
		row := strings.Split(strings.TrimRight(string(line), "\r\n"), ":")
		if len(row) < 3 || strings.HasPrefix(row[0], "#") {
			continue
		}
		a.rows = append(a.rows, row)
		id, err := strconv.Atoi(row[2])
		if _, taken := a.names[id]; err == nil && !taken {
			a.names[id] = row[0]
		}
	}
}
