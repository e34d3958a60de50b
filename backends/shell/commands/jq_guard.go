package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// The interpreter of jq's language has no bounds of its own. It looks at its
// context between steps, so what a step can take is bounded here: functions that
// walk a whole value, in one step, get the value checked before. Values share
// their parts, so a small one can stand for a tree without end.
const (
	jqMaxNodes = 20_000_000 // of a value that is walked in one step
	jqMaxText  = 64 << 20   // bytes of the texts in it
	jqMaxIndex = 10_000_000 // of an array that is assigned to
)

var (
	errJqDeep  = errors.New("the value is too large to be compared or written")
	errJqIndex = errors.New("array index too large")
	errJqText  = errors.New("repeat string result too large")
)

// jqPrelude has the functions that are checked, and those that show objects'
// keys in the order they came in.
const jqPrelude = `
def __iter: if type == "object" then .[__keys[]] else .[] end;
def map(f): [__iter | f];
def keys_unsorted: __keys;
def to_entries: [__keys[] as $k | {key: $k, value: .[$k]}];
def from_entries: reduce __iter as $e ({};
  . + {($e | if type == "object" then (if .key == null then .k // .name // .Name // .K // .Key | if . == null then "null" else . end else .key end) else . end
    | if type == "string" then . else tojson end | __note):
    ($e | if has("value") then .value elif has("v") then .v else .Value end)});
def with_entries(f): to_entries | map(f) | from_entries;
def recurse(f): def r: ., (f | r); r;
def recurse: recurse(__iter?);
def recurse(f; cond): def r: ., (f | select(cond) | r); r;
def paths: path(recurse) | select(length > 0);
def paths(f): path(recurse | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def __mul(a; b): b as $b | a as $a | __product($a; $b) | $a * $b;
def tojson: __tojson;
def tostring: __text;
def __0sort: sort; def sort: __c | __0sort;
def __0unique: unique; def unique: __c | __0unique;
def __0min: min; def min: __c | __0min;
def __0max: max; def max: __c | __0max;
def __0sort_by(f): sort_by(f); def sort_by(f): __0sort_by(f | __c);
def __0group_by(f): group_by(f); def group_by(f): __0group_by(f | __c);
def __0unique_by(f): unique_by(f); def unique_by(f): __0unique_by(f | __c);
def __0min_by(f): min_by(f); def min_by(f): __0min_by(f | __c);
def __0max_by(f): max_by(f); def max_by(f): __0max_by(f | __c);
def __0flatten: flatten; def flatten: __c | __0flatten;
def __0flatten(n): flatten(n); def flatten(n): __c | __0flatten(n);
def __0contains(x): contains(x); def contains(x): __c | __0contains(x | __c);
def __0inside(x): inside(x); def inside(x): __c | __0inside(x | __c);
def __0index(x): index(x); def index(x): __c | __0index(x | __c);
def __0rindex(x): rindex(x); def rindex(x): __c | __0rindex(x | __c);
def __0indices(x): indices(x); def indices(x): __c | __0indices(x | __c);
def __0bsearch(x): bsearch(x); def bsearch(x): __c | __0bsearch(x | __c);
def __0join(x): join(x); def join(x): __c | __0join(x);
def __0format(x): format(x); def format(x): __c | __0format(x);
def __0setpath(p; v): setpath(p; v); def setpath(p; v): __0setpath(p | __path; v);
def localtime: gmtime;
def strflocaltime(f): strftime(f);
def gsub($re; str): gsub($re; str; "");
`

