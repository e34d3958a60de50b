package commands

import (
	"math"
	"strings"
)

// parseSize reads a number with a suffix as GNU's commands do: b (512), K, M, G
// and so on for powers of 1024, with B for powers of 1000 and iB for 1024.
func parseSize(text string) (n int64, ok bool) {
	i := 0
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		if n > (math.MaxInt64-9)/10 {
			n = math.MaxInt64
			continue
		}
		n = n*10 + int64(text[i]-'0')
	}
	suffix := text[i:]
	if i == 0 && suffix == "" {
		return 0, false
	}
	if i == 0 {
		n = 1
	}
	factor := int64(1)
	switch suffix {
	case "":
		return n, true
	case "b":
		factor = 512
	default:
		power := strings.IndexByte("KMGTPEZY", suffix[0]) + 1
		if suffix[0] == 'k' {
			power = 1
		}
		base := int64(1024)
		if power == 0 {
			return 0, false
		}
		switch suffix[1:] {
		case "", "iB":
		case "B":
			base = 1000
		default:
			return 0, false
		}
		for range power {
			if factor > math.MaxInt64/base {
				factor = math.MaxInt64
				break
			}
			factor *= base
		}
	}
	if n > 0 && factor > math.MaxInt64/n {
		return math.MaxInt64, true
	}
	return n * factor, true
}
