package commands

import (
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

var errNotDir error = syscall.ENOTDIR

// application is a file while it is patched.
type application struct {
	a      *patcher
	in     []string // lines with their newlines
	out    []string
	frozen int // lines of in that are done
	offset int // of the last hunk
	grown  int // how much longer out got than in
}

// file applies the patch of one file.
func (a *patcher) file(f *filePatch) error {
	held := a.p.held
	defer func() { a.p.Release(int(a.p.held - held)) }()
	name, info := a.choose(f)
	if name == "" {
		a.lost(f)
		return nil
	}
	if info != nil && !info.Mode().IsRegular() {
		a.say("File %s is not a regular file -- refusing to patch\n", name)
		a.ignored(f, name)
		return nil
	}
	creates, removes := f.creates, f.removes
	if a.reverse {
		creates, removes = removes, creates
	}
	if link, err := a.p.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 && !a.o.Has("follow-symlinks") {
		a.say("File %s is not a regular file -- refusing to patch\n", name)
		a.ignored(f, name)
		return nil
	}
	var content []byte
	if info != nil {
		var err error
		if content, err = a.p.ReadFile(name); err != nil {
			return err
		}
	}
	if err := a.p.Hold(3*len(content) + 64*strings.Count(string(content), "\n")); err != nil {
		return err
	}
	if len(content) > 0 && a.exists(f, name) {
		return nil
	}
	target := name
	if f.renameFrom != "" && a.output == "" && a.target == "" {
		target = a.stripped(f.renameTo)
		if a.reverse {
			target = a.stripped(f.renameFrom)
		}
		if target == "" || a.dangerous(target) {
			a.ignored(f, name)
			return nil
		}
	}
	if !a.silent {
		verb := "patching"
		if a.dry {
			verb = "checking"
		}
		switch {
		case a.output != "":
			a.say("%s file %s (read from %s)\n", verb, a.output, name)
		case target != name && f.copies:
			a.say("%s file %s (copied from %s)\n", verb, target, name)
		case target != name:
			a.say("%s file %s (renamed from %s)\n", verb, target, name)
		default:
			a.say("%s file %s\n", verb, name)
		}
	}
	app := &application{a: a, in: strings.SplitAfter(string(content), "\n")}
	if n := len(app.in); app.in[n-1] == "" {
		app.in = app.in[:n-1]
	}
	failed, mismatch, skipped := app.hunks(f)
	if a.p.Stopped() {
		return a.p.Context().Err()
	}
	return a.finish(f, app, name, target, content, info, creates, removes, failed, mismatch, skipped)
}

// exists tells that a patch is left out because it would make a file that is
// there, and says so.
func (a *patcher) exists(f *filePatch, name string) bool {
	old, stamp, reversed := f.old, f.oldStamp, ""
	if a.reverse {
		old, stamp, reversed = f.new, f.newStamp, ", when reversed,"
	}
	if old != "/dev/null" && !epoch(stamp) || a.force {
		return false
	}
	a.say("The next patch%s would create the file %s,\nwhich already exists!  ", reversed, name)
	if a.fwd || a.batch {
		a.say("Skipping patch.\n")
	} else {
		a.say("Assume -R? [n] \nApply anyway? [n] \nSkipping patch.\n")
	}
	a.failed = true
	plural := "s"
	if len(f.hunks) == 1 {
		plural = ""
	}
	a.say("%d out of %d hunk%s ignored\n", len(f.hunks), len(f.hunks), plural)
	return true
}

// finish writes what came out of a patch.
func (a *patcher) finish(f *filePatch, app *application, name, target string, content []byte, info fs.FileInfo, creates, removes bool, failed []*hunk, mismatch, skipped bool) error {
	result := strings.Join(app.out, "")
	if len(failed) > 0 {
		a.failed = true
		plural := "s"
		if len(f.hunks) == 1 {
			plural = ""
		}
		word := "FAILED"
		if skipped {
			word = "ignored"
		}
		a.say("%d out of %d hunk%s %s", len(failed), len(f.hunks), plural, word)
		rejects := a.rejects
		if rejects == "" {
			rejects = target + ".rej"
			if a.output != "" {
				rejects = a.output + ".rej"
			}
		}
		if a.dry || rejects == "-" {
			a.say("\n")
		} else {
			a.say(" -- saving rejects to file %s\n", rejects)
			if err := a.write(rejects, []byte(a.rejected(f, failed)), 0o644); err != nil {
				return err
			}
		}
	}
	switch {
	case skipped || a.dry:
		return nil
	case a.output != "":
		a.outputs = append(a.outputs, result...)
		a.hasOutput = true
		return a.p.Hold(len(result))
	}
	if a.backup || mismatch && a.backupMismatch {
		if err := a.backUp(name, content, info); err != nil {
			return err
		}
	}
	if (removes || a.removeEmpty) && result == "" {
		if info == nil {
			return nil
		}
		return a.remove(name)
	}
	if removes && len(failed) == 0 {
		a.say("Not deleting file %s as content differs from patch\n", name)
		a.failed = true
	}
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = info.Mode().Perm()
	}
	gitMode := f.newMode
	if a.reverse {
		gitMode = f.oldMode
	}
	if m, err := strconv.ParseUint(gitMode, 8, 32); err == nil && f.git {
		mode = fs.FileMode(m) & 0o777
	}
	if info == nil && !creates && result == "" {
		return nil
	}
	if info != nil && target == name && result == string(content) && mode == info.Mode().Perm() {
		return nil
	}
	if err := a.write(target, []byte(result), mode); err != nil {
		return err
	}
	if target != name && !f.copies {
		return a.remove(name)
	}
	return nil
}

