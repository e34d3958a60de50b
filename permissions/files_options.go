package permissions

import "strings"

// optionFiles are options of one program, and how they are written.
type optionFiles struct {
	letters string   // -o, also in a cluster such as -sSLo
	words   []string // others, as they are written: --output, -out, of=
	stops   string   // letters that end a cluster because they take a value
}

// at reads the option that args[i] may be, and returns its value and how many
// words it takes: 0 when it is none of o. The value follows in the same word
// or is the next. Long options may be abbreviated.
func (o optionFiles) at(args []field, i int) (v value, n int) {
	a := args[i].value
	if len(a) == 0 || a[0].kind != lit {
		return nil, 0
	}
	next := func() (value, int) {
		if i+1 < len(args) {
			return args[i+1].value, 2
		}
		return nil, 1
	}
	head := a[0].text
	name, _, attached := strings.Cut(head, "=")
	for _, word := range o.words {
		same := name == word || strings.HasPrefix(word, "--") && len(name) > 2 && strings.HasPrefix(word, name) && !fullOptions[name]
		switch {
		case strings.HasSuffix(word, "="):
			if strings.HasPrefix(head, word) {
				return a.trimPrefix(len(word)), 1
			}
		case same && attached:
			return a.trimPrefix(len(name) + 1), 1
		case same && len(a) == 1:
			return next()
		}
	}
	for _, word := range o.words {
		if len(word) == 2 && strings.HasPrefix(head, word) {
			return a.trimPrefix(2), 1
		}
	}
	if !strings.HasPrefix(head, "-") || strings.HasPrefix(head, "--") {
		return nil, 0
	}
	for at := 1; at < len(head); at++ {
		switch {
		case strings.IndexByte(o.letters, head[at]) >= 0:
			if rest := a.trimPrefix(at + 1); len(rest) > 0 {
				return rest, 1
			}
			return next()
		case strings.IndexByte(o.stops, head[at]) >= 0:
			return nil, 0
		}
	}
	return nil, 0
}

// fullOptions are long options that are no abbreviations of longer ones here.
var fullOptions = map[string]bool{"--install": true, "--output": true, "--partial": true, "--pre": true, "--target": true}

func (o optionFiles) none() bool { return o.letters == "" && o.words == nil }

// given tells whether one of the options is among args.
func (o optionFiles) given(args []field) bool {
	for i := range args {
		if s, _ := args[i].value.known(); s == "--" {
			break
		}
		if _, n := o.at(args, i); n > 0 {
			return true
		}
	}
	return false
}

// each calls f with the value of every one of the options among args.
func (o optionFiles) each(args []field, f func(value)) {
	for i := range args {
		if v, n := o.at(args, i); n > 0 && len(v) > 0 {
			f(v)
		}
	}
}

// last is the value of the last of the options among args.
func (o optionFiles) last(args []field) (out value) {
	o.each(args, func(v value) { out = v })
	return out
}

