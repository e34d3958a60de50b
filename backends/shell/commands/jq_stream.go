package commands

// jqStream turns values into the events of --stream.
func jqStream(next func() (any, error), order *jqOrder) func() (any, error) {
	var events []any
	var walk func(v any, path []any, top bool)
	walk = func(v any, path []any, top bool) {
		here := append([]any{}, path...)
		leaf := func() { events = append(events, []any{here, v}) }
		switch x := v.(type) {
		case []any:
			if len(x) == 0 {
				leaf()
				break
			}
			for i, e := range x {
				walk(e, append(here, i), false)
			}
			events = append(events, []any{append(here, len(x)-1)})
		case map[string]any:
			keys := order.keys(x)
			if len(keys) == 0 {
				leaf()
				break
			}
			for _, k := range keys {
				walk(x[k], append(here, k), false)
			}
			events = append(events, []any{append(here, keys[len(keys)-1])})
		default:
			leaf()
		}
		_ = top
	}
	return func() (any, error) {
		for len(events) == 0 {
			v, err := next()
			if err != nil {
				return nil, err
			}
			walk(v, nil, true)
		}
		e := events[0]
		events = events[1:]
		return e, nil
	}
}
