package commands

import (
	"errors"
	"math/big"
	"strings"
)

// bcBits is the largest number that bc holds, in bits: some 1.2 million digits.
// bcScale is the largest scale.
const (
	bcBits  = 1 << 22
	bcScale = 1 << 20
)

var (
	errBCSize       = errors.New("the number would have more than a million digits")
	errBCParameters = errors.New("Parameter number mismatch") //nolint:staticcheck // in the words of bc
	errBCDivide     = errors.New("Divide by zero")            //nolint:staticcheck // in the words of bc
)

// bcDecimal is a number of bc: value / 10^scale. It is never changed.
type bcDecimal struct {
	value *big.Int
	scale int
}

var bcZero, bcOne = bcDecimal{new(big.Int), 0}, bcDecimal{big.NewInt(1), 0}

func bcInt(n int64) bcDecimal { return bcDecimal{big.NewInt(n), 0} }

func bcBool(b bool) bcDecimal {
	if b {
		return bcOne
	}
	return bcZero
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// at is the number with another scale; digits that do not fit are dropped.
func (a bcDecimal) at(scale int) bcDecimal {
	switch {
	case scale > a.scale:
		return bcDecimal{new(big.Int).Mul(a.value, pow10(scale-a.scale)), scale}
	case scale < a.scale:
		return bcDecimal{new(big.Int).Quo(a.value, pow10(a.scale-scale)), scale}
	}
	return a
}

func (a bcDecimal) zero() bool { return a.value.Sign() == 0 }

func bcPair(a, b bcDecimal) (x, y bcDecimal) {
	scale := max(a.scale, b.scale)
	return a.at(scale), b.at(scale)
}

func (a bcDecimal) cmp(b bcDecimal) int {
	x, y := bcPair(a, b)
	return x.value.Cmp(y.value)
}

func (a bcDecimal) add(b bcDecimal) bcDecimal {
	x, y := bcPair(a, b)
	return bcDecimal{new(big.Int).Add(x.value, y.value), x.scale}
}

func (a bcDecimal) neg() bcDecimal { return bcDecimal{new(big.Int).Neg(a.value), a.scale} }

func (a bcDecimal) sub(b bcDecimal) bcDecimal { return a.add(b.neg()) }

func (a bcDecimal) mul(b bcDecimal, scale int) (bcDecimal, error) {
	if a.value.BitLen()+b.value.BitLen() > bcBits {
		return a, errBCSize
	}
	full := bcDecimal{new(big.Int).Mul(a.value, b.value), a.scale + b.scale}
	return full.at(min(full.scale, max(scale, a.scale, b.scale))), nil
}

func (a bcDecimal) div(b bcDecimal, scale int) (bcDecimal, error) {
	if b.zero() {
		return a, errBCDivide
	}
	if a.value.BitLen()+4*(scale+b.scale) > 2*bcBits {
		return a, errBCSize
	}
	// a / b = value·10^(scale + b.scale - a.scale) / b.value, at that scale.
	x := new(big.Int).Set(a.value)
	y := b.value
	if shift := scale + b.scale - a.scale; shift >= 0 {
		x.Mul(x, pow10(shift))
	} else {
		y = new(big.Int).Mul(y, pow10(-shift))
	}
	return bcDecimal{x.Quo(x, y), scale}, nil
}

func (a bcDecimal) mod(b bcDecimal, scale int) (bcDecimal, error) {
	q, err := a.div(b, scale)
	if err != nil {
		return a, errors.New("Modulo by zero") //nolint:staticcheck // in the words of bc
	}
	full := max(a.scale, b.scale+scale)
	p, err := q.mul(b, full)
	if err != nil {
		return a, err
	}
	return a.sub(p).at(full), nil
}

func (a bcDecimal) pow(b bcDecimal, scale int) (bcDecimal, error) {
	n := b.at(0).value
	if !n.IsInt64() || n.Int64() > 1<<31 || n.Int64() < -1<<31 {
		return a, errors.New("exponent too large in raise")
	}
	e := n.Int64()
	negative := e < 0
	if negative {
		e = -e
	}
	if e == 0 {
		return bcOne, nil
	}
	if int64(max(a.value.BitLen()-1, 0))*e > bcBits || int64(a.scale)*e > bcScale {
		return a, errBCSize
	}
	full := bcDecimal{new(big.Int).Exp(a.value, big.NewInt(e), nil), a.scale * int(e)}
	if negative {
		return bcOne.div(full, scale)
	}
	return full.at(min(full.scale, max(scale, a.scale))), nil
}

func (a bcDecimal) sqrt(scale int) (bcDecimal, error) {
	if a.value.Sign() < 0 {
		return a, errors.New("Square root of a negative number") //nolint:staticcheck // in the words of bc
	}
	scale = max(scale, a.scale)
	if a.zero() || a.cmp(bcOne) == 0 {
		return a.at(0), nil
	}
	if a.value.BitLen()+8*scale > 2*bcBits {
		return a, errBCSize
	}
	wide := a.at(2 * scale)
	return bcDecimal{new(big.Int).Sqrt(wide.value), scale}, nil
}

// length is how many digits a number has.
func (a bcDecimal) length() int {
	if a.zero() {
		return max(1, a.scale)
	}
	return max(len(new(big.Int).Abs(a.value).String()), a.scale)
}

// text writes a number in base.
func (a bcDecimal) text(base int) string {
	if a.zero() {
		return "0"
	}
	var b strings.Builder
	if a.value.Sign() < 0 {
		b.WriteByte('-')
	}
	abs := new(big.Int).Abs(a.value)
	if base == 10 {
		digits := abs.String()
		if n := a.scale + 1 - len(digits); n > 0 {
			digits = strings.Repeat("0", n) + digits
		}
		whole, frac := digits[:len(digits)-a.scale], digits[len(digits)-a.scale:]
		if whole == "0" && frac != "" {
			whole = ""
		}
		b.WriteString(whole)
		if frac != "" {
			b.WriteString("." + frac)
		}
		return b.String()
	}
	unit := pow10(a.scale)
	whole, frac := new(big.Int).QuoRem(abs, unit, new(big.Int))
	// Digits of bases above 16 are numbers with a blank before them.
	width := len(big.NewInt(int64(base - 1)).String())
	digit := func(d int64) {
		if base <= 16 {
			b.WriteByte("0123456789ABCDEF"[d])
			return
		}
		text := big.NewInt(d).String()
		b.WriteString(" " + strings.Repeat("0", width-len(text)) + text)
	}
	if whole.Sign() > 0 {
		if base <= 16 {
			b.WriteString(strings.ToUpper(whole.Text(base)))
		} else {
			for _, d := range bcDigits(whole, int64(base)) {
				digit(d)
			}
		}
	}
	if a.scale > 0 {
		b.WriteByte('.')
		reach := big.NewInt(1)
		for bigBase := big.NewInt(int64(base)); reach.Cmp(unit) < 0; reach.Mul(reach, bigBase) {
			frac.Mul(frac, bigBase)
			d, rest := new(big.Int).QuoRem(frac, unit, new(big.Int))
			frac = rest
			digit(d.Int64())
		}
	}
	return b.String()
}

// bcDigits are the digits of n in base, halved again and again so that it does
// not take the square of their number.
func bcDigits(n *big.Int, base int64) []int64 {
	var powers []*big.Int
	for p := big.NewInt(base); p.Cmp(n) <= 0; p = new(big.Int).Mul(p, p) {
		powers = append(powers, p)
	}
	out := make([]int64, 0, 1<<len(powers))
	var split func(n *big.Int, level int)
	split = func(n *big.Int, level int) {
		if level < 0 {
			out = append(out, n.Int64())
			return
		}
		q, r := new(big.Int).QuoRem(n, powers[level], new(big.Int))
		split(q, level-1)
		split(r, level-1)
	}
	split(n, len(powers)-1)
	for len(out) > 1 && out[0] == 0 {
		out = out[1:]
	}
	return out
}

// bcParse reads the digits of a constant in base. Digits too high for it count
// as the highest, but in a constant of one digit.
func bcParse(text string, base int) (bcDecimal, error) {
	whole, frac, _ := strings.Cut(text, ".")
	if len(text) > bcBits/5 {
		return bcZero, errBCSize
	}
	if len(whole)+len(frac) == 1 && frac == "" {
		return bcInt(int64(hexValue(whole[0]))), nil
	}
	if base == 10 && !strings.ContainsAny(text, "ABCDEF") {
		v, ok := new(big.Int).SetString("0"+whole+frac, 10)
		if !ok {
			return bcZero, errors.New("illegal number")
		}
		return bcDecimal{v, len(frac)}, nil
	}
	digits := []byte("0" + whole + frac)
	for i, c := range digits {
		if v := hexValue(c); v >= base {
			digits[i] = "0123456789ABCDEF"[base-1]
		}
	}
	v, ok := new(big.Int).SetString(string(digits), base)
	if !ok {
		return bcZero, errors.New("illegal number")
	}
	if frac == "" {
		return bcDecimal{v, 0}, nil
	}
	unit := new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(len(frac))), nil)
	return bcDecimal{v, 0}.div(bcDecimal{unit, 0}, len(frac))
}
