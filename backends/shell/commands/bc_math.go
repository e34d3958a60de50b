package commands

import "math/big"

// bcMath has the functions of -l. They calculate with more digits than the
// result has and drop the rest.
type bcMath struct {
	stopped func() bool
	err     func() error
	scale   int
}

// guard is how many digits more are calculated with.
const bcGuard = 12

// series adds up terms, which next makes of the one before, until they vanish.
func (m *bcMath) series(first bcDecimal, next func(term bcDecimal, i int64) bcDecimal) (bcDecimal, error) {
	sum := first
	for i, term := int64(1), first; !term.zero(); i++ {
		if m.stopped() {
			return sum, m.err()
		}
		term = next(term, i)
		sum = sum.add(term)
	}
	return sum, nil
}

// times multiplies at a fixed scale.
func times(a, b bcDecimal, scale int) bcDecimal {
	return bcDecimal{new(big.Int).Quo(new(big.Int).Mul(a.value, b.value), pow10(a.scale+b.scale-scale)), scale}
}

// over divides by a small integer.
func over(a bcDecimal, n int64) bcDecimal {
	return bcDecimal{new(big.Int).Quo(a.value, big.NewInt(n)), a.scale}
}

func (m *bcMath) exp(x bcDecimal) (bcDecimal, error) {
	if x.zero() {
		return bcOne.at(m.scale), nil
	}
	whole := x.at(0).value
	if !whole.IsInt64() || whole.Int64() > 1_000_000 {
		return x, errBCSize
	}
	if whole.Int64() < -int64(m.scale)*3-10 {
		return bcZero.at(m.scale), nil
	}
	// e^x = (e^(x/2^k))^(2^k); digits of the result count, too.
	digits := max(0, int(whole.Int64()))*10/23 + 1
	halvings := 0
	for n := new(big.Int).Abs(whole); n.Sign() > 0; n.Rsh(n, 1) {
		halvings++
	}
	halvings += 4
	work := m.scale + digits + bcGuard + halvings
	y := bcDecimal{new(big.Int).Rsh(new(big.Int).Abs(x.at(work).value), uint(halvings)), work}
	sum, err := m.series(bcOne.at(work), func(t bcDecimal, i int64) bcDecimal { return over(times(t, y, work), i) })
	for range halvings {
		if err != nil || m.stopped() {
			return sum, m.err()
		}
		sum = times(sum, sum, work)
	}
	if x.value.Sign() < 0 {
		return bcOne.div(sum, m.scale)
	}
	return sum.at(m.scale), err
}

func (m *bcMath) ln(x bcDecimal) (bcDecimal, error) {
	if x.value.Sign() <= 0 {
		// As bc has it: a number further down than any logarithm.
		return bcOne.sub(bcDecimal{pow10(m.scale), 0}).at(m.scale), nil
	}
	work := m.scale + bcGuard + 6
	// x = y^(2^k) with y close to 1: roots are taken until it is.
	y := x.at(max(work, x.scale)).at(work + len(x.value.String()))
	work = y.scale
	k := uint(1)
	near := bcDecimal{big.NewInt(11), 1}
	far := bcDecimal{big.NewInt(9), 1}
	for y.cmp(near) > 0 || y.cmp(far) < 0 {
		if m.stopped() {
			return x, m.err()
		}
		root, err := y.sqrt(work)
		if err != nil {
			return x, err
		}
		y = root.at(work)
		k++
	}
	// ln y = 2·artanh((y-1)/(y+1))
	z, err := y.sub(bcOne).div(y.add(bcOne), work)
	if err != nil {
		return x, err
	}
	square := times(z, z, work)
	power := z
	sum, err := m.series(z, func(_ bcDecimal, i int64) bcDecimal {
		power = times(power, square, work)
		return over(power, 2*i+1)
	})
	sum = bcDecimal{new(big.Int).Lsh(sum.value, k), sum.scale}
	return sum.at(m.scale), err
}

