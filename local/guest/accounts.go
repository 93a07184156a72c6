//go:build linux

package guest

import (
	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// Ids of the default account.
const (
	userName = "user"
	userID   = 1000
)

func accounts(ordinary bool) daemon.UserDB {
	db := daemon.NewPasswdDB("/etc/passwd", "/etc/group")
	if ordinary {
		return oneID{db}
	}
	return db
}

// oneID are the accounts of a sandbox with a single id: every file is that
// id's, which process 1 sees as root and everybody else as user.
type oneID struct{ *daemon.PasswdDB }

// NameOf names the one id.
func (o oneID) NameOf(uid int) string {
	if uid == 0 {
		return userName
	}
	return o.PasswdDB.NameOf(uid)
}

// GroupOf names the one group.
func (o oneID) GroupOf(gid int) string {
	if gid == 0 {
		return userName
	}
	return o.PasswdDB.GroupOf(gid)
}

// OwnerOf leaves files as made: there is nobody to give them to.
func (oneID) OwnerOf(daemon.User) (uid, gid int) { return -1, -1 }
