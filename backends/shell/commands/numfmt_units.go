package commands

import (
	"math/big"
	"strings"
)

var bigOne = big.NewInt(1)

// parseUnits reads a number with a unit letter, as scale has them. It returns
// how many digits after the point it had.
func parseUnits(text, scale string) (v *big.Rat, decimals int, ok bool) {
	digits := len(text) - len(strings.TrimLeft(text, "-0123456789."))
	number, unit := text[:digits], text[digits:]
	if number == "" || len(number) > 200 || strings.LastIndex(number, "-") > 0 || strings.HasSuffix(number, "-") {
		return nil, 0, false
	}
	if at := strings.IndexByte(number, '.'); at >= 0 {
		decimals = len(number) - at - 1
	}
	v, ok = new(big.Rat).SetString(number)
	if !ok {
		return nil, 0, false
	}
	if unit == "" {
		return v, decimals, true
	}
	power := strings.IndexByte(numfmtPrefixes, unit[0])
	if unit[0] == 'k' {
		power = 0
	}
	base := int64(1024)
	switch rest := unit[1:]; {
	case power < 0 || scale == "none" || rest != "" && rest != "i":
		return nil, 0, false
	case scale == "si" || scale == "auto" && rest == "":
		base = 1000
	}
	if (scale == "iec-i") != (unit[1:] == "i") && scale != "auto" {
		return nil, 0, false
	}
	factor := new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(power+1)), nil)
	return v.Mul(v, new(big.Rat).SetInt(factor)), 0, true
}

// convert converts one field, whose column is width wide.
func (o *numfmtOptions) convert(field string, width int) (out, problem string) {
	text := strings.TrimSpace(field)
	if o.suffix != "" {
		text = strings.TrimSuffix(text, o.suffix)
	}
	v, decimals, ok := parseUnits(text, o.from)
	if !ok {
		if _, _, unit := parseUnits(text, "auto"); unit && o.from == "none" {
			return field, "rejecting suffix in input: " + Quote(field) + " (consider using --from)"
		}
		if _, _, unit := parseUnits(text, "iec-i"); !unit && o.from == "iec-i" {
			if _, _, plain := parseUnits(text, "iec"); plain {
				return field, "missing 'i' suffix in input: " + Quote(field) + " (e.g Ki/Mi/Gi)"
			}
		}
		start := strings.TrimLeft(text, "-0123456789.")
		if start != text && start != "" {
			return field, "invalid suffix in input: " + Quote(field)
		}
		return field, "invalid number: " + Quote(field)
	}
	v.Mul(v, o.fromUnit)
	v.Quo(v, o.toUnit)
	text = o.scaled(v, decimals) + o.suffix
	if o.zeros && o.padding > 0 {
		sign := ""
		if strings.HasPrefix(text, "-") {
			sign, text = "-", text[1:]
		}
		text = sign + strings.Repeat("0", max(0, o.padding-len(text)-len(sign))) + text
	}
	switch pad := o.padding; {
	case pad == 0:
		text = strings.Repeat(" ", max(0, width-len(text))) + text
	case pad > 0:
		text = strings.Repeat(" ", max(0, pad-len(text))) + text
	default:
		text += strings.Repeat(" ", max(0, -pad-len(text)))
	}
	return o.before + text + o.after, ""
}

// scaled writes a number with the unit letter that is asked for.
func (o *numfmtOptions) scaled(v *big.Rat, decimals int) string {
	if o.to == "none" {
		if o.precision >= 0 {
			decimals = o.precision
		}
		return o.rounded(v, decimals)
	}
	base := big.NewRat(1024, 1)
	if o.to == "si" {
		base = big.NewRat(1000, 1)
	}
	v = new(big.Rat).Set(v)
	power := 0
	for abs := new(big.Rat).Abs(v); abs.Cmp(base) >= 0 && power < len(numfmtPrefixes); power++ {
		abs.Quo(abs, base)
		v.Quo(v, base)
	}
	places := func(v *big.Rat) int {
		switch {
		case o.precision >= 0:
			return o.precision
		case power > 0 && new(big.Rat).Abs(v).Cmp(big.NewRat(10, 1)) < 0:
			return 1
		}
		return 0
	}
	text := o.rounded(v, places(v))
	if r, ok := new(big.Rat).SetString(text); ok && power < len(numfmtPrefixes) {
		if r.Abs(r); r.Cmp(base) >= 0 { // it was rounded up to the next unit
			power++
			v = v.Quo(v, base)
			text = o.rounded(v, places(v))
		} else if r.Cmp(big.NewRat(10, 1)) >= 0 && power > 0 && o.precision < 0 && strings.Contains(text, ".") {
			text = o.rounded(v, 0)
		}
	}
	if power == 0 {
		return text
	}
	letter := numfmtPrefixes[power-1 : power]
	if o.to == "iec-i" {
		letter += "i"
	}
	return text + letter
}

// rounded writes v with so many decimals, rounded as --round says.
func (o *numfmtOptions) rounded(v *big.Rat, decimals int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	n := new(big.Int).Mul(v.Num(), scale)
	q, rest := new(big.Int).QuoRem(n, v.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		away := false
		switch o.round {
		case "up":
			away = n.Sign() > 0
		case "down":
			away = n.Sign() < 0
		case "from-zero":
			away = true
		case "nearest":
			away = rest.Lsh(rest.Abs(rest), 1).Cmp(v.Denom()) >= 0
		}
		if away && n.Sign() < 0 {
			q.Sub(q, bigOne)
		} else if away {
			q.Add(q, bigOne)
		}
	}
	return new(big.Rat).SetFrac(q, scale).FloatString(decimals)
}
