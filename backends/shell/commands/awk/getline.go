package awk

// getline reads a record: 1, 0 at the end, -1 where it cannot be read.
func (in *interp) getline(x *getlineExpr) float64 {
	in.tick()
	in.line = x.line
	if x.mode == 0 {
		record, ok := in.readMain()
		if !ok {
			return 0
		}
		in.got(x.target, record)
		return 1
	}
	name := in.eval(x.source).str(in.convfmt)
	s, err := in.source(x.mode, name)
	if err != nil {
		in.store(&in.globals[vERRNO].v, str(in.cfg.Reason(err)))
		return -1
	}
	var record, rt string
	var ok bool
	if err := in.protect(func() { record, rt, ok = in.readRecord(s) }); err != nil {
		if in.cfg.Host.Context().Err() != nil || s.code == tooMuch {
			panic(fault{err})
		}
		in.store(&in.globals[vERRNO].v, str(in.cfg.Reason(err)))
		return -1
	}
	if !ok {
		return 0
	}
	in.store(&in.globals[vRT].v, str(rt))
	if x.mode == '|' {
		in.nr++
	}
	in.got(x.target, record)
	return 1
}

func (in *interp) got(target expr, record string) {
	if target == nil {
		in.setRecord(record)
		return
	}
	in.set(target, fromInput(record, false))
}