func (m *bcMath) atan(x bcDecimal) (bcDecimal, error) {
	if x.zero() {
		return bcZero, nil
	}
	work := m.scale + bcGuard + 6
	y := bcDecimal{new(big.Int).Abs(x.value), x.scale}
	inverse := y.cmp(bcOne) > 0
	if inverse {
		var err error
		if y, err = bcOne.div(y, work); err != nil {
			return x, err
		}
	}
	// atan y = 2·atan(y / (1 + √(1 + y²))) makes it small.
	const halvings = 5
	y = y.at(work)
	for range halvings {
		root, err := bcOne.add(times(y, y, work)).sqrt(work)
		if err == nil {
			y, err = y.div(bcOne.add(root), work)
		}
		if err != nil {
			return x, err
		}
	}
	square := times(y, y, work)
	power := y
	sum, err := m.series(y, func(_ bcDecimal, i int64) bcDecimal {
		power = times(power, square, work).neg()
		return over(power, 2*i+1)
	})
	if err != nil {
		return x, err
	}
	sum = bcDecimal{new(big.Int).Lsh(sum.value, halvings), work}
	if inverse {
		pi, err := m.pi(work)
		if err != nil {
			return x, err
		}
		sum = over(pi, 2).sub(sum)
	}
	if x.value.Sign() < 0 {
		sum = sum.neg()
	}
	return sum.at(m.scale), nil
}

// pi is π: 16·atan(1/5) - 4·atan(1/239).
func (m *bcMath) pi(scale int) (bcDecimal, error) {
	work := scale + bcGuard
	inverse := func(n int64) (bcDecimal, error) {
		power := over(bcOne.at(work), n)
		return m.series(power, func(_ bcDecimal, i int64) bcDecimal {
			power = over(power, n*n).neg()
			return over(power, 2*i+1)
		})
	}
	a, err := inverse(5)
	if err != nil {
		return a, err
	}
	b, err := inverse(239)
	return bcDecimal{new(big.Int).Sub(new(big.Int).Mul(a.value, big.NewInt(16)), new(big.Int).Mul(b.value, big.NewInt(4))), work}.at(scale), err
}

// sin is the sine of x, or the cosine.
func (m *bcMath) sin(x bcDecimal, cosine bool) (bcDecimal, error) {
	if x.zero() {
		if cosine {
			return bcOne.at(m.scale), nil
		}
		return bcZero, nil
	}
	whole := len(x.value.String())
	work := m.scale + bcGuard + whole
	pi, err := m.pi(work)
	if err != nil {
		return x, err
	}
	// Between -π and π.
	turn := pi.add(pi)
	turns, err := x.div(turn, 0)
	if err != nil {
		return x, err
	}
	y := x.at(max(work, x.scale)).sub(bcDecimal{new(big.Int).Mul(turns.value, turn.value), turn.scale}).at(work)
	square := times(y, y, work).neg()
	first, odd := y, int64(1)
	if cosine {
		first, odd = bcOne.at(work), 0
	}
	sum, err := m.series(first, func(t bcDecimal, i int64) bcDecimal {
		return over(times(t, square, work), (2*i-1+odd)*(2*i+odd))
	})
	return sum.at(m.scale), err
}

// bessel is the Bessel function of integer order n.
func (m *bcMath) bessel(n int64, x bcDecimal) (bcDecimal, error) {
	sign := int64(1)
	if n < 0 {
		if n = -n; n%2 != 0 {
			sign = -1
		}
	}
	if n > 10_000 || x.at(0).value.BitLen() > 16 {
		return x, errBCSize
	}
	work := m.scale + bcGuard + int(n) + 2*int(new(big.Int).Abs(x.at(0).value).Int64())
	half := over(x.at(work), 2)
	first := bcOne.at(work)
	for i := int64(1); i <= n; i++ {
		if m.stopped() {
			return x, m.err()
		}
		first = over(times(first, half, work), i)
	}
	square := times(half, half, work).neg()
	sum, err := m.series(first, func(t bcDecimal, i int64) bcDecimal { return over(over(times(t, square, work), i), n+i) })
	return bcDecimal{new(big.Int).Mul(sum.value, big.NewInt(sign)), work}.at(m.scale), err
}