// jqCheck tells whether a value can be walked in one step.
func jqCheck(ctx context.Context, v any) error {
	nodes, text := 0, 0
	var walk func(v any, depth int) error
	walk = func(v any, depth int) error {
		if nodes++; nodes%4096 == 0 {
			fair.Take(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if nodes > jqMaxNodes || text > jqMaxText || depth > 10_000 {
			return errJqDeep
		}
		switch v := v.(type) {
		case string:
			text += len(v)
		case []any:
			for _, x := range v {
				if err := walk(x, depth+1); err != nil {
					return err
				}
			}
		case map[string]any:
			for k, x := range v {
				text += len(k)
				if err := walk(x, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk(v, 0)
}

// jqFunctions are what the prelude and the rewritten query call.
func (j *jqRun) jqFunctions() []gojq.CompilerOption {
	return []gojq.CompilerOption{
		gojq.WithFunction("__c", 0, 0, func(v any, _ []any) any {
			if err := jqCheck(j.p.Context(), v); err != nil {
				return err
			}
			return v
		}),
		gojq.WithFunction("__index", 0, 0, func(v any, _ []any) any {
			switch n := v.(type) {
			case int:
				if n > jqMaxIndex {
					return errJqIndex
				}
			case float64:
				if n > jqMaxIndex {
					return errJqIndex
				}
			case string:
				j.order.note(n)
			case []any:
				if err := jqCheck(j.p.Context(), v); err != nil {
					return err
				}
			}
			return v
		}),
		gojq.WithFunction("__path", 0, 0, func(v any, _ []any) any {
			list, _ := v.([]any)
			for _, x := range list {
				switch n := x.(type) {
				case int:
					if n > jqMaxIndex {
						return errJqIndex
					}
				case float64:
					if n > jqMaxIndex {
						return errJqIndex
					}
				case string:
					j.order.note(n)
				}
			}
			return v
		}),
		gojq.WithFunction("__product", 2, 2, func(v any, args []any) any {
			for i := range args {
				s, ok := args[i].(string)
				if !ok {
					continue
				}
				n, ok := gojq.ToFloat64(args[1-i])
				if ok && n*float64(len(s)) > jqMaxText {
					return errJqText
				}
			}
			for _, x := range args {
				if err := jqCheck(j.p.Context(), x); err != nil {
					return err
				}
			}
			return v
		}),
		gojq.WithFunction("__tojson", 0, 0, func(v any, _ []any) any { return j.toJSON(v) }),
		gojq.WithFunction("__text", 0, 0, func(v any, _ []any) any {
			if s, ok := v.(string); ok {
				return s
			}
			return j.toJSON(v)
		}),
		gojq.WithFunction("__sum", 0, 0, func(v any, _ []any) any {
			if s, ok := v.(string); ok && len(s) > jqMaxText {
				return ErrMemory
			}
			return v
		}),
		gojq.WithFunction("__note", 0, 0, func(v any, _ []any) any {
			if s, ok := v.(string); ok {
				j.order.note(s)
			}
			return v
		}),
		gojq.WithFunction("__keys", 0, 0, func(v any, _ []any) any {
			switch v := v.(type) {
			case map[string]any:
				keys := j.order.keys(v)
				out := make([]any, len(keys))
				for i, k := range keys {
					out[i] = k
				}
				return out
			case []any:
				out := make([]any, len(v))
				for i := range v {
					out[i] = i
				}
				return out
			}
			return fmt.Errorf("%s (%s) has no keys", gojq.TypeOf(v), gojq.Preview(v))
		}),
	}
}

// toJSON writes v on one line, with keys in their order.
func (j *jqRun) toJSON(v any) any {
	if err := jqCheck(j.p.Context(), v); err != nil {
		return err
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := (&jqWriter{p: j.p, w: w, order: j.order}).value(v, 0); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return b.String()
}

// jqWatch ends a run whose heap grows by more than a script may have, and returns
// a function that ends the watch. What the interpreter holds cannot be counted
// where it is taken; the growth of the whole process is looked at instead, less
// what others are charged for, and where it is too much the garbage is collected
// to see what is in use.
func jqWatch(ctx context.Context, memory *Memory) (context.Context, func()) {
	limit := memory.Limit()
	ctx, cancel := context.WithCancelCause(ctx)
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	inUse := func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64()) - memory.All()
	}
	begun := inUse()
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		ticks := time.NewTicker(10 * time.Millisecond)
		defer ticks.Stop()
		bound := begun + limit
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if inUse() <= bound {
				continue
			}
			runtime.GC()
			now := inUse()
			if now > begun+limit {
				cancel(ErrMemory)
				return
			}
			bound = max(begun+limit, now+limit/2)
		}
	})
	return &jqTurns{Context: ctx, turn: fair.TurnOf(ctx)}, func() {
		close(done)
		ended.Wait()
		cancel(nil)
	}
}

// jqTurns is a context that has the interpreter wait for its turn to compute: it
// looks at Done between its steps, and nowhere else is there a place.
type jqTurns struct {
	context.Context
	turn *fair.Turn
}

func (t *jqTurns) Done() <-chan struct{} {
	t.turn.Take(t.Context)
	return t.Context.Done()
}
