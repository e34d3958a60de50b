#--- file of a sourced script
echo 'echo "${BASH_SOURCE[0]} $0"; f() { echo "${BASH_SOURCE[0]} ${FUNCNAME[@]} ${BASH_SOURCE[@]} ${BASH_LINENO[@]}"; }; f; g() { f; }; g' > lib.sh; . ./lib.sh; f; bash lib.sh; [[ -z ${BASH_SOURCE[0]} ]] && echo none
#--- run or sourced
echo 'if [[ "${BASH_SOURCE[0]}" == "${0}" ]]; then echo main; else echo sourced; fi' > m.sh; bash m.sh; . ./m.sh; source m.sh
#--- directory of a sourced script
mkdir d; echo 'cd "$(dirname "${BASH_SOURCE[0]}")" && pwd | sed "s|.*/||"' > d/m.sh; bash d/m.sh; . d/m.sh
#--- names of the functions that run
f() { echo "${#FUNCNAME[@]} ${FUNCNAME[@]} ${FUNCNAME[0]}"; }; g() { f; }; f; g; echo "${FUNCNAME[0]:-none}"
#--- caller
f() { caller; caller 0; echo $?; }
g() {
  f
}
f; g; caller; echo $?
#--- local of a readonly variable
readonly R=2; f() { local R=1; echo $R $?; local R; echo "$R" $?; local -r L=1; local L=2; echo $? $L; }; f
#--- kill -l of signals
kill -l 15; kill -l TERM; kill -l 143; kill -l SIGINT; kill -l 9 2; kill -l bad; echo $?
#--- assignment that makes a variable
x="a b"; echo "${x@A}"; declare -i n=4; echo "${n@A}"; a=(1 "2 3"); echo "${a[@]@A}"; echo "${a@A}"; export e=1; echo ${e@A}; z="it's"; echo ${z@A}
#--- match in a replacement
r=abc; echo "${r/b/&&}" "${r/b/\&}" "${r/b/"&"}" "${r//[ac]/<&>}" "${r//b/[&]}"; p='&x'; echo ${r/b/$p} "${r/b/"$p"}"; echo ${r/#a/&&} ${r/%c/&&} ${r/b/\\&}; q='\&'; echo ${r/b/$q}; shopt -u patsub_replacement; echo ${r/b/&&}
#--- message of a parameter under errexit
set -e; echo "${FOO?msg}"
#--- unset variable under errexit
set -eu; f() { echo $FOO; }; f
#--- compgen
f() { :; }; g() { :; }; compgen -A function; compgen -A function f; echo $?; compgen -A function zz; echo $?; x1=1; x2=2; compgen -v x; compgen -A variable x1; compgen -W "foo bar baz" b; compgen -b ec; compgen -A builtin ex
