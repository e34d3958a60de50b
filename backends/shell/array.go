package shell

// array is an indexed array; indexes are nil when it has no holes.
type array struct {
	values  []string
	indexes []int
}
