package permissions

import "strings"

// writtenByOption are the options whose value is a file that is written or a
// directory that is written to.
var writtenByOption = byName(map[string]optionNames{
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
var outputOption = optionNames{letters: "o", words: []string{"--output"}}

// targetOption names the target of cp and its kin, which otherwise is the last
// operand.
var targetOption = optionNames{letters: "t", words: []string{"--target-directory"}, stops: "gmoS"}

// writtenByHabit are the options that mean an output file with nearly every
// program.
var writtenByHabit = optionNames{words: []string{"--output", "--output-file", "--outfile", "--out-file", "--output-dir", "--outdir", "--out-dir", "--log-file"}}

// readByOption are the options whose value is a file that is read although it
// does not look like one, or where other words are not files.
var readByOption = byName(map[string]optionNames{
	"curl":   {letters: "TKb", words: []string{"--upload-file", "--config", "--netrc-file", "--cookie"}, stops: "AcCdDeEFhHmoPQrtuUwxXyYz"},
	"wget":   {letters: "i", words: []string{"--input-file", "--post-file", "--body-file", "--config", "--load-cookies"}, stops: "aABDeIlOoPQRtTUwX"},
	"logger": {letters: "f", words: []string{"--file"}, stops: "inpPStu"},
})

// readAfterAt are options whose value is a file when it starts with "@".
var readAfterAt = map[string]optionNames{
	"curl": {letters: "H", words: []string{"--header", "--proxy-header"}, stops: "AbcCdDeEFhKmoPQrtTuUwxXyYz"},
}

// fileOptions checks the files that options name, and tells which of args
// are values of those.
func (w *walker) fileOptions(name string, args []field) (taken []bool) {
	taken = make([]bool, len(args))
	written, known := writtenByOption[name]
	_, wellKnown := filePrograms[name]
	read := readByOption[name]
	readAfterAt[name].each(args, func(v value) {
		if v.hasPrefix("@") {
			w.denyPath(Read, v.trimPrefix(1), false)
		}
	})
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
			if v, n = read.at(args, i); n > 0 && (name != "curl" || !strings.Contains(v.String(), "=")) { // else a cookie
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
