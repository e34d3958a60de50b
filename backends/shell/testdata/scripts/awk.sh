#--- fields
printf 'a b c\nd e f\n' | awk '{print $2}'; printf 'a:b:c\n' | awk -F: '{print $1, $NF}'; printf 'a b\n' | awk '{print NF, $0}'; printf 'a b c\n' | awk '{$2="X"; print}'; printf 'a b c\n' | awk '{print $(NF-1)}'; echo 'a  b   c' | awk '{$1=$1; print}'
#--- separators
echo 'a,b;c' | awk -F'[,;]' '{print $2 "-" $3}'; echo 'a|b' | awk -F'|' '{print $2}'; printf 'a\tb c\n' | awk -F'\t' '{print $2}'; echo abc | awk 'BEGIN{FS=""} {print $2}'; echo 'a.b' | awk -F. '{print $2}'; echo 'aXXbXc' | awk -FX+ '{print $2 $3}'; echo a:b | awk 'BEGIN{FS=":";OFS="-"} {print $1,$2; $1=$1; print}'
#--- patterns
seq 10 | awk 'NR==3'; seq 10 | awk 'NR>=2 && NR<=4'; seq 10 | awk '/1/'; seq 10 | awk '!/1/ && $1 % 2'; seq 10 | awk '/3/,/5/'; seq 10 | awk 'NR==2,NR==4{print "r" $0}'; seq 3 | awk 'END{print NR}'; seq 5 | awk '$1 ~ /[24]/'; printf 'a\n\nb\n' | awk NF
#--- sums and averages
seq 10 | awk '{s+=$1} END {print s, s/NR}'; printf 'a 1\nb 2\na 3\n' | awk '{c[$1]+=$2} END {for (k in c) print k, c[k]}' | sort; printf '3\n1\n2\n' | awk 'NR==1||$1>m{m=$1} END{print m}'; printf 'a\nb\na\n' | awk '!seen[$0]++'; awk 'BEGIN{print 1/3, 10%3, 2^10, 7-10, -7%3, 1e6, 1e20, 0.1+0.2}'
#--- printf
awk 'BEGIN{printf "%d|%5d|%-5d|%05d|%+d|% d\n", 42, 42, 42, 42, 42, 42}'; awk 'BEGIN{printf "%s|%10s|%-10s|%.2s\n", "abc", "abc", "abc", "abc"}'; awk 'BEGIN{printf "%f|%.2f|%8.3f|%e|%g|%G\n", 3.14159, 3.14159, 3.14159, 314.159, 0.0001, 1e10}'; awk 'BEGIN{printf "%c%c%c|%x|%X|%o|%#x|%%\n", 65, "BCD", 256, 255, 255, 8, 255}'; awk 'BEGIN{printf "%*d|%-*s|%.*f\n", 5, 42, 6, "ab", 1, 2.55}'; awk 'BEGIN{printf "%i %u %5.1f%%\n", 3.9, 7, 99.5; printf "%s %s\n", "a", "b"; printf("%s\n", "p")}'
#--- numbers as text
awk 'BEGIN{print 100000000, 1e15, 123456789012, 0.1, 3.0, "3.0"+0, 1e300*10 > 1}'; awk 'BEGIN{x=3.14159265; print x; OFMT="%.2f"; print x; print x ""; CONVFMT="%.3f"; print (x "")}'; awk 'BEGIN{print -0, 1e6, 1e5, 1234567.5, 0.000001, 123456.789}'; awk 'BEGIN{print 2**3, 2^0.5, int(-3.7), int("12abc"), "0x1A"+0, 011+0, ".5"+0, "+5"+0}'
#--- string functions
awk 'BEGIN{print length("hello"), substr("hello",2,3), substr("hello",0,2), substr("hello",-1), substr("hello",4,100), index("hello","l"), toupper("abc"), tolower("ABC")}'; awk 'BEGIN{print substr("hello", 2), length(12345), length(), index("abc", "z"), "[" substr("hello", 10) "]"}'; echo héllo | awk '{print length($0), substr($0,2,1), toupper($0), index($0,"l")}'; echo hello | awk '{print length}'
#--- split
awk 'BEGIN{n=split("a:b:c",a,":"); print n, a[1], a[3]; n=split("a b  c",b); print n, b[3]; n=split("",c); print n; n=split("a1b22c",d,/[0-9]+/); print n, d[2], d[3]; print split("abc",e,"")}'; awk 'BEGIN{n=split("a,b;c",a,/[,;]/,s); print n, s[1], s[2]; n=split("a.b",x,"."); print n, x[2]}'
#--- sub and gsub
echo 'hello world' | awk '{sub(/o/,"0"); print; gsub(/o/,"0"); print; n=gsub(/l/,"L"); print n, $0}'; echo 'a b a' | awk '{gsub(/a/,"[&]"); print; gsub(/\[/,"\\&"); print}'; echo abc | awk '{gsub(/x*/,"-"); print}'; echo 'a.b.c' | awk '{gsub("\\.","/"); print; sub("b","<&&>"); print}'; echo 'k v' | awk '{sub(/v/,"x",$2); print $2; print}'; echo aaa | awk '{print gsub(/a/,"b"), $0}'; echo 'a\b' | awk '{gsub(/\\/,"/"); print}'
#--- gensub and match
echo 'hello world' | awk '{print gensub(/o/,"0","g"), gensub(/o/,"0",2), gensub(/(\w+) (\w+)/,"\\2 \\1",1)}'; echo 'foo123bar' | awk '{print match($0,/[0-9]+/), RSTART, RLENGTH; print match($0,/z/), RSTART, RLENGTH}'; echo 'key=val' | awk '{match($0,/(\w+)=(\w+)/,m); print m[1], m[2], m[0], m[2,"start"], m[2,"length"]}'
#--- arrays
awk 'BEGIN{a["x"]=1; a["y"]=2; delete a["x"]; print ("x" in a), ("y" in a), length(a); delete a; print length(a)}'; awk 'BEGIN{a[1,2]=3; for (k in a) {split(k,p,SUBSEP); print p[1], p[2]}; if ((1,2) in a) print "yes"}'; awk 'BEGIN{a["b"];a["a"];n=asorti(a,s); for(i=1;i<=n;i++) print s[i]; d[1]=3;d[2]=1;d[3]=2; n=asort(d); print d[1],d[2],d[3]}'; awk 'BEGIN{a["x"]["y"]=1; a["x"]["z"]=2; for (i in a["x"]) n++; print n, isarray(a["x"]), length(a["x"])}'; awk 'BEGIN{PROCINFO["sorted_in"]="@ind_num_asc"; a[10];a[9];a[1]; for(i in a) printf "%s ", i; print ""; PROCINFO["sorted_in"]="@val_num_desc"; b["p"]=1;b["q"]=5; for(i in b) print i}'
#--- control flow
awk 'BEGIN{for(i=0;i<5;i++){if(i==1)continue; if(i==3)break; print i}; while(j<3)j++; print j; do k++; while(k<5); print k}'; awk 'BEGIN{i=3; if(i>2)print "big"; else print "small"; print i>2?"x":"y"}' ; cat 2 2>/dev/null; awk 'BEGIN{x=5; switch(x){case 1: print "one"; break; case 5: print "five"; case 6: print "six"; break; default: print "d"}; switch("abc"){case /b/: print "re"}}'; seq 5 | awk '{if($1==2)next; if($1==4)exit; print} END{print "end"}'
#--- functions
awk 'function f(x){return x*2} BEGIN{print f(21)}'; awk 'function fact(n){return n<=1?1:n*fact(n-1)} BEGIN{print fact(10)}'; awk 'function fill(a,n,  i){for(i=1;i<=n;i++)a[i]=i*i} BEGIN{fill(sq,3); print sq[3], i}'; awk 'function g(a){a["k"]=1} BEGIN{g(z); print length(z), z["k"]}'; awk 'func h(){ return } BEGIN{x=h(); print "[" x "]"}'; awk 'function s(x){x=5} BEGIN{y=1; s(y); print y}'
#--- comparisons
awk 'BEGIN{print (10<9), ("10"<"9"), (2<10), ("a"<"b"), (x==0), (x==""), ("1"==1), ("1.0"==1)}'; echo '10 9 1.0 abc' | awk '{print ($1>$2), ($3==1), ($4>$1), ($1<"9")}'; awk -v v=10 'BEGIN{print (v>9), (v=="10")}'; echo '3x' | awk '{print ($1==3), $1+0, ($1<5)}'; echo ' 5 ' | awk -F, '{print ($1==5)}'
#--- concatenation and precedence
awk 'BEGIN{print 1 " " 2+3 "x" 4*5; print "a" > "/dev/stdout"; print 1==1 ? "t" : "f"; print !0 !1; print -2^2; print 2^3^2; print 1 - 1 " " -1; x = y = 3; print x y; print 5 % 3 * 2}'; awk 'BEGIN{x=5; print x++ + ++x, x--, x; print 10 - 2 - 3; print "a" "b" == "ab"; print (1,2) in a; print !x + 1}'
#--- variables from outside
awk -v x=5 -v s='a\tb' 'BEGIN{print x+1, s}'; echo l > f; awk '{print v, $0}' v=1 f v=2 f; X=env awk 'BEGIN{print ENVIRON["X"]}'; awk 'BEGIN{print ARGC, ARGV[1], ARGV[2]}' p q; echo t | awk '{print FILENAME "|" FNR}' ; awk 'END{print FILENAME, NR, FNR}' f f; awk 'BEGIN{ARGV[1]="";ARGC=3} {print}' nope f
#--- record separators
printf 'a\nb\n\nc\nd\n' | awk 'BEGIN{RS=""} {print NR": "$1"-"$2}'; printf 'a;b;c' | awk 'BEGIN{RS=";"} {print NR, $0}'; printf 'a1b22c' | awk 'BEGIN{RS="[0-9]+"} {print $0, "[" RT "]"}'; printf 'a b\n' | awk 'BEGIN{ORS="|";OFS=","} {print $1,$2}'; echo; printf '\n\n\na\nb\n\n\n\nc\n' | awk -v RS= 'END{print NR}'; printf 'x\0y\0' | awk -v RS='\0' '{print}'; printf 'a\nb c\n\nd' | awk -v RS= -F: '{print $2 NF}'
#--- getline
printf '1\n2\n3\n' > f; awk 'BEGIN{while((getline l < "f")>0) s+=l; print s; close("f"); getline l < "f"; print l}'; seq 4 | awk '{getline; print}'; seq 4 | awk 'NR==1{getline x; print x, NR} {print "r" $0}'; awk 'BEGIN{"echo hi" | getline; print; "echo a b" | getline v; print v; while (("seq 3" | getline n) > 0) t+=n; print t}'; awk 'BEGIN{print (getline x < "nope")}'; echo x | awk '{ "date +%Y" | getline y; print (y > 2000) }'
#--- output redirection
awk 'BEGIN{print "a" > "o"; print "b" > "o"; close("o"); print "c" >> "o"; printf "%s\n", "d" > "p"}'; cat o p; seq 3 | awk '{print > ("f" $1 ".txt")}'; cat f1.txt f3.txt; awk 'BEGIN{print "z\na" | "sort"; close("sort"); print "end"}'; awk 'BEGIN{print "err" > "/dev/stderr"; print "x" | "cat 1>&2"}'; awk 'BEGIN{print "3\n1" | "sort -n"; print "first"}'
#--- system
awk 'BEGIN{r=system("exit 3"); print r; system("echo hi"); print "x"; system("")}'; awk 'BEGIN{printf "a"; system("printf b"); print "c"}'; echo 'f' | awk '{system("echo got " $1)}'
#--- exit codes
awk 'BEGIN{exit 3}'; echo $?; awk 'BEGIN{exit} END{print "e"}'; echo $?; echo x | awk '{exit 4} END{print "e"}'; echo $?; awk 'BEGIN{exit 2} END{exit}'; echo $?; awk 'BEGIN{z=0; print 1/z}'; echo $?; awk '{'; echo $?; awk 'BEGIN{print }}'; echo $?; awk '{print}' nope; echo $?; echo x > f; awk '{print}' nope f; echo $?
#--- NF changes
echo 'a b c d' | awk '{NF=2; print; print NF}'; echo 'a b' | awk '{$5="e"; print; print NF}'; echo 'a b c' | awk -v OFS=- '{$1=$1; print; NF=4; print}'; echo 'a b c' | awk '{$0="x y"; print $2, NF}'; echo 'a b c' | awk '{$2=""; print; print NF}'; echo '1 2 3' | awk '{s=0; for(i=1;i<=NF;i++) s+=$i; print s}'
#--- program files and arguments
printf '{print "f:" $1}\n' > p.awk; echo a | awk -f p.awk; printf 'function d(x){return x x}\n' > l.awk; printf 'BEGIN{print d("y")}\n' > m.awk; awk -f l.awk -f m.awk; echo a b | awk -- '{print $2}'; echo 'a-b' | awk -F - '{print $2}'; printf '#!/usr/bin/awk -f\nBEGIN { print "script" }\n' > s; awk -f s; awk 'BEGIN { # comment
print "x" # more
}'
#--- layout of programs
awk '
BEGIN {
  x = 1
  if (x)
    print "yes"
  else
    print "no"
  for (i = 0; i < 2;
       i++)
    print i
  y = x &&
      1; print y
  print "a" \
    "b"
}
END { print "e" }' < /dev/null; awk 'BEGIN{if(1);else print 2; for(;;)break; print "ok"};END{}' </dev/null; awk 'BEGIN { a["x"] = 1; if ("x" in a) { print "in" } else { print "out" } }'; echo 'a b' | awk '{ print $1; } { print $2 }'
#--- regular expressions
printf 'ab\na.b\na+b\nA\n' | awk '/a\.b/'; printf 'ab\nabab\n' | awk '/^(ab){2}$/'; printf 'foo bar\nfoobar\n' | awk '/\<bar/; /foo\>/'; echo 'a/b' | awk '/a\/b/{print "m"}'; echo 'a/b' | awk '$0 ~ "a/b"{print "n"}'; echo 'tab	x' | awk '/\t/{print "tab"}'; echo 'x1' | awk '/[[:digit:]]/ && /^[^0-9]/'; echo 'A' | awk 'BEGIN{IGNORECASE=1} /a/{print "ci"} $0=="a"{print "eq"}'; echo '[x]' | awk '/[]]/ && /[[]x/'; echo ab | awk '{r="^a"; if ($0 ~ r) print "dyn"; if ($0 !~ "b$") print "no"}'; echo a.c | awk '{ if ($0 ~ "a\.c") print "w" }' 2>/dev/null; echo 'a\c' | awk '/a\\c/'
#--- fixed fields
echo 'abcdef' | awk 'BEGIN{FIELDWIDTHS="2 3 1"} {print $1, $2, $3}'; echo 'a,"b,c",d' | awk 'BEGIN{FPAT="([^,]+)|(\"[^\"]+\")"} {print $2; print NF}'; echo 'a1b2' | awk '{n=patsplit($0,p,/[0-9]/,s); print n, p[1], p[2], s[0], s[1]}'
#--- bits, numbers and time
awk 'BEGIN{print and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2), strtonum("0x1F"), strtonum("017"), compl(0) > 0}'; cat 0; awk 'BEGIN{print strftime("%Y-%m-%d %H:%M:%S", 0, 1), mktime("1970 01 02 00 00 00"), (systime() > 1e9)}'; awk 'BEGIN{print sin(0), cos(0), atan2(0,-1), exp(1), log(10), sqrt(16), int(3.9)}'; awk 'BEGIN{srand(1); a=rand(); srand(1); b=rand(); print (a==b), (a>=0 && a<1), srand(5), srand()}'
#--- typeof and uninitialized
awk 'BEGIN{print typeof(x), typeof(1), typeof("a"), typeof(/r/); a[1]; print typeof(a), typeof(a[1])}'; echo 5 | awk '{print typeof($1), typeof($2)}'; awk 'BEGIN{print x+0, "[" x "]", length(x); if (!x) print "unset"}'
#--- common one-liners
printf 'a\nb\nc\n' | awk '{a[NR]=$0} END{for(i=NR;i>0;i--) print a[i]}'; printf 'x 1\ny 2\n' > p; printf 'x A\ny B\n' > q; awk 'NR==FNR{m[$1]=$2;next} {print $0, m[$1]}' p q; seq 6 | awk 'ORS=NR%3?",":"\n"'; printf 'b\na\n' | awk '{print | "sort"}'; printf '  x  \n' | awk '{gsub(/^ +| +$/,"")}1'; printf 'a b\nc d\n' | awk '{for(i=1;i<=NF;i++) t[i,NR]=$i} END{for(i=1;i<=2;i++) {for(j=1;j<=2;j++) printf "%s ", t[i,j]; print ""}}'; seq 20 | awk 'NR%5==0'; printf 'a=1\nb=2\n' | awk -F= '{printf "%s:%s\n", $1, $2}'; printf 'h\nl1\nl2\n' | awk 'NR>1'; seq 3 | awk '{printf "%s%s", sep, $0; sep=","} END{print ""}'
#--- csv with quotes and percentages
printf 'n,v\na,10\nb,30\n' | awk -F, 'NR>1{s+=$2;v[$1]=$2} END{for(k in v) printf "%s %.1f%%\n", k, 100*v[k]/s}' | sort; awk 'BEGIN{printf "%-10s|%8.2f|\n", "name", 3.14159; printf "%5s|%-5s|%05.1f\n", "ab", "cd", 2.5}'; awk 'BEGIN { while (i++ < 3) printf "%d ", i; printf "\n" }'
#--- BEGINFILE and nextfile
seq 3 > a; seq 4 6 > b; awk 'BEGINFILE{print "<" FILENAME} ENDFILE{print ">" FNR} FNR==2{nextfile} {print}' a b; awk 'FNR==1{print FILENAME ":" $0; nextfile}' a b
#--- special cases of print
awk 'BEGIN{print "a","b" "c"; print("x")("y"); print(1)(2) > "/dev/stdout"; print (1>2) ? "a" : "b"; print 1,2 > "o"}'; cat o; awk 'BEGIN { printf "%s" }' ; echo $?; awk 'BEGIN { printf "no newline" }'; echo; awk 'BEGIN{x["a"]=1; print length(x) length("abc")}'; awk 'BEGIN{print length "x"}' </dev/null; awk 'BEGIN{print substr("hello",1.5,2.5), toupper(substr("abc",2))}'
#--- deep and long
awk 'BEGIN{for(i=0;i<100000;i++) s+=i; print s}'; awk 'function r(n){return n?1+r(n-1):0} BEGIN{print r(5000)}'; awk 'BEGIN{for(i=0;i<20;i++) x=x "ab"; print length(x)}'; seq 10000 | awk '{a[$1%7]++} END{for(i=0;i<7;i++) printf "%d ", a[i]; print ""}'; seq 2000 | awk '{s=s $0} END{print length(s)}'
