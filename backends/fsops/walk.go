package fsops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// maxWalkers is how many directories and files a search works on at once, at
// most.
const maxWalkers = 8

// walkBatch is how many files of a directory one worker takes at a time.
const walkBatch = 32

// walk visits the files below a directory with several workers at once. It
// follows no symlink, enters no .git, and visits in no order.
type walk struct {
	tree    *Tree
	op      string
	hidden  bool         // visit names that start with a dot, too
	ignored bool         // visit what .gitignore files leave out, too
	dirs    bool         // visit directories, too
	pattern *globPattern // nil is everything
	filter  *filter

	// visit is called by several workers at once for every file, symlink and
	// (with dirs) directory that the fields above let through, except that the
	// filter has not been asked: see walkFile.shown. An error ends the walk.
	visit func(ctx context.Context, w *walkWorker, f walkFile) error

	skipped atomic.Int64 // directories and files that could not be read

	mu      sync.Mutex
	work    sync.Cond
	jobs    []walkJob // last in, first out: that keeps the list short and few directories open
	pending int       // jobs on the list or in hand
	err     error
}

// walkDir is a directory to read.
type walkDir struct {
	display string // its path as it is answered
	real    string // its path without symlinks
	ignore  *ignoreLevel
	pattern globState
}

// walkJob is a directory to read or, with files, some of its files to visit.
type walkJob struct {
	dir   *walkDir
	open  *sharedDir // with files
	files []walkName
}

// drop frees what an undone job holds.
func (j walkJob) drop() {
	if j.open != nil {
		j.open.release()
	}
}

type walkName struct {
	name string
	mode fs.FileMode // type bits
}

// walkFile is something to visit.
type walkFile struct {
	dir  *walkDir
	open Dir // the same directory
	name string
	mode fs.FileMode // type bits
}

func (f walkFile) display() string { return join(f.dir.display, f.name) }
func (f walkFile) real() string    { return join(f.dir.real, f.name) }

// walkWorker is what one worker keeps from file to file.
type walkWorker struct {
	path    []byte
	scratch ignoreScratch
	search  *grepSearch // of a grep
}

func newWalkWorker(ctx context.Context) *walkWorker {
	return &walkWorker{scratch: ignoreScratch{clock: workClock{ctx: ctx}}}
}

// run walks the tree below start. What cannot be read is left out, start
// itself excepted.
func (w *walk) run(ctx context.Context, start *walkDir) error {
	w.work.L = &w.mu
	w.push(walkJob{dir: start})
	workers := min(maxWalkers, 2*runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			worker := newWalkWorker(ctx)
			for {
				job, ok := w.next()
				if !ok {
					break
				}
				w.done(w.try(ctx, worker, job, start))
			}
			if worker.search != nil {
				worker.search.release()
			}
		})
	}
	wg.Wait()
	for _, job := range w.jobs {
		job.drop()
	}
	if err := ended(ctx, w.op); err != nil {
		return err
	}
	return w.err
}

func (w *walk) push(jobs ...walkJob) {
	w.mu.Lock()
	w.jobs = append(w.jobs, jobs...)
	w.pending += len(jobs)
	w.mu.Unlock()
	if len(jobs) == 1 {
		w.work.Signal()
	} else {
		w.work.Broadcast()
	}
}

func (w *walk) next() (walkJob, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.jobs) == 0 && w.pending > 0 && w.err == nil {
		w.work.Wait()
	}
	if len(w.jobs) == 0 || w.err != nil {
		return walkJob{}, false
	}
	last := len(w.jobs) - 1
	job := w.jobs[last]
	w.jobs[last] = walkJob{}
	w.jobs = w.jobs[:last]
	return job, true
}

func (w *walk) done(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	if w.pending--; w.pending == 0 || err != nil {
		w.work.Broadcast()
	}
}

// try is do, with a panic as the error that the walk ends with: a worker's
// would otherwise end the process.
func (w *walk) try(ctx context.Context, worker *walkWorker, job walkJob, start *walkDir) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &backends.Error{Code: backends.CodeInternal, Op: w.op, Err: fmt.Errorf("%v\n%s", p, debug.Stack()),
				Message: fmt.Sprintf("the search met a defect of this program (%v); searching less at once may avoid it", p)}
		}
	}()
	return w.do(ctx, worker, job, start)
}

func (w *walk) do(ctx context.Context, worker *walkWorker, job walkJob, start *walkDir) error {
	if job.files != nil {
		defer job.open.release()
		return w.visitAll(ctx, worker, job)
	}
	if err := ended(ctx, w.op); err != nil {
		return err
	}
	dir, entries, err := w.read(job.dir)
	if err != nil {
		if job.dir == start {
			return fail(w.op, start.display, err)
		}
		return w.leaveOut(job.dir.display, err)
	}
	defer dir.release()
	return w.enter(ctx, worker, job.dir, dir, entries)
}

// read opens a directory and lists it.
func (w *walk) read(dir *walkDir) (*sharedDir, []fs.DirEntry, error) {
	d, err := w.tree.openDir(dir.real)
	if err != nil {
		return nil, nil, err
	}
	open := newSharedDir(d)
	entries, err := open.ReadDir()
	if err != nil {
		open.release()
		return nil, nil, err
	}
	return open, entries, nil
}

