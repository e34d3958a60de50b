#--- headers of a response
printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody\n' | sed 's/\r$//' | awk -F': ' 'NF==2{print $1"="$2}'
#--- a log by kind
cat > log <<'X'
2024-01-01 ERROR [a] one
2024-01-01 INFO [b] two
2024-01-02 ERROR [a] three
X
awk '/ERROR/{gsub(/[\[\]]/,"",$3); c[$3]++} END{for(k in c) print k": "c[k]}' log; grep -c ERROR log; cut -d' ' -f2 log | sort | uniq -c | sort -rn; sed -n 's/.*\[\(.*\)\] \(.*\)/\2-\1/p' log; awk '{print $NF}' log | paste -sd+; awk 'BEGIN{FS="[][]"}{print $2}' log
#--- mean and deviation
seq 100 | awk '{s+=$1; ss+=$1*$1} END{printf "%.4f %.4f\n", s/NR, sqrt(ss/NR-(s/NR)^2)}'; seq 5 | awk '{a[NR]=$1} END{for(i=1;i<=NR;i++){for(j=i;j<=NR;j++) printf "%s%s", a[j], (j<NR?",":"\n")}}'
#--- csv with quotes by FPAT
printf 'a,"b, c",d\n1,"x ""q""",3\n' | awk -v FPAT='([^,]*)|("([^"]|"")*")' '{print NF": "$2}'; echo '  lead' | awk '{print $1; sub(/^ */,""); print}'
#--- words reversed and pairs
printf 'one two\nthree\n' | awk '{for(i=NF;i>0;i--) printf "%s%s",$i,(i>1?OFS:ORS)}'; printf 'k1=v1;k2=v2\n' | tr ';' '\n' | while IFS== read -r k v; do echo "$k->$v"; done
#--- search in a tree
printf 'x\n' > a.txt; printf 'x\n' > b.md; mkdir s; printf 'x y\n' > s/c.txt; grep -rl x --include=\*.txt . | sort; find . -name '*.txt' | xargs grep -c x | sort; grep -rn 'x' . | sort | sed 's/:.*//' | uniq -c
#--- case of identifiers
echo 'The Quick brown' | sed -E 's/(\w)(\w*)/\U\1\L\2/g'; echo 'some_snake_case' | sed -E 's/_([a-z])/\U\1/g'; echo 'someCamelCase' | sed -E 's/([A-Z])/_\L\1/g'; echo 'a.b.c' | awk -F. '{print $NF; NF--; print}' OFS=.
#--- configuration files
printf '#c\n\nkey = val # x\n' | sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d'; printf '[s1]\na=1\n[s2]\na=2\n' | awk -F= '/^\[/{s=$0} /^a=/{print s, $2}'; printf '[s1]\na=1\n[s2]\na=2\n' | sed -n '/\[s2\]/,/^\[/{/^a=/s/a=//p}'
#--- columns and commas
seq 12 | pr -3 -t 2>/dev/null | head -0; seq 12 | paste - - - | column -t; seq 3 | sed '$!s/$/,/' | tr -d '\n'; echo; printf 'b 2\na 10\nc 1\n' | sort -k2,2nr | awk 'NR<=2{print $1}'
#--- printf of many kinds
awk 'BEGIN { printf "%s %s %s\n", "a", "b", "c"; printf "%5.2f%%\n", 12.345; printf "[%-8s][%8s]\n", "ab", "cd"; printf "%03d:%x:%o:%e\n", 7, 255, 8, 12345.678 }'; awk 'BEGIN { x["a"]=1; x["b"]=2; n=0; for (k in x) n+=x[k]; print n, length(x) }'
#--- arithmetic and utf-8
printf 'a\tb\n' | awk 'BEGIN{FS=OFS="\t"} {$3="c"} 1' | cat -A; printf '1 2\n' | awk '{print $1+$2, $1$2, $1*$2, $2/$1, $2%$1, -$1, +$2}'; awk 'BEGIN{print length("日本語"), substr("日本語",2,1), index("日本語","語"), toupper("é")}'; printf '%s\n' 'x=1' | awk -F= '$1=="x"&&$2>0{print "ok"}'
#--- sed in daily use
echo 'foo(bar)baz' | sed 's/(\([^)]*\))/[\1]/'; echo 'a1b2' | sed 's/[0-9]/<&>/g'; echo path/to/file.txt | sed 's|.*/||; s|\.[^.]*$||'; echo "it's" | sed "s/'/\"/"; printf 'a\nb\nc\n' | sed -n '2{p;q;}'; printf 'a b\n' | sed 's/ /\
/'; echo abc | sed 's/./&&/2'; echo 'x  y' | sed 's/  */ /g'; printf '1\n2\n3\n4\n' | sed -n '2,${p;n}'
#--- grep in daily use
printf 'a\nb\n' | grep -n '' ; printf 'aa\nab\n' | grep -o 'a' | sort | uniq -c; echo 'user@example.com x@y.org' | grep -oE '[[:alnum:]._]+@[[:alnum:].]+'; echo '192.168.1.1 foo 10.0.0.1' | grep -oE '([0-9]{1,3}\.){3}[0-9]{1,3}'; printf 'TODO: x\nok\ntodo y\n' | grep -in todo; printf 'a b\n' | grep -E '^(a|b) (a|b)$'; echo 'a\b' | grep -F '\b'; printf 'x\n' | grep -E 'x{0}'; echo 'color colour' | grep -oE 'colou?r'
#--- sort in daily use
printf '3 c\n1 a\n2 b\n' | sort -n | head -2 | tail -1; printf 'b:2\na:2\nc:1\n' | sort -t: -k2,2n -k1,1; printf 'A\nb\nC\n' | sort -f; printf '10%%\n9%%\n' | sort -n; printf 'x1\nx10\nx2\n' | sort -V; printf '1.2.3\n1.10.0\n1.2.10\n' | sort -t. -k1,1n -k2,2n -k3,3n; printf 'b\na\n\n' | sort; du -h /dev/null 2>/dev/null | head -0
#--- a header gives the columns
printf 'name age\nbob 25\namy 30\n' | awk 'NR==1{for(i=1;i<=NF;i++)h[$i]=i;next}{print $h["age"], $h["name"]}'; printf 'a b\nc d\n' | awk '{a[NR]=$0} END{print a[1] "|" a[2]; delete a[1]; print (1 in a), (2 in a), length(a)}'; printf 'x\ny\nz\n' | awk 'NR%2{printf "%s ", $0; next} {print}  END{if(NR%2)print ""}'
#--- awk and here-strings
awk 'function max(a,b){return a>b?a:b} {m=max(m,$1)} END{print m}' <<< $'3\n9\n2'; awk 'BEGIN{while(("ls -1 /nonexistent 2>/dev/null; echo done" | getline l)>0) print l}'; awk 'BEGIN{print substr("abcdef",3), substr("abcdef",-1,3), substr("abc",2,100)}'; echo "5 apples" | awk '{print $1*2, $2}'; awk 'BEGIN{if(!("x" in ENVIRON)) print "none"; print 1==1, "a"=="a", 2<10, "2"<"10"}'
#--- sed adds and swaps
printf 'l1\nl2\nl3\nl4\n' | sed '2i new\' -e 'x' 2>/dev/null; printf 'l1\nl2\n' | sed '1a\
added one\
added two'; printf 'l1\nl2\n' | sed '/l1/a after' ; printf 'a\nb\n' | sed '1!G;h;$!d'; printf 'a b c\n' | sed 's/\([a-z]\) \([a-z]\)/\2 \1/'; printf 'start\nx\nend\ny\n' | sed '/start/,/end/{//!d}'; printf 'a\nb\nc\nd\n' | sed -n '/b/,+1p'; printf 'abc\n' | sed 's/\(a\)\(b\)\(c\)/\3\2\1/'
#--- tr in daily use
tr -dc 'a-z' <<< 'A1b2c3'; echo; tr 'a-z' 'n-za-m' <<< 'hello'; tr -s '\n' <<< $'a\n\n\nb'; tr '[:space:]' '\n' <<< 'a b'; echo 'a:b' | tr ':' '\t'; tr -d '\r' <<< $'x\r'; tr -cs 'A-Za-z' '\n' <<< 'the cat, the hat' | sort | uniq -c | sort -k1,1nr -k2; echo aAbB | tr '[:upper:][:lower:]' '[:lower:][:upper:]'
#--- a file cut in all ways
printf 'a\nb\nc\nd\ne\n' > f; split -l 2 f p_; cat p_aa p_ac; head -c 3 f | od -c | head -1; tail -n +2 f | head -1; sed -n '$=' f; wc -l < f; nl -ba f | tail -1; tac f | head -1; cut -c1 f | tr -d '\n'; echo; paste -d'|' f f | head -1; comm -12 f <(printf 'b\nd\n'); join f <(printf 'a 1\nc 3\n'); fold -w1 f | wc -l; shuf f | sort | cmp - f && echo same
#--- jq in daily use
jq -r '.[] | select(.age > 26) | .name' <<< '[{"name":"bob","age":25},{"name":"amy","age":30}]'; jq '.users |= map(. + {active: true})' <<< '{"users":[{"n":1}]}'; jq -r '[.[] | .x] | @tsv' <<< '[{"x":1},{"x":2}]'; jq -c 'to_entries | map("\(.key)=\(.value)") | join("&")' <<< '{"b":1,"a":2}'; jq 'if .a then "y" else "n" end' <<< '{"a":null}'; jq -c '.. | .id? // empty' <<< '{"id":1,"k":[{"id":2}]}'; jq -c 'with_entries(select(.value != null))' <<< '{"b":null,"a":1}'; jq -c 'reduce .[] as $i ({}; .[$i.k] += $i.v)' <<< '[{"k":"z","v":1},{"k":"a","v":2},{"k":"z","v":3}]'; jq -c '[limit(2;.[])]' <<< '[1,2,3]'; jq -c 'map(tostring) | join(",")' <<< '[1,"a",null]'
#--- jq and missing values
jq -c '.a.b.c' <<< '{}'; jq -c '.[2:4], .[:-1], .[-2:]' <<< '[0,1,2,3,4]'; jq -c 'group_by(.t) | map({(.[0].t): length}) | add' <<< '[{"t":"x"},{"t":"y"},{"t":"x"}]'; jq -c 'del(.[] | select(. > 1))' <<< '[1,2,3]'; jq -c '[.[] | if type=="number" then .+1 else . end]' <<< '[1,"a"]'; jq -r 'keys_unsorted | @csv' <<< '{"b":1,"a":2}'; jq -c 'input_line_number' <<< '1' >/dev/null; jq -c '{a,b:.c}' <<< '{"a":1,"c":2}'; jq -c '[paths(type=="number")]' <<< '{"a":[1,{"b":2}]}'; jq -c 'any, all' <<< '[true,false]'; jq -r '.a // "default"' <<< '{}'; jq -c 'splits(", ")' <<< '"a, b"'; jq -c 'ascii_downcase|test("AB";"i")' <<< '"ab"'; jq -c 'indices(1)' <<< '[1,2,1]'; jq -c 'env|type' <<< 1; jq -c 'ltrimstr("a"), (tojson|fromjson), ("1,2"|split(",")|map(tonumber))' <<< '"abc"'
#--- an awk program of many lines
awk '
# comment
function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }
BEGIN { FS = ","; OFS = "|" }
NR == 1 { next }
{
    name = trim($1)
    total[name] += $2
    if (!(name in first)) { order[++n] = name; first[name] = NR }
}
END {
    for (i = 1; i <= n; i++)
        printf("%-6s %6.2f %d\n", order[i], total[order[i]], first[order[i]])
}' <<< $'n,v\n bob ,1.5\namy,2\nbob,3'
#--- match, split and numbers
awk 'BEGIN { s = "The quick"; while (match(s, /[A-Za-z]+/)) { print substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }'; awk 'BEGIN{n=split("2024-01-15",d,"-"); printf "%s/%s/%s %d\n", d[2], d[3], d[1], n}'; awk 'BEGIN { print toupper(substr("word",1,1)) substr("word",2) }'; awk 'BEGIN{a="10"; b=9; print (a>b), (a"">b"")}'; awk 'BEGIN { print index("foobar","bar"), 1e3==1000, "1e3"==1000, 010+0 }' ; awk 'BEGIN { print substr("x",1,0) "|" ; print 017 }'
#--- fields that are made and lost
printf 'a b\n' | awk '{ $3 = $1 $2; print; print NF; $0 = "p q r s"; print NF; $6="z"; print; NF=3; print $0 }'; printf 'a:b\n' | awk '{FS=":"} {print $1}'; printf 'a:b\nc:d\n' | awk '{FS=":"} {print $1}'; echo 'x y z' | awk '{ $2 = ""; print; print NF }'; echo a | awk '{ print; print $0 > "/dev/stderr" }' 2>&1; echo 'a b c' | awk '{ print NF ? $NF : "none" }'; echo | awk '{ print NF, length($0), $1 == "" }'
#--- sed edits a configuration
sed --version | head -0; echo abc | sed -n '/b/{s/b/X/;p}'; printf 'a\n\nb\n' | sed '/^$/d;s/^/- /'; printf 'one\ntwo\n' | sed 'N;s/\(.*\)\n\(.*\)/\2 \1/'; printf 'x=1\ny=2\n' > c; sed -i '/^x=/s/=.*/=9/' c; cat c; sed -i '/^z=/!{$s/$/\nz=3/}' c; cat c; sed -i '1i # head' c; head -1 c; sed -n '/y/=' c; sed '/y/r /dev/stdin' c <<< inserted; sed 's/^/    /' c | head -1
#--- grep of here-strings
grep -E -o '"[^"]*"' <<< '{"a": "b c"}'; grep -v '^\s*#' <<< $'# x\n  # y\nz'; grep -A1 -B1 --no-group-separator b <<< $'a\nb\nc\nd\nb'; grep -e a -e b -c <<< $'a\nb\nc'; grep -xvF -f <(printf 'a\n') <<< $'a\nb'; grep -w -o 'a[a-z]*' <<< 'ab xab abc'; grep -m1 -n b <<< $'a\nb\nb'; grep -q z <<< a || echo no; grep -c '' <<< $'a\nb'; grep -oP '(?<year>\d{4})-\d\d' <<< 'on 2024-05-06'; grep -P '\bfoo\b' <<< 'a foo b'; grep -oP '\w+(?=\()' <<< 'call(x)'; grep -z -o 'b' <<< 'abc' | tr '\0' '\n'
#--- sort and uniq of here-strings
expr 1 + 1 >/dev/null; sort -u <<< $'b\na\nb' | tee out | wc -l; cat out; sort -t, -k3 -n <<< $'a,b,3\na,b,1'; sort -k1,1 -k2,2nr <<< $'a 1\nb 5\na 3'; sort -rn -k2 <<< $'x 1\ny 10\nz 9'; sort -k 2.2,2.3 <<< $'a xb1\nb xa2'; sort -nk2 -t' ' <<< $'a 2\nb 1'; sort --key=2 --reverse <<< $'a 1\nb 2'; sort -b -k2,2 <<< $'a   z\nb y'; sort -M <<< $'FEB\nJAN'; uniq -c <<< $'a\na' | awk '{print $2":"$1}'; uniq -d -i <<< $'a\nA\nb'; sort -z <<< 'x' | od -c | head -1
#--- counting and cutting
wc -c <<< 'é'; wc -m <<< 'é'; echo -n abc | wc; printf 'a b\tc\n' | wc -w; printf '' | wc; wc /dev/null; printf 'x\n' > f; cp f g; wc -l f g | tail -1; cat f g | wc -l; wc -lc f; wc -L <<< $'ab\nabcd'; cut -d' ' -f2- <<< 'a b c d'; cut -d, -f1,3 --output-delimiter=';' <<< 'a,b,c'; cut -c-3 <<< abcdef; cut -f1 <<< $'a\tb'; cut -d: -f7 <<< 'root:x:0:0:r:/root:/bin/bash'; cut -sd: -f1 <<< 'nodelim'; head -c -1 <<< abc; echo; tail -c3 <<< abc; tail -n-1 <<< $'a\nb'; head --lines=-1 <<< $'a\nb'
#--- columns and numbers of here-strings
printf 'a,b\n1,2\n' | column -s, -t; printf 'x y z\n1 2\n' | column -t -o '|'; printf 'aaa b\nc ddd\n' | column -t -R 1; printf 'é 1\nab 2\n' | column -t; printf 'a  b\n' | column -t -s ' '; seq 5 | column -c 30; printf 'a\n' | column -t; nl <<< $'a\n\nb'; nl -ba -s': ' -w2 <<< $'a\nb'; nl -v0 -i2 <<< $'a\nb'; fold -sw 12 <<< 'aaa bbb ccc ddd eee'; expand -t2 <<< $'\ta'; unexpand -t 2 -a <<< 'a  b' | cat -A; rev <<< abc | rev; tac -s, <<< 'a,b,c'; paste -s -d, <<< $'1\n2\n3'
#--- awk programs, files and pipes
awk -f - <<'X' /dev/null
BEGIN { print "from stdin prog" }
X
awk 'BEGIN { getline line < "/dev/stdin"; print "got " line }' <<< hello; awk '{ print FILENAME }' - <<< x; awk 'END { print $0, NF }' <<< $'a b\nc d e'; awk 'BEGIN { printf "a\n" | "cat"; close("cat"); print "b" }'; awk 'BEGIN { "pwd" | getline d; n=split(d,p,"/"); print n>1 }'; cat 1 2>/dev/null; awk '{ print > "out" NR } END { close("out1"); while ((getline l < "out1") > 0) print "r:" l }' <<< $'p\nq'; awk -v n=3 'BEGIN { while (n-- > 0) printf "%d ", n; print "" }'; awk 'BEGIN { print length(sprintf("%100s", "")) }'
