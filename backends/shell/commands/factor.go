package commands

import (
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"slices"
	"strings"
)

var factorFlags = NewOptions(1, "h exponents")

// factorBits is the largest number that factor takes.
const factorBits = 128

// factor prints prime factors.
func factor(p *Proc) int {
	parsed, code := p.Parse(factorFlags)
	if parsed == nil {
		return code
	}
	one := func(word string) int {
		v, ok := new(big.Int).SetString(strings.TrimPrefix(word, "+"), 10)
		if !ok || v.Sign() < 0 || strings.HasPrefix(word, "-") {
			return p.Errorf(1, "%s is not a valid positive integer", Quote(word))
		}
		if v.BitLen() > factorBits {
			return p.Errorf(1, "%s is too large", Quote(word))
		}
		factors := p.factors(v)
		if p.Stopped() {
			return 1
		}
		fmt.Fprintf(p.Out, "%s:", v)
		for i := 0; i < len(factors); {
			j := i
			for j < len(factors) && factors[j].Cmp(factors[i]) == 0 {
				j++
			}
			if parsed.Has("h") && j-i > 1 {
				fmt.Fprintf(p.Out, " %s^%d", factors[i], j-i)
				i = j
				continue
			}
			fmt.Fprintf(p.Out, " %s", factors[i])
			i++
		}
		p.Out.WriteByte('\n')
		return 0
	}
	for _, word := range parsed.Args {
		code = max(code, one(word))
	}
	if len(parsed.Args) > 0 {
		return code
	}
	return p.Inputs(nil, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, '\n')
		defer lines.Close()
		code := 0
		for lines.Next() {
			for _, word := range strings.Fields(lines.Text()) {
				code = max(code, one(word))
			}
		}
		return code, lines.Err()
	})
}

// factors are the prime factors of n in order.
func (p *Proc) factors(n *big.Int) []*big.Int {
	var out []*big.Int
	n = new(big.Int).Set(n)
	d, rest := new(big.Int), new(big.Int)
	for small := int64(2); small < 5000 && n.Cmp(big.NewInt(1)) > 0; small++ {
		for d.SetInt64(small); ; {
			q, r := new(big.Int).QuoRem(n, d, rest)
			if r.Sign() != 0 {
				break
			}
			out = append(out, big.NewInt(small))
			n = q
		}
	}
	var split func(n *big.Int)
	split = func(n *big.Int) {
		switch {
		case n.Cmp(big.NewInt(1)) <= 0 || p.Stopped():
		case n.ProbablyPrime(20):
			out = append(out, n)
		default:
			f := p.divisor(n)
			if f == nil {
				return
			}
			split(f)
			split(new(big.Int).Quo(n, f))
		}
	}
	if n.Sign() > 0 {
		split(n)
	}
	slices.SortFunc(out, (*big.Int).Cmp)
	return out
}

// divisor finds a proper divisor of a number that is not prime, by Pollard's
// rho. It returns nil when the command is to end.
func (p *Proc) divisor(n *big.Int) *big.Int {
	if root := new(big.Int).Sqrt(n); new(big.Int).Mul(root, root).Cmp(n) == 0 {
		return root
	}
	if n.IsUint64() {
		return p.smallDivisor(n.Uint64())
	}
	one := big.NewInt(1)
	for c := int64(1); ; c++ {
		x, y, g := big.NewInt(2), big.NewInt(2), big.NewInt(1)
		product, diff := big.NewInt(1), new(big.Int)
		step := func(v *big.Int) { v.Mul(v, v).Add(v, big.NewInt(c)).Mod(v, n) }
		for i := 1; g.Cmp(one) == 0; i++ {
			step(x)
			step(y)
			step(y)
			if diff.Sub(x, y).Abs(diff); diff.Sign() == 0 {
				break
			}
			product.Mul(product, diff).Mod(product, n)
			if i%100 != 0 {
				continue
			}
			if p.Stopped() {
				return nil
			}
			if product.Sign() == 0 {
				break // several factors at once: the next sequence
			}
			g.GCD(nil, nil, product, n)
		}
		if g.Cmp(one) > 0 && g.Cmp(n) < 0 {
			return g
		}
		if p.Stopped() {
			return nil
		}
	}
}

func (p *Proc) smallDivisor(n uint64) *big.Int {
	mul := func(a, b uint64) uint64 {
		hi, lo := bits.Mul64(a, b)
		_, rem := bits.Div64(hi%n, lo, n)
		return rem
	}
	gcd := func(a, b uint64) uint64 {
		for b > 0 {
			a, b = b, a%b
		}
		return a
	}
	for c := uint64(1); ; c++ {
		x, y, g := uint64(2), uint64(2), uint64(1)
		step := func(v uint64) uint64 {
			if v = mul(v, v); v >= n-c {
				return v - (n - c)
			}
			return v + c
		}
		for i := 1; g == 1; i++ {
			x = step(x)
			y = step(step(y))
			d := x - y
			if x < y {
				d = y - x
			}
			g = gcd(d, n)
			if i%1024 == 0 && p.Stopped() {
				return nil
			}
		}
		if g < n {
			return new(big.Int).SetUint64(g)
		}
	}
}