// enter sorts out a directory's entries: what to visit, what to enter, what to
// leave out.
func (w *walk) enter(ctx context.Context, worker *walkWorker, dir *walkDir, open *sharedDir, entries []fs.DirEntry) error {
	if !w.ignored {
		if err := w.loadIgnore(dir, open, entries); err != nil {
			return err
		}
	}
	files := make([]walkName, 0, min(len(entries), walkBatch))
	var below, batches []walkJob
	for _, entry := range entries {
		name, mode := entry.Name(), entry.Type()
		if name == ".git" || !w.hidden && strings.HasPrefix(name, ".") {
			continue
		}
		if !mode.IsDir() && !mode.IsRegular() && mode&fs.ModeSymlink == 0 {
			continue
		}
		var state globState
		take := true
		if w.pattern != nil {
			state, take = w.pattern.step(dir.pattern, name, mode.IsDir())
		}
		if mode.IsDir() {
			take = take && w.dirs
		}
		if !take && (!mode.IsDir() || w.pattern != nil && len(state) == 0) {
			continue
		}
		if dir.ignore != nil {
			worker.path = append(append(worker.path[:0], dir.real...), '/')
			worker.path = append(worker.path, name...)
			if dir.ignore.ignored(worker.path, worker.path[len(worker.path)-len(name):], mode.IsDir(), &worker.scratch) {
				continue
			}
			if worker.scratch.clock.ended {
				return ended(ctx, w.op)
			}
		}
		if take {
			files = append(files, walkName{name, mode})
			if len(files) == walkBatch {
				batches = append(batches, walkJob{dir: dir, open: open.use(), files: files})
				files = make([]walkName, 0, walkBatch)
			}
		}
		if mode.IsDir() && (w.pattern == nil || len(state) > 0) {
			sub := &walkDir{display: join(dir.display, name), ignore: dir.ignore, pattern: state}
			sub.real = sub.display
			if dir.real != dir.display {
				sub.real = join(dir.real, name)
			}
			if !w.filter.hidesBelow(sub.display, sub.real) {
				below = append(below, walkJob{dir: sub})
			}
		}
	}
	// The files come before the directories, so that the next directory is
	// opened when this one is all but done with.
	if more := slices.Concat(below, batches); len(more) > 0 {
		w.push(more...)
	}
	return w.visitAll(ctx, worker, walkJob{dir: dir, open: open, files: files})
}

func (w *walk) visitAll(ctx context.Context, worker *walkWorker, job walkJob) error {
	for _, f := range job.files {
		if err := ended(ctx, w.op); err != nil {
			return err
		}
		if err := w.visit(ctx, worker, walkFile{dir: job.dir, open: job.open, name: f.name, mode: f.mode}); err != nil {
			return err
		}
	}
	return nil
}

// loadIgnore adds the rules that dir itself has. entries are its own.
func (w *walk) loadIgnore(dir *walkDir, open Dir, entries []fs.DirEntry) (err error) {
	var repository, file bool
	for _, entry := range entries {
		switch entry.Name() {
		case ".git":
			repository = true
		case ".gitignore":
			file = entry.Type().IsRegular()
		}
	}
	dir.ignore, err = w.ignoreIn(dir.ignore, dir.real, open, repository, file)
	return err
}

// walkInGit tells whether a path is or is below a .git.
func walkInGit(root string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return inside(root, name) && slices.Contains(strings.Split(name[len(root):], "/"), ".git")
	})
}

// leaveOut goes on without what could not be read, unless that is fatal. What
// has only gone since is not missed.
func (w *walk) leaveOut(name string, err error) error {
	if fatal := walkFatal(w.op, name, err); fatal != nil {
		return fatal
	}
	if !errors.Is(err, fs.ErrNotExist) {
		w.skipped.Add(1)
	}
	return nil
}

// walkFatal tells what is wrong with a single file, which a search leaves out
// (nil), from what makes the whole answer worthless, which it must report: the
// environment is gone, or this process has run out of something.
func walkFatal(op, name string, err error) error {
	var typed *backends.Error
	if errors.As(err, &typed) {
		switch typed.Code {
		case backends.CodeNotFound, backends.CodePermission, backends.CodeInvalidArgument, backends.CodeIsDirectory,
			backends.CodeNotDirectory, backends.CodeTooLarge, backends.CodeBinary:
			return nil
		}
		if typed.Err == nil {
			return err
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		switch errno {
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		default:
			return nil
		}
	}
	return fail(op, name, err)
}

// startAt is a directory given to a search.
func (w *walk) startAt(res backends.Resolution) (*walkDir, error) {
	start := &walkDir{display: res.Path, real: res.Resolved}
	if w.ignored {
		return start, nil
	}
	var err error
	start.ignore, err = w.ignoreAbove(res.Resolved)
	return start, err
}

// walkBelow goes from start down the names of rel, as the walk would. It
// returns nil where the walk would not have come.
func (w *walk) walkBelow(ctx context.Context, start *walkDir, rel string) (*walkDir, error) {
	worker := newWalkWorker(ctx)
	at := start
	for name := range strings.SplitSeq(rel, "/") {
		if !w.ignored {
			repository, file, err := w.ignoreLook(at.real)
			if err != nil {
				return nil, err
			}
			if at.ignore, err = w.ignoreIn(at.ignore, at.real, w.tree.namedDir(at.real), repository, file); err != nil {
				return nil, err
			}
			if at.ignore != nil {
				full := []byte(join(at.real, name))
				if at.ignore.ignored(full, full[len(full)-len(name):], true, &worker.scratch) {
					return nil, nil
				}
				if worker.scratch.clock.ended {
					return nil, ended(ctx, w.op)
				}
			}
		}
		at = &walkDir{display: join(at.display, name), real: join(at.real, name), ignore: at.ignore, pattern: at.pattern}
		if w.filter.hidesBelow(at.display, at.real) {
			return nil, nil
		}
	}
	return at, nil
}
