#--- substitute
echo hello | sed s/l/L/; echo hello | sed s/l/L/g; echo hello | sed s/l/L/2; echo hellolll | sed s/l/L/3g; echo hello | sed 's/x/y/'; echo a/b | sed 's|/|-|'; echo abc | sed 's,b,[&],'
#--- groups
echo 'John Smith' | sed 's/\(.*\) \(.*\)/\2, \1/'; echo 'John Smith' | sed -E 's/(\w+) (\w+)/\2 \1/'; echo abab | sed -E 's/(ab)\1/x/'; echo aXbX | sed -E 's/([a-z])X/\1-/g'; echo foo | sed 's/o/\n/g'; echo 'a&b' | sed 's/&/\&\&/'
#--- case conversion
echo 'hello world' | sed 's/\w\+/\u&/g'; echo 'Hello' | sed 's/.*/\U&/'; echo 'HELLO World' | sed -E 's/(\w+) (\w+)/\L\1\E \2/'; echo hello | sed 's/\(h\)\(.*\)/\U\1\l\2x\Ey/'; echo foo-bar | sed -E 's/-(.)/\u\1/g'; echo abc | sed 's/b/\ux\uy/'
#--- flags
echo Hello | sed 's/h/j/i'; echo Hello | sed -n 's/H/J/p'; printf 'a\nb\n' | sed -n 's/a/x/gp'; echo hello | sed 's/L/x/Ig'; printf 'a\nb\n' | sed 's/a/x/w out'; cat out; printf 'a\nb\n' | sed 'N;s/^b/x/M'; printf 'a\nb\n' | sed 'N;s/a$/x/Mg'
#--- empty matches
echo abc | sed 's/x*/-/g'; echo baaac | sed 's/a*/x/g'; echo baaac | sed 's/a*/x/2'; echo abc | sed 's/b*/X/2'; echo hello | sed 's/$/!/'; echo hello | sed 's/^/> /g'; echo '' | sed 's/^$/empty/'; echo 'a b' | sed -E 's/\b/|/g'; echo aaa | sed 's/\(a\|b\)*/x/g'
#--- addresses
seq 5 | sed -n 2p; seq 5 | sed -n '$p'; seq 5 | sed -n 2,4p; seq 5 | sed '2d'; seq 5 | sed -n '/3/p'; seq 5 | sed -n '/2/,/4/p'; seq 5 | sed '2,3!d'; seq 10 | sed -n '0~3p'; seq 10 | sed -n '1~4p'; seq 5 | sed -n '$!p'
#--- ranges
seq 10 | sed -n '2,+2p'; seq 10 | sed -n '4,~4p'; seq 10 | sed -n '/5/,3p'; seq 10 | sed -n '0,/1/p'; seq 10 | sed -n '1,/1/p'; seq 5 | sed -n '4,2p'; seq 5 | sed -n '2,/nope/p'; printf 'a\nb\na\nc\n' | sed -n '/a/,/b/p'; seq 10 | sed -n '2,4{p};6,$p'
#--- ranges again and again
printf 'B\n1\nE\nx\nB\n2\nE\n' | sed '/B/,/E/d'; printf 'B\n1\nE\nx\nB\n2\n' | sed -n '/B/,/E/{/B/!{/E/!p}}'; seq 6 | sed '2,4s/^/x/'; seq 6 | sed -n '2{p;q}'; seq 6 | sed '/2/,/3/!s/$/!/'
#--- regexp addresses
printf 'a/b\nAb\n' > f; sed -n '\,a/b,p' f; sed -n '/a/Ip' f; sed -n '/A/,$p' f; sed -n '/a\/b/p' f; sed -n '\|/|p' f; printf 'ab\nb\n' | sed -n '/a/{s//x/p}'; sed -n '/[/]/p' f
#--- delete and quit
seq 5 | sed 3q; seq 5 | sed 3Q; seq 5 | sed '2q5'; echo $?; seq 5 | sed '2Q7'; echo $?; seq 3 | sed '$!d'; seq 5 | sed '/3/d;/4/d'; seq 5 | sed -n '3{p;q}'; seq 3 | sed q
#--- append, insert, change
seq 3 | sed '2a hello'; seq 3 | sed '2i\
before'; seq 3 | sed '2c changed'; seq 3 | sed '$a end'; seq 3 | sed '1i\  indented'; seq 4 | sed '2,3c X'; seq 2 | sed 'a\'$'\n''  two\'$'\n''lines'; seq 3 | sed '2!c x'
#--- text in expressions
seq 2 | sed -e '1a\' -e 'text' -e 's/2/two/'; seq 1 | sed 'a a\tb'; seq 1 | sed 'a\ttab'; seq 1 | sed 'i one\
two'; printf '1' | sed 'a x'; printf '1' | sed 'i x'; seq 2 | sed '1{a foo
}'; seq 1 | sed 'a\   lead'; seq 1 | sed '$ a\
x' -s
#--- next line
seq 6 | sed -n 'n;p'; seq 5 | sed 'N;s/\n/,/'; seq 5 | sed '$!N;s/\n/,/'; seq 6 | sed 'n;d'; seq 4 | sed -n '$!{n;p}'; seq 3 | sed 'N;N;s/\n/+/g'; seq 4 | sed 'N;P;D'
#--- multiline
printf 'a\nb\nc\n' | sed ':a;N;$!ba;s/\n/ /g'; printf 'foo\\\nbar\nbaz\n' | sed -e :a -e '/\\$/N; s/\\\n//; ta'; seq 4 | sed '$!N;$!D'; seq 5 | sed -n '$!N;l'; printf 'a\nb\n' | sed 'H;$!d;x;s/\n/,/g'
#--- hold space
printf '1\n2\n3\n' | sed '1!G;h;$!d'; seq 3 | sed -n 'x;p'; seq 3 | sed G; seq 2 | sed 'h;G'; seq 3 | sed -n '1h;1!H;${g;s/\n/,/g;p}'; seq 3 | sed 'x;1d'; seq 3 | sed '$!{h;d};x;G'
#--- branches
echo aaa | sed ':a;s/a/b/;ta'; seq 4 | sed '/2/b;s/^/x/'; seq 4 | sed -n '/3/bend;p;:end'; echo ab | sed 's/x/y/;T;s/a/z/'; echo ab | sed 's/a/y/;T;s/b/z/'; seq 3 | sed '2b skip
s/$/!/
:skip'; echo 1234567 | sed -E ':a;s/^([0-9]+)([0-9]{3})/\1,\2/;ta'
#--- transliterate
echo hello | sed 'y/el/ip/'; echo 'a/b' | sed 'y,/,|,'; echo abc | sed 'y/abc/\n\t\\/'; echo héllo | sed 'y/é/e/'; echo a | sed 'y/a/bc/'; echo $?
#--- print
seq 3 | sed -n '2{p;p}'; seq 3 | sed p; seq 2 | sed -n '='; seq 3 | sed -n '$='; printf 'a\tb\\\001\303\251\n' | sed -n l; seq -s ' ' 60 | sed -n l; echo abcdefghij | sed -n 'l 5'; echo x | sed -n 'l 0'; echo aaaaaaaaa | sed -l 4 -n l
#--- files
printf '1\n2\n' > a; printf 'x\n' > b; sed '1r b' a; sed 'r nope' a; sed -n 'w out' a; cat out; sed 'R b' a; sed '1w o2
s/1/q/' a; cat o2; sed -n '/1/w o3' a; cat o3; sed '$r b' a; printf '1' | sed 'r b'
#--- several files
printf '1\n2\n' > a; printf '3\n4\n' > b; sed -n '$p' a b; sed -s -n '$p' a b; sed -n 3p a b; sed -s 1d a b; sed F a; sed '1!d' a b; cat a | sed -n '$=' - b
#--- in place
printf 'a\nb\n' > f; sed -i s/a/x/ f; cat f; sed -i.bak 's/b/y/' f; cat f f.bak; sed -i -e 1d -e 's/y/z/' f; cat f; printf '1\n' > g; printf '2\n' > h; sed -i '$a end' g h; cat g h; sed -n -i p f; cat f; sed -i 2q f; cat f
#--- in place keeps what follows and mode
seq 5 > f; chmod 600 f; sed -i 2q f; cat f; sed -i 's/1/a/;w log' f; cat log f; sed -i nope g; echo $?; sed -i p nope; echo $?; mkdir d; sed -i p d; echo $?; sed --in-place=.orig '1d' f; ls; printf 'x' > n; sed -i 's/x/y/' n; od -c n
#--- script files
printf 's/a/b/\n# comment\n/x/d\n' > s.sed; printf 'a\nx\n' | sed -f s.sed; printf '#n\np\n' > n.sed; echo q | sed -f n.sed; printf 'a\nx\n' | sed -f s.sed -e 's/b/c/'; printf '1i\\\nfirst\n' > i.sed; echo a | sed -f i.sed; echo a | sed --expression='s/a/z/' --quiet -e p
#--- groups of commands
seq 5 | sed -n '2,4{/3/!p}'; seq 3 | sed '2{s/2/two/;s/$/!/}'; seq 3 | sed -n '/2/{
s/2/x/
p
}'; seq 3 | sed '{;;p;};d'; seq 5 | sed '1{n;d};3{N;s/\n/-/}'
#--- extended expressions
echo 'aab' | sed -E 's/a+/x/'; echo 'aab' | sed 's/a\+/x/'; echo 'ab|c' | sed 's/|/-/'; echo 'abc' | sed -r 's/(a|c)/[\1]/g'; echo 'a{2}' | sed 's/{2}/x/'; echo aaa | sed -E 's/a{2}/x/'; echo '(a)' | sed 's/(a)/x/'; echo '+' | sed 's/+/x/'; echo 'a?' | sed 's/a?/x/'
#--- special characters
echo 'a.b' | sed 's/\./-/'; echo 'a*b' | sed 's/\*/-/'; echo 'a[b' | sed 's/\[/-/'; echo 'a]b' | sed 's/[]]/-/'; echo 'a$b' | sed 's/\$/-/'; echo 'a^b' | sed 's/a^b/x/'; echo 'a\b' | sed 's/\\/\//'; echo 'tab	x' | sed 's/\t/TAB/'; echo ab | sed 's/\x61/X/'; echo 'a b' | sed 's/\s/_/'; printf 'a\n' | sed 's/a/x\
y/'
#--- other delimiters
echo /usr/bin | sed 's#/usr#/opt#'; echo 'a|b' | sed 's|a\|b|X|'; echo 'a,b' | sed 's,a\,b,X,'; echo aXb | sed 'sXaX-X'; echo 'a b' | sed 's a\ b x '; echo 'a.b' | sed 's.a\.b.X.'; echo /a/ | sed 's:/:\::g'; echo a+b | sed 's+a\+b+X+'
#--- missing newline at the end
printf 'a\nb' | sed 's/b/x/' | od -c; printf 'a' | sed p | od -c; printf 'a' > x; printf 'b' > y; sed '' x y | od -c; printf 'a' | sed -n '$='; printf 'a' | sed 'G' | od -c; printf 'a\nb' | sed -n 2p | od -c
#--- null data
printf 'a\0b\0' | sed -z 's/^/x/' | tr '\0' '\n'; printf 'a\nb\n' | sed -z 's/\n/,/g'; echo; printf 'a\0b\0' | sed -zn 2p | tr '\0' '\n'
#--- dev files
echo a | sed -n 'w /dev/stdout'; echo a | sed 's/a/b/w /dev/stdout'; printf 'x\n' > f; echo hi | sed 'r /dev/stdin' f; echo a | sed -n 'p;w /dev/stdout'; echo a | sed 'w /dev/null'
#--- errors
echo x | sed k; echo $?; echo x | sed s/a/b; echo $?; echo x | sed '{p'; echo $?; echo x | sed 'p}'; echo $?; echo x | sed 'bnope'; echo $?; echo x | sed 's/\(/x/'; echo $?; echo x | sed 's/a/\1/'; echo $?; sed p nope; echo $?; sed; echo $?; echo x | sed -Z; echo $?; echo x | sed '3,p'; echo $?; echo x | sed 's/a/b/gg'; echo $?; echo x | sed '//p'; echo $?
#--- errors of arguments
echo x | sed ':'; echo $?; echo x | sed 'a'; echo $?; echo x | sed '0p'; echo $?; echo x | sed 'p p'; echo $?; echo x | sed 'r'; echo $?; echo x | sed 'y/a/'; echo $?; echo x | sed '1,2q'; echo $?; echo x | sed '/a'; echo $?; echo x | sed 'v9'; echo $?; echo x | sed --posix p; mkdir d; sed p d; echo $?
#--- comments and separators
seq 3 | sed '# nothing
2d # two
'; seq 3 | sed '2d;# x'; seq 3 | sed -n '1p;;3p'; seq 3 | sed -e 2d -e 's/3/x/'; seq 3 | sed ' 2 d ; s/1/y/ '; seq 2 | sed 's/1/a/ # c'; seq 3 | sed '2 !d'; seq 3 | sed '1,2 p' -n
#--- paragraphs and columns
printf 'a b c\nd e f\n' | sed 's/ [^ ]*$//'; printf '  x  \n' | sed 's/^ *//;s/ *$//' | cat -A; printf 'k=v\n' | sed 's/=.*//'; printf 'a\n\n\n\nb\n' | sed '/^$/N;/\n$/D'; printf '<b>x</b>\n' | sed 's/<[^>]*>//g'; printf 'x # c\n' | sed 's/#.*$//'
#--- large counts
seq 3000 | sed -n '$p'; seq 1000 | sed ':a;N;$!ba;s/\n/,/g' | wc -c; yes abc | head -1000 | sed 's/b/X/g' | uniq -c; seq 100 | sed -n '50,$p' | wc -l; seq 10 | sed -n '2,4!p' | tr '\n' ' '
#--- zap, F and unbuffered
seq 2 | sed '1z'; printf 'a\n' > f; sed -n F f; echo a | sed F; seq 3 | sed -u 2q; seq 2 | sed --debug -n p >/dev/null; echo $?; seq 3 | sed -n --separate 2p
#--- escapes in text
t() { printf 'a\nb\n' | sed "$@"; }
t '1i # one\n# two'; t '1i\# one\n# two'; t '1a one\n'; t '1a \n'; t '1a \none'; t '1a\none'; t '1a\\none'; t '1a \\none'; t '1a x\\none'; t '1c x\ny\tz'; t '$a a\\nb\nc'
t '1i\
one\ntwo'; t '1a x\n\
y'; t '1a x\qy'; t '1a\tx'; t '1a \tx'; t '1a   x\ty'; t -e '1a\' -e 'foo\nbar'; t -e '1a hello\' -e 'foo\nbar'; t '1{i x\ny
}'; t '1a \  x\n  y'; t '1a x\x41\n\o101'; t -e '1a hello\'; printf 'import os\n' > f; sed -i '1i import x\nimport y' f; cat f