// ignored refuses all hunks.
func (a *patcher) ignored(f *filePatch, name string) {
	a.failed = true
	plural := "s"
	if len(f.hunks) == 1 {
		plural = ""
	}
	a.say("%d out of %d hunk%s ignored", len(f.hunks), len(f.hunks), plural)
	if a.dry {
		a.say("\n")
		return
	}
	a.say(" -- saving rejects to file %s.rej\n", name)
	if err := a.write(name+".rej", []byte(a.rejected(f, f.hunks)), 0o644); err != nil {
		a.p.FileError(name+".rej", err)
	}
}

// hunks applies all hunks and returns those that failed. mismatch tells that
// one did not fit exactly, skipped that the patch was left out.
func (app *application) hunks(f *filePatch) (failed []*hunk, mismatch, skipped bool) {
	a := app.a
	reverse := a.reverse
	anyway := false
	for i, h := range f.hunks {
		if a.p.Stopped() {
			return failed, mismatch, skipped
		}
		if reverse {
			h = h.reversed()
		}
		where, fuzz := -1, 0
		for most := min(a.fuzz, h.context()); where < 0 && fuzz <= most && !skipped; fuzz++ {
			where = app.locate(h, fuzz)
			if where >= 0 {
				break
			}
			mismatch = true
			if i > 0 || a.force || anyway || reverse != a.reverse {
				continue
			}
			back := h.reversed()
			if app.locate(back, fuzz) < 0 {
				continue
			}
			word := "Reversed (or previously applied)"
			if reverse {
				word = "Unreversed"
			}
			a.say("%s patch detected!  ", word)
			switch {
			case a.fwd:
				a.say("Skipping patch.\n")
				skipped = true
			case a.batch:
				if a.reverse {
					a.say("Ignoring -R.\n")
				} else {
					a.say("Assuming -R.\n")
				}
				reverse = !reverse
				h = back
				fuzz--
			default:
				what := "Assume -R"
				if reverse {
					what = "Ignore -R"
				}
				a.say("%s? [n] \nApply anyway? [n] \nSkipping patch.\n", what)
				skipped = true
			}
		}
		if fuzz > 0 {
			mismatch = true
		}
		if skipped || where < 0 {
			at := h.newStart + app.grown
			switch {
			case skipped && a.verbose:
				a.say("Hunk #%d ignored at %d.\n", i+1, at)
			case !skipped && !a.silent:
				a.say("Hunk #%d FAILED at %d.\n", i+1, at)
			}
			failed = append(failed, h)
			continue
		}
		if app.offset != 0 {
			mismatch = true
		}
		app.apply(h, where)
		if a.verbose || !a.silent && (fuzz > 0 || app.offset != 0) {
			a.say("Hunk #%d succeeded at %d", i+1, h.newStart+app.offset+app.grown-(h.newCount-h.oldCount)-(h.newStart-h.oldStart)+h.shift())
			if fuzz > 0 {
				a.say(" with fuzz %d", fuzz)
			}
			switch app.offset {
			case 0:
			case 1, -1:
				a.say(" (offset %d line)", app.offset)
			default:
				a.say(" (offset %d lines)", app.offset)
			}
			a.say(".\n")
		}
	}
	app.out = append(app.out, app.in[app.frozen:]...)
	return failed, mismatch, skipped
}
