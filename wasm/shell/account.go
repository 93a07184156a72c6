package shell

import (
	"crypto/sha256"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

// maxAccounts bounds what is kept; beyond it everything is dropped, and resolved
// again when needed.
const maxAccounts = 64

// accounts are resolved settings by the text that they came from. The zero value
// is ready.
type accounts struct {
	byHash map[[sha256.Size]byte]*method.Account
}

func (a *accounts) find(text []byte) (*method.Account, error) {
	hash := sha256.Sum256(text)
	if known := a.byHash[hash]; known != nil {
		return known, nil
	}
	account, err := method.NewAccount(text)
	if err != nil {
		return nil, err
	}
	if a.byHash == nil || len(a.byHash) >= maxAccounts {
		a.byHash = map[[sha256.Size]byte]*method.Account{}
	}
	a.byHash[hash] = account
	return account, nil
}
