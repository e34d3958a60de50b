#--- trace simple commands
exec 2>&1; x=3; s="a b"; e=; set -x
echo hi $x "$s" $e "$e"; y=1; z="p q" w=$e; a=(1 "2 3" $x); a[1]=q; a+=(9); y+=5
A=1 B="x y" echo env 2> /dev/null
printf '%s\n' $'tab\there' 'it'"'"'s' 'a*b' '$x' '~' 'a=b' '-x' '!' '{a,b}' '#c' 'é' '[x]' "a\\b" '^' '%1' '@' 'a:b'
#--- trace expands once
exec 2>&1; set -x; n=0; v=$(echo x >> log; echo 1); w=$((n++)) A=$((n++)); echo $n; declare d=$((n++)); (( n += $(echo y >> log; echo 1) )); set +x; echo $n; cat log
#--- trace compound commands
exec 2>&1; x=3; s="a b"; e=; set -x
for i in $x "p q" *; do :; done
for ((i=0;i<2;i++)); do :; done
case $x in 3) echo three;; esac
[[ -n $s && $x -gt 2 ]]; [[ $s == a* || -z $e ]]; [[ ! -f nofile ]]; [[ $s = "a b" ]]; [[ $e = "" ]]; [[ $x =~ ^[0-9]+$ ]]; [[ ( -n $e ) ]]; [[ $s ]]
(( x > 2 )); (( $x > 2 && x < 5  )); let x=x+1 y=2; if [ $x -gt 3 ]; then echo big; fi
while (( x-- > 3 )); do :; done
f() { local v=$1; echo "f $v"; }; f 1
declare -i n=4
( echo sub ); select o in a; do break; done <<< 1
#--- trace levels
exec 2>&1; set -x; echo $(echo inner $(echo deep)); v=$(echo one); eval "echo ev"; echo `echo bq`
#--- trace prompt
exec 2>&1; set -x; x=2
PS4='+ ${LINENO}: '
echo one

echo two
PS4='>>$x> '
echo three $(echo four)
PS4='$(echo cs) '
echo five
unset PS4
echo six
#--- trace to a descriptor
exec 7> log; BASH_XTRACEFD=7; set -x; echo a; set +x; cat log
#--- command of a trap
set -Eeuo pipefail; trap 'echo "failed: $BASH_COMMAND (line $LINENO)"' ERR
echo a
ls /nonexistent "x y" > f 2>/dev/null
echo no
#--- command of other traps
trap 'echo "at: $BASH_COMMAND"' EXIT; trap 'echo "E: $BASH_COMMAND"' ERR; f() { false; }; f; true | false; [[ a == b ]]; x=$(false); echo "$BASH_COMMAND" a; true x
#--- jobs in substitutions and pipes
sleep 5 & sleep 6 & echo $(jobs -p | wc -l); jobs -p | wc -l; [ $(jobs -rp | wc -l) -eq 2 ] && echo two; (jobs | wc -l); jobs | sed 's/  *//g'; jobs -l | wc -w; jobs -s; kill $(jobs -p)
#--- jobs are throttled
for i in 1 2 3 4 5 6; do while (( $(jobs -rp | wc -l) >= 2 )); do wait -n; done; { sleep 0.05; : > f$i; } & done; wait; ls
#--- job numbers are used again
sleep 5 & kill %1; wait %1; echo $?; sleep 5 & jobs | sed 's/ .*//'; kill %1
#--- jobs of others cannot be waited for
sleep 5 & (wait $! 2>/dev/null; echo $?); x=$(kill %1 2>&1); echo $? "$x"
#--- here-document that is not closed
cat > f <<EOF
hello
#--- here-documents that are not closed
cat <<A - <<B | wc -c
one
#--- syntax error after a line that runs
echo a
if true; then echo hi
