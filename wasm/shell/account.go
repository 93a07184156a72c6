package shell

import "github.com/agent-sandbox/agent-sandbox/core/method"

// maxAccounts bounds what is kept; beyond it everything is dropped, and resolved
// again when needed.
const maxAccounts = 64

// accounts are resolved settings by the text that they came from. The zero value
// is ready.
type accounts struct{ byText map[string]*method.Account }

func (a *accounts) find(text []byte) (*method.Account, error) {
	if known := a.byText[string(text)]; known != nil {
		return known, nil
	}
	account, err := method.NewAccount(text)
	if err != nil {
		return nil, err
	}
	if a.byText == nil || len(a.byText) >= maxAccounts {
		a.byText = map[string]*method.Account{}
	}
	a.byText[string(text)] = account
	return account, nil
}
