package egress

// Explain is what to tell a person whose command failed because its sandbox was
// made without a network.
const Explain = "the network of this sandbox is off: turn it on with --internet=on (sandboxc run, create, serve) or allow_internet_access=True"
