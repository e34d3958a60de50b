#--- less and more
printf 'a\n\n\nb\n' > a; echo bb > b; less a b; less -N a; less -s +G a; cat a | less -R; echo x | less; less -FRX a | wc -l; more a b; more a; more -s a; more +3 a; more -5 b; more nope b; echo $?; echo y | more; mkdir d; more d; less d; printf 'no newline' | less | od -c
#--- stdbuf, setsid and nohup
stdbuf; echo $?; stdbuf echo hi; echo $?; stdbuf -oL echo hi; stdbuf -o0 -eL -i0 printf x; stdbuf -oX echo; echo $?; stdbuf -iL cat; echo $?; stdbuf --output=4K printf 'a\n'; stdbuf -oL nope; echo $?; setsid; echo $?; setsid echo hi; setsid -w sh -c 'exit 3'; echo $?; setsid -z; echo $?; nohup; echo $?; nohup echo hi 2>/dev/null
#--- flock
flock; echo $?; flock l echo hi; ls; flock -n l -c "exit 3"; echo $?; exec 9>l; flock -n 9; echo $?; flock -n l echo x; echo $?; flock -u 9; flock -n l echo y; flock -x 77; echo $?; flock -n nodir/l true; echo $?; flock -w x l true; echo $?; flock l; echo $?
#--- flock waits and shares
flock -w 0.1 l sh -c "flock -w 0.1 l echo in; echo \$?"; flock -s l flock -s -n l echo both; flock -s l flock -n l echo no; echo $?; flock -n l flock -n -E 7 l true; echo $?; ( flock 8; echo a ) 8>l2; mkdir d; flock d echo hi; ( flock 7; sleep 0.3; echo first ) 7>l & sleep 0.1; flock l echo second; wait
#--- flock guards a counter
echo 0 > n; add() { for i in 1 2 3 4 5; do ( flock 9; read -r v < n; echo $((v+1)) > n ) 9>lock; done; }; for j in 1 2 3 4; do add & done; wait; cat n
#--- envsubst
export A=1 B="x y"; unset C; echo 'a $A ${B} $C ${D:-x} $$ \$A $1 ${A $A_ ${}x $ ${A}${B}' | envsubst; echo '$A $B' | envsubst '$A'; echo '$A ${B}' | envsubst '$A,${B}'; echo '$A' | envsubst a b; echo $?; envsubst -v 'a $A ${B} $A $C'; printf '$A' | envsubst | od -c; envsubst "A B" <<< '$A $B'; envsubst -v; echo $?; envsubst -z; echo $?; echo 'host: ${HOST}' > t; HOST=h envsubst < t > o; cat o
#--- getopt
getopt ab:c -a -b x y -c z; getopt -o ab:c:: -l long,arg:,opt:: -n me -- -a --long --arg v --opt=w --opt -c -cX "p q" -b "it's" r; for a in -x "-a" --nope; do getopt -o b -l c -- $a 2>/dev/null; echo $?; done; getopt -o a: -n me -- -a; echo $?; getopt -o a -l long -- --lo --nope; echo $?; getopt -T; echo $?; getopt -q -o a -- -x; echo $?; getopt -o +a -- x -a; getopt -o -a -- x -a y; getopt -u -o a -- -a "x y"; getopt -s csh -o a -- 'x$y' 'a!b' 'c d'; getopt; echo $?
#--- getopt's long options
getopt -a -o a -l long -- -long; getopt -o a -l foo,foobar,fob: -- --foo --fooba --fo; echo $?; getopt -Q -o a -- -a; getopt -o "" -l "a,b" -- --a x; getopt -l "x:" -- a b; getopt -o a -- 'a\b' 'x!y' ''; POSIXLY_CORRECT=1 getopt -o a -- x -a; getopt -o a -l long -- --long=x; echo $?; getopt -o a -l arg: -- --arg; echo $?; getopt -x; echo $?; getopt -o a -l lo:,lop -- --lo; echo $?; getopt -o ab -- -ab -- -c
#--- getopt in a script
run() { local o v= f=; o=$(getopt -o vf: --long verbose,file: -n run -- "$@") || return 2; eval set -- "$o"; while :; do case "$1" in -v|--verbose) v=1; shift;; -f|--file) f=$2; shift 2;; --) shift; break;; esac; done; echo "v=$v f=$f $#:$*"; }; run -v a --file='x y' b; run -f; echo $?; run -- -v
#--- install
echo a > a; echo b > b; chmod 600 a; install a x; stat -c %a x; install -m 644 a b d; echo $?; mkdir d; install -m 640 a b d; stat -c "%n %a" d/*; install -d p/q/r -m 700; stat -c "%n %a" p p/q p/q/r; install -D a n1/n2/f; ls -R n1; install -v a y; install -v a y; install -dv z1/z2 z1; install -Dv a w1/w2/f; install -t d -m u=rw,go= a; stat -c "%n %a" d/a; install -D -t e1/e2 a b; ls e1/e2
#--- install over what is there
echo a > a; echo b > b; mkdir d; install a y; install -b b y; ls y*; install -S .bak a y; ls y*; touch -d 2020-01-01 a; install -p a tt; stat -c %Y tt; install; echo $?; install a; echo $?; install d x; echo $?; install nope x; echo $?; install -m 9 a x; echo $?; install a b nope; echo $?; install a x; touch -d 2021-01-01 x; install -C a x; stat -c %Y x; install -C b x; cat x; install -T a d; echo $?; install -o root -g root a x; echo $?; install a nodir/x; echo $?; install a a; echo $?; install -d a; echo $?; ln -s b l; install a l; [ -L l ]; echo $?; cat b; install -D nope k1/k; echo $?; ls k1; install a b -t d; ls d; rm -r y* tt x l
#--- fmt
printf 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen\nseventeen\n\n\n  indented text that goes on for quite a while and then some more of it, until it is over.\n  More.\nLess\n' > f; fmt f; fmt -w 30 f; fmt -20 f; fmt -s -w 40 f; fmt -u -w 50 f; fmt -c -w 40 f; fmt -t -w 40 f; fmt -g 20 -w 40 f; fmt -g 30 f; fmt -w x f; echo $?; fmt -w 9999 f; echo $?; fmt nope; echo $?; fmt < /dev/null; printf 'a b' | fmt | od -c
#--- fmt and sentences
printf 'This is a sentence. This is another.  And a third one! Is it? (Yes, it is.) "Quoted." Mr. Smith went\nto Washington, D.C. and e.g. did something; then: nothing. A\nb c d e f g. Hh\n' > f; for w in 20 25 30 40 55 75; do fmt -w $w f; echo --; done; fmt -u f; fmt -s f
#--- fmt and prefixes
printf '# a comment that is long enough to be wrapped somewhere in the middle\n# and goes on\ncode here\n#   other indent\n  # inner one two three four five six seven\n#\n# last\n' > f; fmt -p '#' -w 30 f; fmt -p '# ' -w 40 f; fmt -p '  #' -w 30 f; fmt -w 30 f; printf '\ttabbed text here that is long enough to be wrapped\n\tmore of it\n   \n  \t x\n' > g; fmt -w 30 g; fmt g | cat -A
#--- fmt of long paragraphs
seq -s ' ' 900 | fmt | md5sum; seq 500 | fmt -w 40 | md5sum; yes 'lorem ipsum dolor sit amet, consectetur adipiscing elit. ' | head -40 | fmt -w 63; printf 'averyveryverylongwordthatdoesnotfitanywhere short averyveryverylongwordthatdoesnotfitanywhere\n' | fmt -w 20; printf 'x\fy z\v\n' | fmt | od -c
#--- less of a file that is not there
less nope; echo $?
#--- differs: less says so on standard output and exits 0, which nobody who pipes it on can see
#--- printf counts bytes
printf '%-6s|%6s|%.2s|%c|\n' é é éab é | od -c; env printf '%-4s|%.1s|\n' é日 日 | od -c
