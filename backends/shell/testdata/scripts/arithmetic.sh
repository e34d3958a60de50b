#--- number with a word after it
y="3 file"; echo $((y+1)); echo no
#--- decimal number
y=1.5; echo $((y+1)); echo no
#--- two numbers
y="1 2"; echo $((y)); echo no
#--- garbage in a test is a status
[[ "3 f" -gt 1 ]]; echo $?; [[ 1.5 -gt 1 ]]; echo $?; x="3 file"; if ((x>2)); then echo y; else echo n; fi
#--- garbage in a time and in a condition
(y=10:30; echo $((y)) no); (y='1 ? 2 : 3 4'; echo $((y)) no); (y='2)'; echo $((y)) no); (y='a[0] b'; echo $((y)) no)
#--- garbage in an integer variable
declare -i z; (z="3 4"; echo no); (y='x y'; z=$y; echo no); z=" 7 "; echo $z
#--- garbage in an index and in a slice
a=(1 2 3); s=hello; i="1 x"; (echo ${a[i]} no); (echo ${a[$i]} no); (a[$i]=3; echo no); (echo ${s:i:2} no); (echo ${s:0:$i} no); (echo ${a["0 1"]} no)
#--- garbage expanded into an expression
x="1.5"; (echo $(($x+1)) no); x="3 file"; (echo $(($x+1)) no); let "x=1 2"; echo $?
#--- what a variable holds is not expanded again
x='$(echo 1)'; (echo $((x)) no); x='`echo 1`'; (echo $((x)) no); x='"1"'; (echo $((x)) no); y='$z'; z=4; (echo $((y)) no)
#--- an expansion is text of the expression
x=1+2; echo $(($x*3)) $((x*3)) $(( $(echo 1+1) * 2 )); x=a; a=4; echo $(($x+1))
#--- an expansion that is empty
u=; echo $(( $u )) $(( $u + 1 )); (echo $(( $u * 2 )) no)
#--- expansions that are numbers
x=-5; echo $((-$x)) $(($x**2)) $((3-$x)); n=5; echo $(( n > 3 ? $n : 0 )); i=3; echo $((i++ + $i)) $i; x=abc; echo $(( 16#$x ))
#--- expansions in indexes of expressions
a=(1 2 3); i=1; echo $(( a[i] + ${a[2]} * 2 )) $((a[$i])); (( a[$i] += 5 )); echo ${a[@]}; declare -A m=([k]=3); k=k; echo $(( m[$k] + m[k] + ${m[k]} ))
#--- assigning does not read what was there
i="* x"; ((i=1)); echo $i; j="1 2"; for ((j=0;j<2;j++)); do echo $j; done
#--- wrong expressions end loops
for((i=1/0;;)); do :; done; echo $?; for((i=0;i<1/0;)); do :; done; echo $?; for((i=0;i<3;i=i/0)); do echo $i; done; echo $?
#--- status of a loop over numbers
for((i=0;i<3;i++)); do echo $i; false; done; echo $?; for((i=0;i<3;i++)); do (exit 3); break; done; echo $?; for((i=9;i<3;i++)); do :; done; echo $?
#--- unset variable ends a test
set -u; [[ -n $u ]]; echo no
#--- unset variable ends an expression
set -u; ((u+1)); echo no
#--- unset variable ends let
set -u; let u+1; echo no
#--- message of a parameter ends a test
[[ ${u?x} ]]; echo no
#--- readonly in an expression is a status
readonly r=1; (( r=2 )); echo $?; ((1/0)); echo $?; let 1/0; echo $?; [[ 1/0 -eq 1 ]]; echo $?
