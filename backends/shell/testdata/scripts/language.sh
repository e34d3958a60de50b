#--- hello
echo hello world
#--- exit code
exit 7
#--- exit code wraps
exit 300
#--- variables
x=5; y=$x; echo "$y ${x}y"; unset x; echo "[${x}]"
#--- quoting
x='a  b'; echo $x; echo "$x"; echo '$x'; echo "\$x \"q\" \\ \a"; echo a\ \ b
#--- ansi c quoting
printf '%s|' $'a\tb\n' $'\x41\u00e9\101' $'it\'s'; echo
#--- default values
unset u; e=; echo "${u-d} ${u:-d} ${e-d} ${e:-d} ${u+s} ${e+s} ${e:+s}|"; echo ${u:=new} $u
#--- default word splitting
printf '<%s>' ${u:-a b "c d"}; echo
#--- default in quotes
printf '<%s>' "${u:-a b  c}" "${u:-"q r"}"; echo
#--- error if unset
echo ${u:?not here}; echo not reached
#--- error if unset, default text
echo ${u?}; echo not reached
#--- nounset
set -u; echo "${x:-ok}"; echo $nope; echo not reached
#--- length
x=héllo; echo ${#x} ${#HOME_NOT}; set -- a b c; echo $# ${#@} ${#*}; a=(x yy zzz); echo ${#a[@]} ${#a[2]} ${#a}
#--- substring
x=abcdefgh; echo ${x:2} ${x:2:3} ${x: -3} ${x: -3:2} ${x:0:-2} "${x:8}" "[${x:9}]"
#--- substring of parameters
set -- a b c d; echo "${@:2}" "${@:2:2}" "${@: -1}" "${*:1:2}"
#--- substring of arrays
a=(0 1 2 3 4); echo "${a[@]:1:2}" "${a[@]: -2}" "${a[*]:3}"
#--- remove prefix and suffix
f=/a/b/c.tar.gz; echo ${f#*/} ${f##*/} ${f%.*} ${f%%.*} ${f%/*} ${f##/a}
#--- remove with quoted pattern
x='*a*b'; p='*'; echo "${x#"$p"}" "${x#$p}" "${x##*b}"
#--- replace
x=banana; echo ${x/a/o} ${x//a/o} ${x/#b/c} ${x/%a/e} ${x//an/} ${x/x/y} ${x//[an]/_}
#--- replace with longest
x=aaabbb; echo ${x/a*b/X} ${x//a*/Y}
#--- replace in arrays
a=(one two three); echo "${a[@]/o/0}" "${a[@]#t}" "${a[@]%e}"
#--- case conversion
x='hello World'; echo "${x^}" "${x^^}" "${x,}" "${x,,}" "${x^^[lo]}"
#--- indirect
v=target; target=found; echo ${!v}; a=(x y); r='a[1]'; echo ${!r}; pre1=1 pre2=2; echo ${!pre*} "${!pre@}"
#--- transformations
x="it's"; echo ${x@Q}; y='a b'; echo ${y@U} ${y@u}; declare -i n=3; echo ${n@a}
#--- arithmetic
echo $((1+2*3)) $((7/2)) $((-7/2)) $((7%3)) $((-7%3)) $((2**10)) $(((1+2)*3)) $((1<<4)) $((255>>2)) $((5&3)) $((5|3)) $((5^3)) $((~5)) $((!5)) $((!0))
#--- arithmetic comparison
echo $((3>2)) $((3<2)) $((3>=3)) $((3==4)) $((3!=4)) $((1&&0)) $((1||0)) $((1?2:3)) $((0?2:3)) $((1,2))
#--- arithmetic assignment
x=5; echo $((x+=3)) $((x*=2)) $((x++)) $((++x)) $((x--)) $x $((y=x+1)) $y; ((x=3)); echo $x
#--- arithmetic bases
echo $((0x1f)) $((010)) $((2#1011)) $((16#ff)) $((36#zz))
#--- arithmetic variables without dollar
a=3 b=4; c="a*b"; echo $((a*a+b*b)) $((c)); echo $((undefined+1))
#--- arithmetic in arrays
a=(10 20 30); i=1; echo $((a[i]+a[2])) ${a[i+1]} ${a[-1]}; ((a[0]++)); echo ${a[0]}
#--- division by zero
echo $((1/0)); echo "after $?"
#--- arithmetic command
((3>2)) && echo yes; ((0)) || echo no; let x=5+3 y=x*2; echo $x $y
#--- integer overflow
echo $((9223372036854775807+1)) $((1<<63))
#--- for
for i in a b c; do echo $i; done; for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done
#--- for over parameters
set -- x y; for a; do echo $a; done; for a in "$@"; do echo "$a"; done
#--- c style for
for ((i=0;i<3;i++)); do echo $i; done; for ((;;)); do break; done; echo $i
#--- while and until
i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; until [ $i -eq 0 ]; do i=$((i-1)); done; echo $i
#--- nested break and continue
for i in 1 2 3; do for j in 1 2 3; do [ $j = 2 ] && continue 2; [ $i = 3 ] && break 2; echo $i$j; done; done
#--- if
if true; then echo a; fi; if false; then echo b; elif true; then echo c; else echo d; fi; if ! true; then echo e; else echo f; fi
#--- if status
if false; then :; fi; echo $?; while false; do :; done; echo $?
#--- case
for x in apple banana 1 abc ''; do case $x in a*) echo "$x a";; b?n*|c) echo "$x b";; [0-9]) echo "$x digit";; '') echo empty;; *) echo other;; esac; done
#--- case fallthrough
case a in a) echo 1;;& b) echo 2;; a) echo 3;& c) echo 4;; d) echo 5;; esac
#--- case with quoted pattern
x='*'; case 'abc' in "$x") echo literal;; $x) echo pattern;; esac
#--- functions
f() { echo "f $# $1"; return 3; }; f a b; echo $?; g() { local x=in; echo $x; }; x=out; g; echo $x
#--- function keyword
function f { echo f; }; function g() { echo g; }; f; g
#--- recursion
fact() { if [ $1 -le 1 ]; then echo 1; else echo $(($1 * $(fact $(($1-1))))); fi; }; fact 10
#--- local scopes
f() { local a=1; g; echo f$a; }; g() { a=2; echo g$a; }; a=0; f; echo $a
#--- function redirection
f() { echo out; echo err >&2; } 2>/dev/null; f
#--- shift and parameters
set -- a b c d; shift; echo $1 $#; shift 2; echo $1 $#; shift 5; echo $? $#
#--- at and star
set -- 'a b' c; printf '<%s>' "$@"; echo; printf '<%s>' "$*"; echo; printf '<%s>' $@; echo; IFS=-; echo "$*"
#--- at with text around
set -- 1 2 3; printf '<%s>' "x$@y"; echo; set --; printf '<%s>' "x$@y" "$@"; echo
#--- ifs splitting
IFS=,; x='a,b,,c,'; set -- $x; echo $#; printf '<%s>' $x; echo; IFS=' ,'; x=' a , b ,c '; printf '<%s>' $x; echo
#--- ifs empty
IFS=; x='a b'; printf '<%s>' $x; echo
#--- command substitution
x=$(echo a; echo b); echo "$x"; echo $x; echo `echo old $(echo new)`; echo "$(printf 'trail\n\n\n')|"
#--- command substitution status
x=$(false); echo $?; x=$(exit 3) y=$(exit 4); echo $?; echo $(exit 5) $?
#--- read file by substitution
echo content >f; echo "$(<f)"
#--- pipes
echo 'b
a' | sort | head -1; echo x | cat | cat; true | false; echo $?; false | true; echo $? ${PIPESTATUS[@]}
#--- pipefail
set -o pipefail; false | true; echo $?; exit 3 | exit 4 | true; echo $?
#--- pipe to while
printf 'a\nb\n' | while read x; do echo "[$x]"; n=1; done; echo "${n-unset}"
#--- negation
! true; echo $?; ! false; echo $?; ! { exit 3; } ; echo not reached
#--- and or
true && echo a || echo b; false && echo a || echo b; true || echo c; false || false || echo d
#--- groups and subshells
{ echo a; x=1; }; (x=2; echo $x; exit 3); echo $? $x
#--- redirections
echo a >f; echo b >>f; cat <f; cat f >g; { echo o; echo e >&2; } >h 2>&1; cat h; wc -l <h
#--- redirect order
{ echo o; echo e >&2; } 2>&1 >f | cat; cat f
#--- redirect both
{ echo o; echo e >&2; } &>f; cat f; { echo p >&2; } &>>f; cat f
#--- numbered descriptors
exec 3>f; echo three >&3; exec 3>&-; cat f; exec 4<f; read -u 4 x; echo $x; exec 4<&-
#--- descriptor by variable
exec {fd}>f; echo hi >&$fd; exec {fd}>&-; cat f
#--- read and write descriptor
echo abc >f; exec 5<>f; read -u 5 x; echo more >&5; exec 5>&-; cat f
#--- redirect failure
cat <nothere; echo $?; echo x >/nodir/f; echo $?
#--- noclobber
set -C; echo a >f; echo b >f; echo $?; cat f; echo c >|f; cat f
#--- here document
x=5; cat <<E
x is $x $((x+1)) $(echo sub) \$x
E
cat <<'E'
x is $x
E
cat <<-E
	tabs $x
	E