// writtenByOption are the options whose value is a file that is written or a
// directory that is written to.
var writtenByOption = byName(map[string]optionFiles{
	"cp mv ln install": targetOption,

	// Transfers.
	"curl": {
		letters: "oDc", stops: "AbCdeEFhHKmPQrtTuUwxXyYz",
		words: []string{"--output", "--output-dir", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--etag-save", "--libcurl", "--hsts", "--alt-svc"},
	},
	"wget": {
		letters: "OPoa", stops: "ABDeIilQRtTUwX",
		words: []string{"--output-document", "--directory-prefix", "--output-file", "--append-output", "--save-cookies", "--warc-file", "--rejected-log", "--hsts-file"},
	},
	"aria2c":     {letters: "dol", words: []string{"--dir", "--out", "--log", "--save-session"}},
	"http https": {letters: "o", words: []string{"--output"}},
	"yt-dlp":     {letters: "oP", words: []string{"--output", "--paths"}},
	"rsync":      {letters: "T", words: []string{"--log-file", "--backup-dir", "--partial-dir", "--temp-dir", "--write-batch", "--only-write-batch"}, stops: "BefM"},

	// Text.
	"sort":    {letters: "o", words: []string{"--output"}, stops: "kStT"},
	"shuf":    {letters: "o", words: []string{"--output"}, stops: "in"},
	"csplit":  {letters: "f", words: []string{"--prefix"}, stops: "bn"},
	"iconv":   {letters: "o", words: []string{"--output"}, stops: "ft"},
	"tree":    {letters: "o", stops: "ILP"},
	"patch":   {letters: "odr", words: []string{"--output", "--directory", "--reject-file"}, stops: "BDFgipVYz"},
	"pandoc":  {letters: "o", words: []string{"--output"}, stops: "fFHMrtVw"},
	"ctags":   {letters: "fo"},
	"less":    {letters: "oO", words: []string{"--log-file", "--LOG-FILE"}, stops: "bhjkpPtTxyz"},
	"mktemp":  {letters: "p", words: []string{"--tmpdir"}},
	"vi vim":  {letters: "wW", stops: "cisTuU"},
	"script":  {letters: "BIOT", words: []string{"--log-io", "--log-in", "--log-out", "--log-timing", "--timing"}, stops: "ceEmo"},
	"openssl": {words: []string{"-out", "-keyout", "-CAout", "-writerand", "-sess_out"}},
	"gpg gpg2": {
		letters: "o", words: []string{"--output"}, stops: "NruU",
	},

	// Archives; tar has a function of its own.
	"unzip":         {letters: "d", stops: "P"},
	"7z 7za 7zr":    {words: []string{"-o"}},
	"unsquashfs":    {words: []string{"-d", "-dest"}},
	"cpio":          {letters: "OD", words: []string{"--directory"}, stops: "CEFHMR"},
	"zstd lz4":      {words: []string{"-o"}},
	"dpkg dpkg-deb": {words: []string{"--root", "--instdir", "--admindir"}},

	// Compilers and builds.
	"gcc cc g++ c++ clang clang++ gfortran ld as nasm yasm dot": {words: []string{"-o", "-MF", "-MJ", "-Map", "--output"}},

	"bison flex": {letters: "o", words: []string{"--output", "--outfile"}},
	"protoc":     {words: []string{"--cpp_out", "--go_out", "--go-grpc_out", "--java_out", "--js_out", "--php_out", "--python_out", "--ruby_out", "--descriptor_set_out"}},
	"rustc":      {words: []string{"-o", "--out-dir"}},
	"javac":      {words: []string{"-d", "-h", "-s"}},
	"go": {words: []string{
		"-o", "-coverprofile", "-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile", "-trace", "-outputdir", "-pkgdir",
	}},
	"cargo":         {words: []string{"--target-dir", "--out-dir", "--artifact-dir", "--root"}},
	"cmake":         {words: []string{"-B", "--install-prefix", "--prefix"}},
	"pip pip3":      {letters: "tdw", words: []string{"--target", "--dest", "--wheel-dir", "--prefix", "--root", "--log", "--report", "--src", "--cache-dir"}, stops: "cefir"},
	"npm pnpm":      {words: []string{"--prefix", "--pack-destination"}},
	"conda mamba":   {letters: "p", words: []string{"--prefix"}, stops: "cn"},
	"docker podman": {words: []string{"-o", "--output", "--cidfile", "--iidfile", "--metadata-file"}},
	"kubectl helm":  {words: []string{"--output-directory", "--output-dir", "--destination"}},
	"gh":            {words: []string{"-O", "-D", "--output", "--dir"}},

	// Others.
	"dd":                    {words: []string{"of="}},
	"tcpdump tshark":        {letters: "w", stops: "bcCEfFGijmrsTVyYzZ"},
	"pg_dump pg_dumpall":    {letters: "f", words: []string{"--file"}, stops: "EhjlnNpStTUZ"},
	"psql":                  {letters: "oL", words: []string{"--output", "--log-file"}, stops: "cdfFhpPRTUv"},
	"mysqldump mysql":       {letters: "r", words: []string{"--result-file", "--tee"}, stops: "DeFhpPSTuw"},
	"gs":                    {words: []string{"-sOutputFile="}},
	"mkisofs genisoimage":   {words: []string{"-o", "-output", "-log-file"}},
	"eslint":                {letters: "o", words: []string{"--output-file"}, stops: "cf"},
	"tsc":                   {words: []string{"--outDir", "--outFile", "--declarationDir"}},
	"esbuild rollup":        {words: []string{"-o", "-d", "--outfile", "--outdir", "--file", "--dir"}},
	"pytest":                {words: []string{"--junitxml", "--junit-xml", "--log-file", "--basetemp", "--result-log"}},
	"sphinx-build mkdocs":   {words: []string{"-d", "-w", "--site-dir"}},
	"coverage gcov":         {words: []string{"-o", "-d", "--data-file", "--directory"}},
	"terraform tofu packer": {words: []string{"-out", "-state", "-state-out", "-backup"}},
})

// outputOption is -o FILE of programs that run others.
var outputOption = optionFiles{letters: "o", words: []string{"--output"}}

// targetOption names the target of cp and its kin, which otherwise is the last
// operand.
var targetOption = optionFiles{letters: "t", words: []string{"--target-directory"}, stops: "gmoS"}

// writtenByHabit are the options that mean an output file with nearly every
// program.
var writtenByHabit = optionFiles{words: []string{"--output", "--output-file", "--outfile", "--out-file", "--output-dir", "--outdir", "--out-dir", "--log-file"}}

// readByOption are the options whose value is a file that is read although it
// does not look like one, or where other words are not files.
var readByOption = byName(map[string]optionFiles{
	"curl":   {letters: "TK", words: []string{"--upload-file", "--config", "--netrc-file"}, stops: "AbcCdDeEFhHmoPQrtuUwxXyYz"},
	"wget":   {letters: "i", words: []string{"--input-file", "--post-file", "--body-file", "--config", "--load-cookies"}, stops: "aABDeIlOoPQRtTUwX"},
	"logger": {letters: "f", words: []string{"--file"}, stops: "inpPStu"},
})

// fileOptions checks the files that options name, and tells which of args
// are values of those.
func (w *walker) fileOptions(name string, args []field) (taken []bool) {
	taken = make([]bool, len(args))
	written, known := writtenByOption[name]
	_, wellKnown := filePrograms[name]
	read := readByOption[name]
	for i := 1; i < len(args); i++ {
		if s, _ := args[i].value.known(); s == "--" {
			break
		}
		v, n := written.at(args, i)
		switch {
		case n > 0:
			w.writeWord(v)
		case known || wellKnown:
		default:
			if v, n = writtenByHabit.at(args, i); n > 0 && looksLikePath(v) {
				w.writeWord(v)
			} else {
				n = 0 // its value may be anything
			}
		}
		if n == 0 {
			if v, n = read.at(args, i); n > 0 {
				w.denyPath(Read, v, true)
			}
		}
		if n == 2 {
			i++
			taken[i] = true
		}
	}
	return taken
}
