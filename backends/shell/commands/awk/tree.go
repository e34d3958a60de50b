package awk

import "github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"

// program is a parsed program.
type program struct {
	begin, end, beginFile, endFile []*block
	rules                          []*rule
	functions                      []*function
	globals                        map[string]int
}

type rule struct {
	pattern, until expr // nil where there is none
	body           *block
	prints         bool // there is no body
	active         bool // within pattern, until
}

type function struct {
	name   string
	params []string
	body   *block
	line   int
}

type (
	expr interface{}
	stmt interface{}
)

type block struct{ list []stmt }

// Expressions.
type (
	numberLit struct{ v value }
	stringLit struct{ v value }
	regexpLit struct {
		source string
		re     *posixre.Regexp
		fold   bool
	}
	variable struct {
		name  string
		index int
		local bool
	}
	fieldRef  struct{ index expr }
	indexExpr struct {
		base expr // a variable or another indexExpr
		keys []expr
	}
	assignExpr struct {
		left expr
		op   byte // 0, or one of + - * / % ^
		val  expr
		line int
	}
	condExpr  struct{ cond, yes, no expr }
	logicExpr struct {
		left, right expr
		or          bool
	}
	binaryExpr struct {
		op          byte // + - * / % ^
		left, right expr
		line        int
	}
	concatExpr  struct{ parts []expr }
	compareExpr struct {
		op          string
		left, right expr
	}
	matchExpr struct {
		left, re expr
		negate   bool
	}
	inExpr struct {
		keys []expr
		arr  expr
	}
	unaryExpr struct {
		op byte
		x  expr
	}
	stepExpr struct {
		x      expr
		delta  float64
		before bool
	}
	group    struct{ list []expr }
	callExpr struct {
		name string
		fn   *function
		args []expr
		line int
	}
	builtinExpr struct {
		name string
		args []expr
		line int
	}
	getlineExpr struct {
		source expr // nil: the input
		mode   byte // 0, '<' or '|'
		target expr // nil: $0
		line   int
	}
)

// Statements.
type (
	exprStmt  struct{ x expr }
	printStmt struct {
		args   []expr
		format bool   // printf
		redir  string // "", ">", ">>", "|"
		to     expr
		line   int
	}
	ifStmt struct {
		cond    expr
		yes, no *block
	}
	whileStmt struct {
		cond expr
		body *block
		do   bool
	}
	forStmt struct {
		init, post stmt
		cond       expr
		body       *block
	}
	forInStmt struct {
		v    expr
		arr  expr
		body *block
		line int
	}
	switchStmt struct {
		x     expr
		cases []switchCase
	}
	flowStmt struct {
		flow flow
		x    expr // of exit and return
	}
	deleteStmt struct {
		arr  expr
		keys []expr // nil: all of it
	}
)

type switchCase struct {
	match expr // nil: default
	body  []stmt
}

// flow is where a statement leads.
type flow uint8

const (
	goOn flow = iota
	flowBreak
	flowContinue
	flowNext
	flowNextFile
	flowExit
	flowReturn
)