#--- here string
cat <<<"a $((1+1)) b"; read a b <<<"1 2 3"; echo $b
#--- here document in a loop
while read l; do echo "<$l>"; done <<E
a
b c
E
#--- two here documents
cat <<A - <<B
a
A
b
B
#--- arrays
a=(1 2 3); a+=(4); a[6]=7; echo ${a[@]} ${#a[@]} ${!a[@]}; unset 'a[1]'; echo ${a[@]} ${!a[@]}; echo "${a[0]}" $a
#--- array with indexes
a=([2]=x [5]=y z); echo ${!a[@]} ${a[@]}; a=(); echo ${#a[@]}
#--- array copy
a=('x y' z); b=("${a[@]}"); printf '<%s>' "${b[@]}"; echo; c=(${a[@]}); echo ${#c[@]}
#--- array of globs
touch 1.txt 2.txt; a=(*.txt); echo ${#a[@]} ${a[1]}
#--- associative arrays
declare -A m; m[a]=1; m["b c"]=2; m+=([d]=3); echo ${m[a]} "${m["b c"]}" ${m[d]} ${#m[@]}; for k in "${!m[@]}"; do echo $k; done | sort; unset 'm[a]'; echo ${#m[@]}
#--- associative key with a space
declare -A m; m[b c]=2; m["d e"]=3; echo "${m[b c]}" ${m["d e"]}
#--- associative literal
declare -A m=([x]=1 [y]=2); echo ${m[x]}${m[y]}; k=x; echo ${m[$k]}; [[ -v m[x] ]] && echo set; [[ -v m[q] ]] || echo unset
#--- declare print
x=1; declare -p x; a=(1 'b c'); declare -p a; declare -i n=2+3; declare -p n; declare -r c=5; declare -p c; export e=1; declare -p e
#--- readonly
readonly r=1; r=2; echo not reached
#--- export
export A=1; B=2; env | grep -c '^[AB]='; C=3 env | grep '^C='; echo "[$C]"
#--- export to scripts
export X=1; Y=2; bash -c 'echo "$X$Y"'; sh -c 'echo $0 $1' name arg
#--- nameref
f() { declare -n r=$1; r=changed; }; v=1; f v; echo $v
#--- upper and lower
declare -u U=abc; declare -l L=ABC; echo $U $L
#--- brace expansion
echo {a,b,c} x{1,2}y {1..5} {5..1} {a..e} {01..03} {1..10..3} {a,b}{1,2} {a} a{,b} {}
#--- brace and variables
x=3; echo {1..$x} {$x,y} "{a,b}" \{a,b\}
#--- globbing
mkdir d; touch a.txt b.txt .hid d/c.txt; echo *; echo *.txt; echo ?.txt; echo [ab].txt [!a].txt; echo */*; echo *.none; echo .h*; echo "*"; echo d/*.t?t
#--- globstar and nullglob
mkdir -p a/b/c; touch a/x.go a/b/y.go a/b/c/z.go; shopt -s globstar nullglob; echo **/*.go; echo a/**; echo *.none
#--- extglob
shopt -s extglob
touch a.c b.c a.h x
echo !(*.c); echo @(a|b).c; echo +([a-z]).h; echo ?(a).c; x=foo123; echo ${x%%+([0-9])}
#--- dotglob
touch .a b; shopt -s dotglob; echo *
#--- noglob
touch a; set -f; echo *; set +f; echo *
#--- tilde
HOME=/h; echo ~ ~/x "~" a~ x=~; x=~/y; echo $x; P=a:~/b; echo $P
#--- test command
[ a = a ] && echo 1; [ a != b ] && echo 2; [ -z '' ] && echo 3; [ -n x ] && echo 4; [ 3 -gt 2 ] && echo 5; [ ! 1 = 2 ] && echo 6; [ 1 = 1 -a 2 = 2 ] && echo 7; [ 1 = 2 -o 2 = 2 ] && echo 8; test x && echo 9; [ '(' 1 = 1 ')' ] && echo 10; [ ] || echo 11
#--- test files
touch f; mkdir d; ln -s f l; ln -s none b; echo x >g; chmod +x g; for t in -e -f -d -L -s -x -r -w -h; do for n in f d l b g; do test $t $n && echo "$t $n"; done; done
#--- test file comparison
touch -d 2020-01-01 a; touch -d 2021-01-01 b; [ b -nt a ] && echo newer; [ a -ot b ] && echo older; ln a c; [ a -ef c ] && echo same
#--- test errors
[ 1 -eq a ]; echo $?; [ a b c ]; echo $?; [ 1; echo $?
#--- double bracket
[[ a == a* ]] && echo 1; [[ a == 'a*' ]] || echo 2; [[ abc =~ ^a(b)c$ ]] && echo ${BASH_REMATCH[0]} ${BASH_REMATCH[1]}; [[ -z $none && 1 -lt 2 ]] && echo 3; [[ a < b ]] && echo 4; [[ ! -e nof ]] && echo 5; [[ (1 -eq 1 || x) && y ]] && echo 6; [[ 2+2 -eq 4 ]] && echo 7
#--- regex with variable
re='^[0-9]+$'; for x in 12 1a; do [[ $x =~ $re ]] && echo num || echo no; done; [[ 'a.b' =~ a"."b ]] && echo q; [[ axb =~ a"."b ]] || echo nq
#--- errexit
set -e; false || true; if false; then :; fi; ! true; echo here; false; echo not reached
#--- errexit in function
set -e; f() { false; echo in; }; f || echo caught; f; echo not reached
#--- errexit in subshell
set -e; (false; echo no); echo not reached
#--- errexit and substitution
set -e; x=$(false; echo y); echo "$x"; x=$(false); echo not reached
#--- errexit and pipes
set -e; false | true; echo a; set -o pipefail; false | true; echo not reached
#--- trap exit
trap 'echo bye $?' EXIT; echo hi; exit 3
#--- trap exit in subshell
(trap 'echo sub' EXIT; echo in); echo out
#--- trap err
trap 'echo err $?' ERR; false; true; (exit 4); false || true
#--- trap and return to default
trap 'echo x' EXIT; trap - EXIT; trap 'echo y' INT; trap
#--- trap signal
trap 'echo got' USR1; kill -USR1 $$; echo after
#--- kill self
kill -TERM $$; echo not reached
#--- eval
x='echo "a b"'; eval $x; eval 'y=5; echo $y'; eval "echo \$y"; eval 'exit 3'; echo not reached
#--- source
echo 'v=1; echo "in $1"; return 5; echo no' >s; . ./s arg; echo $? $v; source s; echo "$?"
#--- source sets parameters
echo 'echo $#' >s; set -- a b; . ./s; . ./s 1 2 3; echo $#
#--- read
echo 'a b c' | { read x y; echo "$x|$y"; }; echo ' lead  ' | { read x; echo "[$x]"; }; echo 'a\b' | { read x; echo "$x"; }; echo 'a\b' | { read -r x; echo "$x"; }
#--- read options
echo a:b:c | { IFS=: read x y z; echo $x $y $z; }; echo abcdef | { read -n 3 x; echo $x; }; printf 'a;b;' | { read -d ';' x; read -d ';' y; echo $x $y; }; echo 'a b c' | { read -a arr; echo ${#arr[@]} ${arr[2]}; }
#--- read continuation
printf 'a\\\nb\n' | { read x; echo $x; }; printf 'no newline' | { read x; echo $? $x; }
#--- read loop with ifs
printf 'k=v\nx=y=z\n' | while IFS='=' read -r k v; do echo "$k -> $v"; done
#--- read keeps whitespace
printf '  a  b  \n' | { IFS= read -r l; echo "[$l]"; }
#--- read trailing delimiters
echo 'a,b,' | { IFS=, read x y; echo "[$x][$y]"; }; echo 'a,b,,' | { IFS=, read x y; echo "[$x][$y]"; }; echo ',a' | { IFS=, read x y; echo "[$x][$y]"; }
#--- mapfile
printf 'a\nb\nc\n' >f; mapfile -t l <f; echo ${#l[@]} ${l[1]}; readarray -n 2 m <f; echo -n "${m[@]}"
#--- getopts
f() { OPTIND=1; while getopts ab:c o; do case $o in a) echo a;; b) echo "b $OPTARG";; c) echo c;; ?) echo bad;; esac; done; shift $((OPTIND-1)); echo "rest $*"; }; f -a -b val -c x y; f -abval z; f -x 2>/dev/null; f -- -a
#--- getopts silent
while getopts :a: o -z -a; do echo "$o $OPTARG"; done
#--- set options
set -- -a b; echo $1; set -e; echo $-; set +e; set a b; echo $2; set --; echo $#
#--- set prints nothing for plus o
set -o pipefail; set -o | grep pipefail; shopt -s nullglob; shopt nullglob
#--- xtrace
set -x; echo a; x=1; [ $x = 1 ]; set +x; echo done
#--- printf
printf '%s %d %i %u %o %x %X %c|%%\n' str 5 -3 7 8 255 255 char; printf '%5s|%-5s|%05d|%+d|%.3s|%5.1f|%e\n' a b 42 5 abcdef 3.14159 12345.678
#--- printf reuses format
printf '%s-%s\n' a b c; printf '%d\n' 1 2; printf 'no args\n' ; printf '%s\n'; printf '%d %s|' 
#--- printf escapes
printf 'a\tb\\n\101\x41\n'; printf '%b|' 'a\tb\0101' 'x\cy' z; echo; printf '%q %q %q\n' 'a b' "it's" ''
#--- printf star and errors
printf '%*d|%-*d|%.*f\n' 5 42 5 42 2 3.14159; printf '%d\n' abc; echo $?; printf '%d\n' 0x10 010 "'A"
#--- printf v
printf -v x '%03d' 7; echo $x; printf -v 'a[1]' hi; echo ${a[1]}
#--- echo options
echo -n a; echo -e 'b\tc\n'; echo -E 'd\t'; echo -ne 'x\n'; echo -- -n; echo -x; echo -e 'stop\chere'
#--- cd and pwd
mkdir -p a/b; cd a/b; echo ${PWD##*/}; cd ..; echo ${PWD##*/} ${OLDPWD##*/}; cd - >/dev/null; echo ${PWD##*/}; cd nothere; echo $?; cd ../../; ls
#--- cd through link
mkdir -p a/b; ln -s a/b l; cd l; echo ${PWD##*/}; cd ..; ls; cd -P l; echo ${PWD##*/}; cd ..; ls
#--- pushd and popd
mkdir a b; pushd a >/dev/null; echo ${PWD##*/}; pushd ../b >/dev/null; popd >/dev/null; echo ${PWD##*/}; popd >/dev/null; ls
#--- type and command
type -t cd ls if nothere; f() { :; }; type -t f; command -v cd f; command -v nothere; echo $?; command echo hi
#--- builtin
echo() { builtin echo "wrapped $*"; }; echo a; command echo b; unset -f echo; echo c
#--- alias is not expanded
alias ll='echo x'; ll; echo $?
#--- background and wait
{ echo bg; exit 3; } & wait $!; echo $?; true & false & wait; echo $?
#--- background output order
(sleep 0.1; echo second) & echo first; wait; echo third
#--- wait for several
(exit 1) & a=$!; (exit 2) & b=$!; wait $b; echo $?; wait $a; echo $?; wait 99999; echo $?
#--- kill a job
sleep 100 & kill $!; wait $!; echo $?
#--- jobs variable isolation
x=1; { x=2; } & wait; echo $x
#--- process substitution
cat <(echo a) <(echo b); while read l; do n=$l; done < <(printf '1\n2\n'); echo $n; echo data | tee >(cat >f) >/dev/null; sleep 0.1; cat f
#--- select
printf '2\n' | select x in a b c; do echo "got $x $REPLY"; break; done 2>/dev/null
#--- special variables
set -- a b; echo $# "$0" $?; f() { echo $FUNCNAME $#; }; f 1; echo ${BASH_VERSION%%.*}; [ -n "$RANDOM" ] && [ $SECONDS -lt 5 ] && [ $$ -gt 0 ] && echo ok
#--- lineno
echo $LINENO
echo $LINENO; f() {
echo $LINENO; }
f
#--- last argument
echo a b; echo $_; : x; echo $_
#--- time keyword
time true 2>/dev/null; echo $?
#--- comments and lines
echo a # comment
# whole line
echo 'b # no' "c # no" d#no; echo \
continued
#--- semicolons and newlines
if true
then
  echo a; echo b
fi; for x in 1
do echo $x; done
#--- command not found
nosuchcommand a b; echo $?; nosuch | cat; echo ${PIPESTATUS[0]}
#--- script file
printf '#!/bin/bash\necho "$0 $1" | sed "s,.*/,,"; exit 4\n' >s; chmod +x s; ./s arg; echo $?; bash s x; PATH=$PWD:$PATH; s y; ./nothere; echo $?; chmod -x s; ./s; echo $?
#--- script by env
printf '#!/usr/bin/env bash\necho env $1\n' >s; chmod +x s; ./s a; printf 'echo plain\n' >p; chmod +x p; ./p
#--- awk script file
printf '#!/usr/bin/awk -f\n{ print $2 }\n' >s; chmod +x s; echo 'a b' | ./s
#--- exec
(exec echo replaced; echo no); exec >f; echo to file; exec cat f >&2
#--- exec not found
exec nosuchcommand; echo not reached
#--- stdin of nested shell
echo 'echo from stdin $1' | bash -s arg; bash -c 'read x; echo $x' <<<in
#--- syntax error
echo before
if then fi
echo after
#--- syntax error in eval
eval 'if'; echo $?
#--- unset
x=1; f() { :; }; unset x f; echo "[${x-gone}]"; f 2>/dev/null; echo $?; a=(1 2); unset a; echo ${#a[@]}
#--- assignment forms
a=1 b=2; echo $a$b; a=3 true; echo $a; x+=1; x+=2; echo $x; declare -i n=1; n+=5; echo $n; y=$x z=$y; echo $z
#--- status of assignment
x=$(exit 2) true; echo $?; x=5; echo $?
#--- nested quotes
echo "a $(echo "b $(echo "c d")")" "${x:-"e f"}" 'g'"h"\i
#--- empty arguments
f() { echo $#; }; x=; f $x; f "$x"; f '' ""; f "$x"y
#--- backslash newline
echo a\
b "c\
d" 'e\
f'
#--- colon and true
:; echo $?; : $(exit 3); echo $?; true a; echo $?
#--- comparing strings
[[ apple < banana ]] && echo lt; [ b \> a ] && echo gt; [[ A < a ]] && echo C
#--- pipeline with functions
up() { tr a-z A-Z; }; echo abc | up | rev
#--- loop with redirect
for i in 1 2; do echo $i; done >f; while read x; do echo "<$x>"; done <f >g; cat g
#--- dev files
echo a >/dev/null; cat /dev/null; echo b >/dev/stdout; echo c | cat /dev/stdin; echo d >/dev/stderr 2>/dev/null; [ -c /dev/null ] && echo char
#--- until with break
i=0; until false; do ((i++)); [ $i -ge 3 ] && break; done; echo $i
#--- arithmetic for with comma
for ((i=0,j=10;i<j;i+=3,j-=2)); do echo $i $j; done
#--- return in loop
f() { for i in 1 2 3; do [ $i = 2 ] && return 7; echo $i; done; }; f; echo $?
#--- exit in pipe
echo a | { cat; exit 5; }; echo $?
#--- exit in function in substitution
f() { exit 3; }; x=$(f; echo no); echo "$? [$x]"
#--- dynamic scoping
f() { local v=1; g; echo $v; }; g() { v=2; }; f; echo "[${v-none}]"
#--- local without value
x=5; f() { local x; echo "[${x-unset}]"; x=1; }; f; echo $x
#--- local array
f() { local a=(1 2); local -A m=([k]=v); echo ${a[1]} ${m[k]}; }; f; echo "[${a-}]"
#--- string multiplication
printf '=%.0s' {1..10}; echo; printf -- '-%.0s' $(seq 3); echo
#--- join and split
a=(a b c); (IFS=,; echo "${a[*]}"); IFS=, read -ra p <<<"x,y,z"; echo ${p[2]}
#--- reverse loop
for ((i=3;i>0;i--)); do printf '%d ' $i; done; echo
#--- sourced function
cat >lib.sh <<'E'
greet() { echo "hello $1"; }
E
. ./lib.sh; greet you
#--- umask and modes
umask; touch f; mkdir d; stat -c %a f d
#--- mixed heredoc and pipe
cat <<E | tr a-z A-Z
piped
E
#--- ${#} forms
set -- a b c; echo ${#} ${1} ${10-none} $10
#--- more than nine parameters
set -- 1 2 3 4 5 6 7 8 9 ten eleven; echo ${10} ${11} $1
#--- double bracket pattern alternatives
x=foo.tar.gz; [[ $x == *.tar.@(gz|bz2) ]] && echo archive; [[ $x == *.zip ]] || echo nozip
#--- quoted at in for
set -- 'a b' '' c; for x in "$@"; do echo "[$x]"; done
#--- nested arrays in functions
f() { local -n out=$1; out=(x y z); }; f res; echo ${res[@]}
#--- false in the middle
false; x=$?; echo $x; (exit 9); echo $?
#--- command grouping with background
{ sleep 0.05; echo late; } & { echo early; }; wait
#--- disown and nohup
true & disown; echo ok
#--- let with spaces
let 'x = 3 * 4' 'y = x % 5'; echo $x $y
#--- ulimit and times
times >/dev/null; echo $?
#--- bash c with error
bash -c 'exit 9'; echo $?; bash -ec 'false; echo no'; echo $?; bash -uc 'echo $nope' 2>/dev/null; echo $?
#--- unset in the middle of a word
x=1; echo a${x}b${y}c$((x+1))d$(echo e)f
#--- export list and unexport
export A=1 B=2; export -n A; printenv A B; export -p | grep ' B='
#--- read with timeout
read -t 0.05 x < <(sleep 1); echo $((($?) > 128))
#--- nested functions and variables
outer() { inner() { echo "inner $1"; }; inner "$1"; }; outer x; inner y
#--- heredoc in function
f() { cat <<E
$1 is here
E
}; f a; f b
#--- complex quoting
a='x"y'; b="x'y"; echo "$a" "$b" "${a}'${b}" '"'"'"
#--- arithmetic with strings
a=b; b=c; c=5; echo $((a)) $((a+1)); x='1 + 2'; echo $((x*2))
#--- array slices and negative
a=(a b c d e); echo ${a[@]:1:3} ${a[-2]} "${a[@]:(-2)}"; unset 'a[-1]'; echo ${a[@]}
#--- append to string and array element
s=a; s+=b; a=(x y); a[1]+=z; a+=(w); echo $s ${a[@]}; declare -A m; m[k]=1; m[k]+=2; echo ${m[k]}
#--- while read with two streams
printf '1\n2\n' >a; printf 'x\ny\n' >b; while read -u 3 p && read -u 4 q; do echo $p$q; done 3<a 4<b
#--- subshell variable changes
x=1; (x=2; echo $x); echo $x; f() { x=3; }; (f); echo $x; f; echo $x
#--- exit status of a pipeline with function
f() { return 2; }; echo a | f; echo $?; f | cat; echo $?
#--- set positional in function
f() { set -- x y; echo $# $1; }; set -- a; f; echo $# $1
#--- until and continue
n=5; until [ $n -le 0 ]; do n=$((n-1)); [ $((n%2)) -eq 0 ] && continue; echo $n; done
#--- printf rounding and large
printf '%.2f %.0f %5.1e %g %g %G\n' 2.675 2.5 123456 0.0001 1e20 1e-10; printf '%d %d\n' 9223372036854775807 -9223372036854775808
#--- printf percent q
printf '%q\n' 'a b' $'tab\t' "quote'" plain 'd$llar' ''
#--- special characters in words
echo a#b '#' a=b 100% ^ @ %; echo a{b; echo }; echo '{a,b}' "{1..3}"
#--- command substitution with quotes and parentheses
echo "$(echo ")")" $(echo '(' ) "$(case x in x) echo c;; esac)"
#--- nested case in subshell in loop
for i in 1 2; do (case $i in 1) echo one; exit 1;; 2) echo two;; esac) || echo failed; done
#--- select with no input
select x in a b; do echo $x; done </dev/null 2>/dev/null; echo $?
#--- test with -v and -o
x=1; [[ -v x ]] && echo set; [[ -v nope ]] || echo unset; set -u; [[ -o nounset ]] && echo on; test -v x && echo also
#--- trap order
trap 'echo exit' EXIT; trap 'echo err' ERR; false; echo between; exit 0
#--- trap in function and exit code
f() { trap 'echo cleanup' EXIT; return 1; }; f; echo $?; exit 7
#--- trap exit sees the status
trap 'echo "status $?"; exit 9' EXIT; false
#--- signals to children
(trap 'echo term; exit 3' TERM; kill -TERM $BASHPID; echo no) ; echo $?
#--- group redirect input
{ read a; read b; echo "$b$a"; } <<E
1
2
E
#--- last pipe element in the current shell
shopt -s lastpipe; echo v | read x; echo "$x"
#--- glob characters in variables
touch a.x b.x; p='*.x'; echo $p "$p"; for f in $p; do echo "f:$f"; done
#--- glob escapes
touch 'a*b' 'a?b' ab; echo a\*b 'a*b' a[*]b a\?b
#--- glob ranges and classes
touch a1 b2 C3 _4; echo [a-c]* [[:upper:]]* [!a]* [[:digit:]]*; echo [_]*
#--- glob directories only
mkdir d1 d2; touch f1; echo */ d*/ ; touch d1/.hidden d1/x; echo d1/*
#--- variable as command
c='echo hi'; $c; c=echo; $c there; "$c" x; cmd=(printf '%s-' a b); "${cmd[@]}"; echo
#--- empty command from variable
x=; $x; echo $?; $x echo yes
#--- redirect only
>f; [ -e f ] && wc -c <f; echo x >g; >g; wc -c <g
#--- append and heredoc
cat >f <<E
one
E
cat >>f <<'E'
$two
E
cat f
#--- stderr to file and both
ls nothere 2>err; [ -s err ] && echo has; { ls nothere; echo ok; } >o 2>&1; tail -1 o
#--- discard stderr
ls nothere 2>/dev/null || echo failed; ls nothere &>/dev/null; echo $?
#--- swap descriptors
f() { echo out; echo err >&2; }; f 3>&1 1>&2 2>&3 3>&- | sed 's/^/got /'
#--- tee and process substitution
echo a | tee >(sed 's/a/b/' >f) ; sleep 0.1; cat f
#--- diff of two commands
diff <(printf 'a\nb\n') <(printf 'a\nc\n'); echo $?
#--- pipe status after several
true | false | (exit 3); echo "${PIPESTATUS[*]}"; : ; echo "${PIPESTATUS[*]}"
#--- brace expansion nested
echo {a,{b,c}}d {1..2}{x,y} pre{,-mid}post a{1,2}{3,4}b
#--- brace with empty and quotes
echo {,a}b {"x y",z} {a\,b,c}
#--- arithmetic precedence and grouping
echo $((2+3*4**2/8-1)) $(((2+3)*4)) $((-2**2)) $((!1+1)) $((1<2==1)) $((6&3|8)) $((1?2?3:4:5))
#--- arithmetic post increment in index
a=(1 2 3); i=0; echo ${a[i++]} ${a[i++]} $i; ((a[i]+=10)); echo ${a[2]}
#--- string comparison operators
[[ "abc" > "abd" ]] || echo less; [[ abc == [a-c]* ]] && echo match; [[ "a b" == a\ b ]] && echo space; [[ x != y && ! x == y ]] && echo neq
#--- regex groups
[[ "2024-05-17" =~ ^([0-9]+)-([0-9]+)-([0-9]+)$ ]]; echo "${BASH_REMATCH[3]}/${BASH_REMATCH[2]}/${BASH_REMATCH[1]}"; [[ foo =~ o+ ]] && echo ${BASH_REMATCH[0]}
#--- substring replacement special
x='a.b.c'; echo ${x//./-} ${x/./} ${x//[.]/_}; y='a/b/c'; echo ${y//\//:}; z='a*b*c'; echo "${z//\*/x}"
#--- default with command substitution and arithmetic
echo ${x:-$(echo sub)} ${y:-$((1+1))} ${z:=val} $z ${w:+no}
#--- length of special
set -- a b; echo ${#1} ${#*} ${#@}; x=(aa b); echo ${#x} ${#x[@]} ${#x[0]}
#--- here string with variable and newline
x=$'a\nb'; cat <<<"$x"; wc -l <<<"$x"; read -r l <<<$x; echo "$l"
#--- mapfile from process substitution
mapfile -t a < <(printf '%s\n' x 'y z'); printf '<%s>' "${a[@]}"; echo
#--- read array with delimiter
IFS=: read -ra p <<<"/usr/bin:/bin:"; echo ${#p[@]} ${p[1]}
#--- while loop counter is kept without a pipe
n=0; while read -r _; do n=$((n+1)); done <<E
a
b
E
echo $n
#--- seq and arithmetic sum
s=0; for i in $(seq 1 10); do s=$((s+i)); done; echo $s
#--- functions returning strings
f() { echo "r:$1"; }; x=$(f a) y="$(f b)"; echo "$x $y"
#--- recursive fibonacci
fib() { (($1<2)) && { echo $1; return; }; echo $(( $(fib $(($1-1))) + $(fib $(($1-2))) )); }; fib 8
#--- string reverse and loop over characters
s=hello; r=; for ((i=${#s}-1;i>=0;i--)); do r+=${s:i:1}; done; echo $r
#--- associative counting
declare -A c; for w in a b a c a; do ((c[$w]++)); done; for k in a b c; do echo $k=${c[$k]}; done
#--- sort an array
a=(3 1 2); IFS=$'\n' sorted=($(sort -n <<<"${a[*]}")); unset IFS; echo ${sorted[@]}
#--- join with printf
a=(x y z); printf -v j '%s,' "${a[@]}"; echo ${j%,}
#--- check a variable is a number
for v in 5 x -3; do case $v in ''|*[!0-9-]*) echo no;; *) echo yes;; esac; done
#--- getopts with long loop
set -- -v -o out file; v=0; while getopts vo: opt; do case $opt in v) v=1;; o) o=$OPTARG;; esac; done; shift $((OPTIND-1)); echo $v $o $1
#--- conditional chains
[ -f nofile ] && echo a || { echo b; [ 1 = 1 ] && echo c; }
#--- quoted heredoc keeps everything
cat <<'EOT'
$x `cmd` \n "q"
EOT
#--- indented heredoc
if true; then
	cat <<-EOT
	one
		two
	EOT
fi
#--- script with arguments and set e
cat >s.sh <<'EOT'
set -euo pipefail
name=${1:?name needed}
echo "hi $name"
missing=$(cat nofile)
echo unreachable
EOT
bash s.sh bob 2>/dev/null; echo $?; bash s.sh 2>/dev/null; echo $?
#--- env passes through
X=5 bash -c 'echo $X; Y=$X bash -c "echo \$Y"'; env -i A=1 bash -c 'echo ${A}${X-none}'
#--- background jobs in a loop
for i in 1 2 3; do (sleep 0.0$i; echo $i) & done; wait
#--- wait n
sleep 0.2 & (exit 4) & wait -n; echo $?
#--- kill and trap in background
(trap 'echo caught; exit 0' TERM; while :; do sleep 0.01; done) & p=$!; sleep 0.1; kill $p; wait $p; echo $?
#--- coproc is not needed
echo a | { read x; echo "r$x"; }
#--- exec redirect then restore
exec 3>&1 >f; echo hidden; exec >&3 3>&-; echo shown; cat f
#--- pipeline reading closed input
true | cat; echo | wc -l; : | sort
#--- yes and head
yes | head -n 3; yes no | head -2 | tail -1; echo ${PIPESTATUS[0]}
#--- long pipeline
seq 100 | grep 5 | sort -rn | head -3 | tr '\n' ' '; echo
#--- assignment before function
f() { echo "$V"; }; V=1 f; echo "[${V-}]"
#--- redirection of a loop in a function
f() { while read l; do echo "[$l]"; done; }; printf 'a\nb\n' | f; f <<<c
#--- typeset and declare g
f() { declare -g G=1; typeset L=2; }; f; echo ${G-none} ${L-none}
#--- echo with backslashes
echo 'a\tb' "a\tb" a\\b; echo -e 'x\\y\x41\060'
#--- IFS in for
IFS=:; for p in $(echo a:b:c); do echo $p; done
#--- quotes inside parameter expansion
x=; echo "${x:-"a  b"}" ${x:-'c  d'} "${x:-'e'}"
#--- case patterns with spaces and quotes
x="a b"; case "$x" in "a b") echo exact;; esac; case $x in a\ *) echo esc;; esac; case x in (x) echo paren;; esac
#--- arithmetic in conditions
x=5; if ((x > 3 && x < 10)); then echo in; fi; while ((x-- > 3)); do echo $x; done
#--- ternary by and or
v=1; r=$([ $v = 1 ] && echo yes || echo no); echo $r
#--- test numeric strings
[ 010 -eq 10 ] && echo dec; [ " 5 " -eq 5 ] && echo trim; [ -5 -lt 3 ] && echo neg
