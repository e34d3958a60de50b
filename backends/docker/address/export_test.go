package address

import "time"

// Within returns a with all its time limits set to one.
func (a Address) Within(limit time.Duration) Address {
	a.wait = waits{dial: limit, ping: limit, ssh: limit}
	return a
}

// Only returns an address of these sockets, as if they were the usual ones.
func Only(engine string, paths ...string) Address {
	a := Address{engine: engine, wait: defaultWaits}
	for _, path := range paths {
		a.endpoints = append(a.endpoints, a.unix(path))
	}
	return a
}
