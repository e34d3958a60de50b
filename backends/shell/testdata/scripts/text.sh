#--- cat plain and standard input
printf 'a\nb' > f; echo c | cat f - f
#--- cat numbers
printf 'a\n\n\nb\n' > f; cat -n f; cat -b f f; printf 'x' | cat -n - f
#--- cat squeeze and ends
printf 'a\n\n\n\nb\tc\r\n' | cat -sE; printf 'a\n\n\nb' | cat -sn
#--- cat show all
printf 'a\tb\001\177\200\n\303\251\r\n' | cat -A; printf '\t\r\n' | cat -e; printf '\t\n' | cat -t; printf 'a\tb\r\n' | cat -v
#--- cat missing file goes on
printf 'a\n' > f; cat f nope f; echo $?
#--- cat directory
mkdir d; cat d; echo $?
#--- cat invalid option
cat -Q; echo $?
#--- tac
printf '1\n2\n3\n' | tac; printf '1\n2\n3' | tac; printf 'a:b:c' | tac -s :; printf 'a:b:c' | tac -b -s :
#--- tac several files
printf '1\n2\n' > a; printf '3\n4\n' > b; tac a b
#--- tac regular expression
printf 'a1b22c' | tac -r -s '[0-9][0-9]*'; echo
#--- head lines
seq 20 | head; seq 20 | head -n 3; seq 20 | head -3; seq 20 | head -n -17; seq 3 | head -n 0; seq 5 | head --lines=2
#--- head bytes
seq 20 | head -c 5; echo; seq 5 | head -c -4; echo; printf 'abc' | head -c 1K; echo; seq 5 | head -c1
#--- head several files
seq 3 > a; seq 4 6 > b; head -n 1 a b; head -q -n1 a b; head -v -n1 a
#--- head missing
head nope; echo $?; seq 2 > a; head -n1 nope a; echo $?
#--- head bad count
head -n x; echo $?; head -c 1x; echo $?
#--- head zero terminated
printf 'a\0b\0c\0' | head -z -n 2 | tr '\0' '\n'
#--- tail lines
seq 20 | tail; seq 20 | tail -n 3; seq 20 | tail -2; seq 20 | tail -n +18; seq 20 | tail +19; seq 3 | tail -n 0
#--- tail bytes
seq 20 | tail -c 5; seq 5 | tail -c +7; printf abc | tail -c 2; echo
#--- tail several files
seq 3 > a; seq 4 6 > b; tail -n 1 a b; tail -q -n1 a b; tail -v -n1 a; tail -n1 nope a; echo $?
#--- tail without a last newline
printf 'a\nb\nc' | tail -n 2; echo; printf 'a\0b\0' | tail -z -n1 | od -c
#--- wc
printf 'a b\nc\n' > f; wc f; wc -l f; wc -w f; wc -c f; wc -lw f; wc -L f; wc < f
#--- wc several
printf 'a b\nc\n' > f; seq 100 > g; wc f g; wc -l f g; wc -c f g; cat f | wc; cat f | wc -l; cat f | wc -lc
#--- wc characters
printf 'h\303\251llo w\303\266rld\n' > f; wc -m f; wc -c f; wc -L f; wc -mcl f; printf 'a\tb' | wc -L
#--- wc missing
seq 3 > a; wc -l a nope; echo $?
#--- wc files from a list
seq 3 > a; seq 4 > b; printf 'a\0b' | wc -l --files0-from=-
#--- nl
printf 'a\n\nb\n' | nl; printf 'a\n\nb\n' | nl -ba; printf 'a\nb\n' | nl -w3 -s: -v10 -i5; printf 'a\n' | nl -nln; printf 'a\n' | nl -nrz -w4
#--- nl sections and patterns
printf 'a\n\\:\\:\\:\nh\n\\:\\:\nb\n\\:\nf\n' | nl -ha -fa; printf 'a1\nb\na2\n' | nl -bpa; printf '\n\n\na\n' | nl -ba -l2; printf 'a\n\\:\\:\nb\n' | nl -p
#--- rev
printf 'abc\nh\303\251llo\n\nxy' | rev; echo; printf 'ab\n' > f; rev f
#--- fold
echo abcdefghij | fold -w 4; echo 'the quick brown fox' | fold -s -w 10; printf 'a\tb\tc\n' | fold -w 10; echo abcdef | fold -b3; seq -s '' 60 | fold
#--- fold and spaces that are too far away
echo 'abcdefghijkl mno' | fold -s -w 5; printf 'ab\n\ncd' | fold -w1
#--- expand
printf 'a\tb\n\tc\n' | expand; printf 'a\tb\tc\td\n' | expand -t 4; printf 'a\tb\tc\td\n' | expand -t 2,6; printf '\ta\tb\n' | expand -i; printf 'a\tb\n' | expand -3
#--- unexpand
printf '        a       b\n' | unexpand | cat -A; printf '        a       b       c\n' | unexpand -a | cat -A; printf '    a   b\n' | unexpand -t4 | cat -A; printf '  \t a\n' | unexpand | cat -A
#--- unexpand and single blanks
printf 'abcdefg h\n' | unexpand -a | cat -A; printf 'abcdefg  h\n' | unexpand -a | cat -A; printf '       a\n        b\n         c\n' | unexpand | cat -A
#--- tr translate
echo hello | tr a-y b-z; echo hello | tr '[:lower:]' '[:upper:]'; echo abc | tr abc x; echo abc | tr -t abc x; echo 'a b' | tr ' ' '\n'; echo aXb | tr X '\t'
#--- tr delete and squeeze
echo hello123 | tr -d 0-9; echo aabbcc | tr -s ab; echo 'a  b   c' | tr -s ' '; echo aabb | tr -s a-z A-Z; echo aabbcc | tr -ds a b; echo hello | tr -cd 'l\n'
#--- tr complement
echo 'a1b2' | tr -c '[:alnum:]\n' _; echo 'a-b.c' | tr -c a-z '\n'; echo abc | tr -C b X; echo
#--- tr sets
echo abcdef | tr '[a*3]bc' xyz; echo aaa | tr a '[b*]'; echo 'a\b' | tr '\\' /; echo 'abc' | tr a-c '[x*2]z'; echo '012' | tr '\060-\062' abc; echo a=b | tr '[=a=]' x
#--- tr classes
echo 'aB1 .x' | tr '[:upper:]' '[:lower:]'; echo 'aB1 .' | tr -d '[:punct:]'; printf 'a\tb c\n' | tr '[:blank:]' _; echo x | tr '[:foo:]' y; echo $?
#--- tr errors
tr; echo $?; tr a; echo $?; tr -d a b; echo $?; echo x | tr z-a x; echo $?; tr a b c; echo $?; echo x | tr a ''; echo $?
#--- uniq
printf 'a\na\nb\na\n' | uniq; printf 'a\na\nb\n' | uniq -c; printf 'a\na\nb\n' | uniq -d; printf 'a\na\nb\n' | uniq -u; printf 'a\na\nb\nb\nc\n' | uniq -D
#--- uniq comparing parts
printf 'A\na\nb\n' | uniq -i; printf '1 a\n2 a\n3 b\n' | uniq -f1; printf 'xa\nya\nzb\n' | uniq -s1; printf 'abc\nabd\nxyz\n' | uniq -w2; printf 'a\nA\n' | uniq -ci
#--- uniq groups
printf 'a\na\nb\n' | uniq --group; echo -; printf 'a\nb\n' | uniq --group=both; echo -; printf 'a\na\nb\nb\n' | uniq --all-repeated=separate; echo -; printf 'a\na\nb\n' | uniq --all-repeated=prepend
#--- uniq output file
printf 'a\na\n' > f; uniq f g; cat g; uniq nope; echo $?; printf 'a\na' | uniq -z | tr '\0' '|'
#--- cut fields
printf 'a:b:c\nx\n' | cut -d: -f2; printf 'a:b:c\nx\n' | cut -d: -f1,3 -s; printf 'a\tb\tc\n' | cut -f2-; printf 'a:b:c:d\n' | cut -d: -f-2,4; echo a:b:c | cut -d: -f3,1
#--- cut bytes and characters
echo abcdef | cut -c2-4; echo abcdef | cut -b1,3,5; echo abcdef | cut -c-2; echo abcdef | cut -c4-; echo abcdef | cut -c2,4-5 --output-delimiter=-; echo abcdef | cut --complement -c2-4
#--- cut output delimiter and complement
echo a:b:c:d | cut -d: -f1,3 --output-delimiter=' | '; echo a:b:c:d | cut -d: --complement -f2; printf 'a b\0c d\0' | cut -z -d' ' -f2 | tr '\0' '\n'
#--- cut errors
cut; echo $?; cut -f 0; echo $?; cut -f 3-1; echo $?; cut -d ab -f1; echo $?; cut -f1 -c1; echo $?; cut -f a; echo $?; cut -c - ; echo $?; cut -s -c1; echo $?
#--- paste
printf '1\n2\n3\n' > a; printf 'x\ny\n' > b; paste a b; paste -d, a b; paste -s a b; paste -sd, a; paste - - < a; seq 4 | paste -d'\n,' - - -; paste -d '' a b
#--- paste delimiters
seq 6 | paste -s -d ',;\n'; seq 3 > a; paste -d ':|' a a a; printf 'a\0b\0' | paste -z -s -d, | tr '\0' '\n'; paste a nope; echo $?
#--- comm
printf 'a\nb\nc\n' > x; printf 'b\nc\nd\n' > y; comm x y; comm -12 x y; comm -3 x y; comm -23 x y; comm -13 x y; comm --output-delimiter=: x y; comm --total x y; comm -1 - y < x
#--- comm order
printf 'b\na\n' > x; printf 'a\nb\n' > y; comm x y; echo $?; comm --nocheck-order x y; echo $?; comm --check-order x y; echo $?; comm x; echo $?
#--- join
printf '1 a\n2 b\n3 c\n' > x; printf '1 X\n3 Y\n4 Z\n' > y; join x y; join -a1 x y; join -a2 x y; join -v1 x y; join -v2 x y; join -a1 -a2 -e - -o 0,1.2,2.2 x y
#--- join fields and separators
printf 'a:1\nb:2\n' > x; printf '1:p\n2:q\n' > y; join -t: -1 2 -2 1 x y; join -t: -1 2 -2 1 -o 1.1,2.2 x y; printf 'A 1\nb 2\n' > p; printf 'a x\nB y\n' > q; join -i p q; join -o auto -a1 -e N p q
#--- join header and groups
printf 'k v\na 1\na 2\n' > x; printf 'k w\na 3\na 4\n' > y; join --header x y; printf 'b 1\na 2\n' > z; join z y; echo $?; join --nocheck-order z y; join x; echo $?
#--- column table
printf 'a bb ccc\ndddd e f\n' | column -t; printf 'a:b::c\nx:y\n' | column -t -s:; printf 'a,b\nccc,d\n' | column -t -s, -o ' | '; printf 'x y\nlong z\n' | column -t -N A,B; printf 'x 1\ny 22\n' | column -t -R 2; printf 'a b c\n' | column -t -H 2
#--- column fill
seq 30 | column; seq 30 | column -c 40; seq 12 | column -x -c 40; printf 'longword\nb\n' | column -c 20; printf '\n\na\n' | column
#--- split lines
seq 5 | split -l 2; cat xaa; echo; cat xac; seq 5 | split -l 2 -d - p; ls
#--- split bytes and suffixes
printf abcdef | split -b 2 -a 3 - q; ls; cat qaab; printf 'abcdef' | split -b4 --additional-suffix=.txt - r; ls r*
#--- split line bytes
printf 'aa\nbbbb\ncc\n' | split -C 5; for f in x*; do echo "$f:"; cat $f; done
#--- split chunks
seq 10 > f; split -n 3 f; wc -c x*; rm x*; split -n l/3 f; head x*; rm x*; split -n r/3 f; head x*; split -n 2/3 f; split -n l/2/3 f
#--- split numeric and verbose
seq 3 > f; split --verbose -l1 --numeric-suffixes=5 f; ls; split -x -l1 f h; ls h*; split -l 0 f; echo $?; split nope; echo $?
#--- split filter
seq 4 | split -l2 --filter='cat > $FILE.out; echo made $FILE'; cat xaa.out; ls
#--- split many
seq 30 | split -l1; ls | tail -3; seq 11 | split -l1 -a1 -d - z; echo $?; ls z*
#--- csplit
seq 10 > f; csplit f 4 8; head xx*; rm xx*; csplit -s f '/5/' ; head xx*
#--- csplit patterns
printf 'a\n#1\nb\n#2\nc\n#3\n' > f; csplit -s f '/^#/' '{*}'; head xx*; rm xx*; csplit f '/^#/+1' '{1}'; head xx*; rm xx*; csplit -z f '%^#%' '/^#/' '{*}'; head xx*
#--- csplit names and errors
seq 9 > f; csplit -f part- -n 3 f 3 6; ls; csplit f '/x/'; echo $?; ls; csplit -k f 5 '/x/'; echo $?; ls; csplit -b '%03d.txt' f 2; ls; csplit --suppress-matched f /3/ /6/; cat xx*
#--- shuf
seq 5 | shuf | sort; shuf -i 1-5 | sort | tr '\n' ' '; shuf -e a b c | sort | tr '\n' ' '; shuf -n 2 -i 1-9 | wc -l; shuf -r -n 5 -e x; seq 3 | shuf -n 0; shuf -i 5-1; echo $?; shuf -e a -o f; cat f
