package fair

import (
	"errors"
	"sync"
	"testing"
)

func TestMemoryIsSharedByOwners(t *testing.T) {
	m := NewMemory(1000)
	take := func(owner string, n int64, want bool) {
		t.Helper()
		if err := m.Take(owner, n); (err == nil) != want || err != nil && !errors.Is(err, ErrFull) {
			t.Fatalf("%d bytes for %q: %v, with %d in use", n, owner, err, m.Used())
		}
	}
	take("a", 501, false) // more than it leaves
	take("a", 500, true)
	take("a", 1, false)
	take("b", 251, false)
	take("b", 250, true)
	take("c", 125, true)
	m.Give("a", 500)
	take("c", 187, true) // half of what a and b leave
	take("c", 1, true)
	take("c", 100, false)
	m.Give("b", 250)
	m.Give("c", 313)
	if m.Used() != 0 || len(m.owners) != 0 {
		t.Errorf("%d bytes of %v are left", m.Used(), m.owners)
	}
	take("", 1000, true) // the only user there is
	take("", 1, false)
	take("a", 1, false)
}

func TestNoMemoryLimit(t *testing.T) {
	m := NewMemory(0)
	if err := m.Take("a", 1<<60); err != nil {
		t.Error(err)
	}
	m.Give("a", 1<<60)
	a := m.Open("a")
	a.OnFull(func(err error) { t.Error(err) })
	if err := a.Grow(1 << 60); err != nil {
		t.Error(err)
	}
	a.Overdraw(1 << 60)
	a.Free(1)
	a.Close()
}

func TestAccountEndsWithNothingTaken(t *testing.T) {
	m := NewMemory(64 * chunk)
	a := m.Open("a")
	full := 0
	a.OnFull(func(err error) {
		if !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		full++
	})
	if err := a.Grow(first + 32*chunk); err != nil || full != 0 {
		t.Fatalf("half of all: %v, full %d times", err, full)
	}
	if err := a.Grow(1); !errors.Is(err, ErrFull) || full != 1 {
		t.Errorf("more than half: %v, full %d times", err, full)
	}
	if a.Used() != first+32*chunk {
		t.Errorf("%d bytes are used after a failure", a.Used())
	}
	a.Overdraw(8 * chunk)
	if full != 2 || m.Used() != 40*chunk {
		t.Errorf("overdrawn: full %d times, %d in use", full, m.Used())
	}
	a.Free(39 * chunk)
	if m.Used() > 4*chunk {
		t.Errorf("%d bytes are in use for an account that uses %d", m.Used(), a.Used())
	}
	a.Close()
	a.Close()
	a.Free(chunk) // of what ends late
	if m.Used() != 0 {
		t.Errorf("%d bytes are left of an account that is closed", m.Used())
	}
	if err := a.Grow(1); err == nil {
		t.Error("an account that is closed gives memory")
	}
}

func TestAccountsAtOnce(t *testing.T) {
	m := NewMemory(1 << 30)
	var all sync.WaitGroup
	for _, owner := range []string{"a", "a", "b", "b"} {
		all.Go(func() {
			a := m.Open(owner)
			defer a.Close()
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					for i := range int64(2000) {
						if a.Grow(i*100) == nil {
							a.Free(i * 100)
						}
					}
				})
			}
			both.Wait()
			if a.Used() != 0 {
				t.Errorf("%d bytes are in use", a.Used())
			}
		})
	}
	all.Wait()
	if m.Used() != 0 || len(m.owners) != 0 {
		t.Errorf("%d bytes of %v are left", m.Used(), m.owners)
	}
}
